"""tf.test.Benchmark: methods whose names begin with "benchmark" measure something and report it."""
import inspect
import os
import statistics
import time

_ENVIRONMENT = "TEST_REPORT_FILE_PREFIX"  # where files of results are put; without it they are printed


class Benchmark:
    """Base class of benchmarks: methods named benchmark* report times."""

    @classmethod
    def is_abstract(cls):
        """Whether it is the base class itself."""
        return cls is Benchmark

    def _full_name(self, name):
        """A name behind the class's: the outermost calling method's, unless another is given."""
        callers = [frame for frame in inspect.stack() if isinstance(frame.frame.f_locals.get("self"), Benchmark)]
        outermost = callers[-1]
        return f"{type(outermost.frame.f_locals['self']).__name__}.{name or outermost.function}"

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None,
                         metrics=None):
        """Prints a result, or writes it into a file of its own where TEST_REPORT_FILE_PREFIX says.

        TypeError: extras are no dict. IOError: there is a file of this name.
        """
        from penstock import proto
        if extras is not None and not isinstance(extras, dict):
            raise TypeError("extras must be a dict")
        entries = proto.message("tensorflow.BenchmarkEntries")()
        entry = entries.entry.add(name=self._full_name(name))
        for field, value in (("iters", iters), ("cpu_time", cpu_time), ("wall_time", wall_time),
                             ("throughput", throughput)):
            if value is not None:
                setattr(entry, field, value)
        for key, value in (extras or {}).items():
            if isinstance(value, (int, float)):
                entry.extras[key].double_value = value
            else:
                entry.extras[key].string_value = str(value)
        for metric in metrics or ():
            made = entry.metrics.add(name=metric["name"], value=metric["value"])
            for bound in ("min_value", "max_value"):
                if bound in metric:
                    getattr(made, bound).value = metric[bound]
        prefix = os.environ.get(_ENVIRONMENT)
        if not prefix:
            print(entries)
            return
        path = prefix + entry.name.replace("/", "__")
        if os.path.exists(path):
            raise IOError(f"Filename {path} already exists, refusing to write.")
        with open(path, "wb") as f:
            f.write(entries.SerializeToString())

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None, mbs=0):
        """Runs an op or tensor some times, after others that do not count, and reports the median time.

        store_trace: whether a Chrome trace is among the `extras` that are returned. store_memory_usage: whether the
        most memory of each allocator is. mbs: megabytes that one run moves. Returns what is reported as a dict.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.time()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.time() - start)
        extras, trace = {} if extras is None else extras, {}
        if store_trace or store_memory_usage:
            timeline = _timeline(sess, op_or_tensor, feed_dict)
            if store_trace:
                trace["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                for allocator, most in timeline.analyze_step_stats(show_memory=True).allocator_maximums.items():
                    extras[f"allocator_maximum_num_bytes_{allocator}"] = most.num_bytes
        median = statistics.median(times) if times else -1
        values = {"iters": min_iters, "wall_time": median, "extras": extras, "name": name, "throughput": mbs / median}
        self.report_benchmark(**values)
        extras.update(trace)
        return values

    def evaluate(self, tensors):
        """The values of tensors, in the default session or one of their own."""
        from penstock._src.session.session import Session
        from penstock._src.graph import defaults
        from penstock._src.graph import ops
        session = ops.get_default_session()
        if session is not None:
            return session.run(tensors)
        with Session(graph=defaults.get_default_graph()) as own:
            return own.run(tensors)


def _timeline(sess, op_or_tensor, feed_dict):
    """Of a run that is traced."""
    from penstock import proto
    from penstock._src.session import timeline
    options = proto.message("tensorflow.RunOptions")
    metadata = proto.message("tensorflow.RunMetadata")()
    sess.run(op_or_tensor, feed_dict=feed_dict, options=options(trace_level=options.FULL_TRACE), run_metadata=metadata)
    return timeline.Timeline(metadata.step_stats)
