"""Summaries that go straight to an event file: tf.contrib.summary of version 1, tf.summary of version 2."""
import contextlib
import functools
import os
import re
import threading
import weakref

from penstock._src.graph import context
from penstock._src.function import graph_collection
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary_op_util
from penstock._src.base import tf_logging as logging
from penstock._src.profiler import profiler_v2
from penstock.proto import config_pb2
from penstock.proto import graph_pb2
from penstock.proto import summary_pb2
from penstock._src.checkpoint import training_util
from penstock._src.base import locks

_INIT_COLLECTION = "_SUMMARY_WRITER_V2"
_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


class _State(threading.local):
    """What is set for a thread: the writer, whether to record, the step."""

    writer = None
    recording = None
    step = None


_state = _State()


def _should_record(default):
    recording = _state.recording() if callable(_state.recording) else _state.recording
    return gen.logical_and(True, default if recording is None else recording)


def should_record_summaries_v1():
    """A boolean tensor: whether summaries are recorded. They are not unless the program says so."""
    return _should_record(False)


def should_record_summaries_v2():
    """A boolean tensor: whether there is a writer and the program does not say otherwise."""
    return constant_op.constant(False) if _state.writer is None else _should_record(True)


def has_default_writer():
    """Whether this thread has a writer."""
    return _state.writer is not None


@contextlib.contextmanager
def record_if(condition):
    """Switches recording on or off inside: a boolean, a tensor, or a function that gives one."""
    before = _state.recording
    _state.recording = condition
    try:
        yield
    finally:
        _state.recording = before


def record_summaries_every_n_global_steps(n, global_step=None):
    """Records while the global step is a multiple of `n`."""
    if global_step is None:
        global_step = training_util.get_or_create_global_step()
    with ops.device("cpu:0"):

        def should():
            return math_ops.equal(global_step % n, 0)

        return record_if(should if context.executing_eagerly() else should())


def always_record_summaries():
    """Records inside."""
    return record_if(True)


def never_record_summaries():
    """Does not record inside."""
    return record_if(False)


def get_step():
    """This thread's default step, or None."""
    return _state.step


def set_step(step):
    """Sets this thread's default step: a number or a variable; None for none."""
    _state.step = step


class SummaryWriter:
    """What writes summaries."""

    def set_as_default(self, step=None):
        """Makes it this thread's writer, and `step` its default step if given."""
        raise NotImplementedError()

    def as_default(self, step=None):
        """A context in which it is this thread's writer."""
        raise NotImplementedError()

    def init(self):
        """Makes the file."""
        raise NotImplementedError()

    def flush(self):
        """Waits until everything is in the file."""
        raise NotImplementedError()

    def close(self):
        """Flushes and closes the file."""
        raise NotImplementedError()


def _destroy(resource):
    with context.eager_mode(), ops.device("cpu:0"):
        gen.destroy_resource_op(resource, ignore_lookup_error=True)


class ResourceSummaryWriter(SummaryWriter):
    """A writer of the runtime."""

    def __init__(self, shared_name, init_op_fn, name=None, v2=False):
        self._resource = gen.summary_writer(shared_name=shared_name, name=name)
        self._init_op_fn = init_op_fn
        self._init_op = init_op_fn(self._resource)
        self._v2 = v2
        self._closed = False
        if context.executing_eagerly():  # the runtime's writer lives as long as this object, and to the program's end
            weakref.finalize(self, _destroy, self._resource)
        else:
            ops.add_to_collection(_INIT_COLLECTION, self._init_op)

    def _is_over(self):
        return self._v2 and context.executing_eagerly() and self._closed

    def _require_open(self):
        if self._is_over():
            raise RuntimeError("SummaryWriter is already closed")

    def set_as_default(self, step=None):
        """Makes it this thread's writer, and `step` its default step if given."""
        self._require_open()
        _state.writer = self
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step=None):
        """A context in which it is this thread's writer; flushes at the end."""
        self._require_open()
        before, step_before = _state.writer, _state.step
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
            self.flush()
        finally:
            _state.writer = before
            if step is not None:
                _state.step = step_before

    def init(self):
        """Makes the file."""
        if self._v2:
            self._require_open()
            return self._init_op
        return self._init_op_fn(self._resource)

    def flush(self):
        """Waits until everything is in the file."""
        return None if self._is_over() else flush(writer=self)

    def close(self):
        """Flushes and closes the file."""
        if self._is_over():
            return None
        try:
            with ops.control_dependencies([self.flush()]), ops.device("cpu:0"):
                return gen.close_summary_writer(self._resource)
        finally:
            if self._v2 and context.executing_eagerly():
                self._closed = True


class NoopSummaryWriter(SummaryWriter):
    """A writer that does nothing."""

    def set_as_default(self, step=None):
        pass

    @contextlib.contextmanager
    def as_default(self, step=None):
        yield

    def init(self):
        pass

    def flush(self):
        pass

    def close(self):
        pass


def initialize(graph=None, session=None):
    """Makes the files of all writers of the graph, in a session; writes `graph` if given. Nothing in eager mode."""
    if context.executing_eagerly():
        return
    if _state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = ops.get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = _serialize_graph(graph)
        x = array_ops.placeholder(dtypes.string)
        session.run(graph_v1(x, 0), feed_dict={x: data})


def _refuse_graph_tensors(inside_function, **kwargs):
    for name, value in kwargs.items():
        if not hasattr(value, "numpy") and tensor_util.is_tensor(value):
            advice = "Calling within tf.function requires wrapping with tf.init_scope" if inside_function else ""
            raise ValueError("Invalid graph Tensor argument \"%s=%s\" to eager create_file_writer(). %s" %
                             (name, value, advice))


def create_file_writer_v2(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                          experimental_trackable=False, experimental_mesh=None):
    """A writer of an event file in a directory.

    experimental_trackable: a model that has it as an attribute can be saved with it; the loaded model writes a file of
    its own in the same directory.
    """
    if experimental_mesh is not None:
        raise NotImplementedError("summaries are not written from a mesh of devices (DTensor)")
    if logdir is None:
        raise ValueError("logdir cannot be None")
    inside_function = ops.inside_function()
    with ops.name_scope(name, "create_file_writer") as scope, ops.device("cpu:0"), ops.init_scope():
        if context.executing_eagerly():
            _refuse_graph_tensors(inside_function, logdir=logdir, max_queue=max_queue, flush_millis=flush_millis,
                                  filename_suffix=filename_suffix)
        logdir = ops.convert_to_tensor(logdir, dtype=dtypes.string)
        max_queue = constant_op.constant(10) if max_queue is None else max_queue
        flush_millis = constant_op.constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        filename_suffix = constant_op.constant(".v2") if filename_suffix is None else filename_suffix
        filename_suffix = constant_op.constant(".%s.%s" % (os.getpid(), ops.uid())) + filename_suffix
        shared_name = context.shared_name() if context.executing_eagerly() else ops.name_from_scope_name(scope)
        create = functools.partial(gen.create_summary_file_writer, logdir=logdir, max_queue=max_queue,
                                   flush_millis=flush_millis, filename_suffix=filename_suffix)
        if experimental_trackable:
            from penstock._src.summary import summary_writer
            # Named, so that the runs of a session find one writer.
            return summary_writer.TrackableSummaryWriter("writer_%s_%s" % (os.getpid(), ops.uid()), create, name)
        return ResourceSummaryWriter(shared_name=shared_name, init_op_fn=create, name=name, v2=True)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer of an event file in a directory; writers of one session and name (by default, directory) are one."""
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with ops.device("cpu:0"):
        max_queue = constant_op.constant(10) if max_queue is None else max_queue
        flush_millis = constant_op.constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        filename_suffix = constant_op.constant(".v2") if filename_suffix is None else filename_suffix
        create = functools.partial(gen.create_summary_file_writer, logdir=logdir, max_queue=max_queue,
                                   flush_millis=flush_millis, filename_suffix=filename_suffix)
        return ResourceSummaryWriter(shared_name="logdir:" + logdir if name is None else name, init_op_fn=create)


create_summary_file_writer = create_file_writer


def create_noop_writer():
    """A writer that does nothing, in place of one."""
    return NoopSummaryWriter()


def _nothing():
    return constant_op.constant(False)


def all_v2_summary_ops():
    """All operations of the graph that write summaries; None in eager mode."""
    return None if context.executing_eagerly() else ops.get_collection(ops.GraphKeys._SUMMARY_COLLECTION)


def summary_writer_initializer_op():
    """The operations that make the files of all writers of the graph."""
    if context.executing_eagerly():
        raise RuntimeError("tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode.")
    return ops.get_collection(_INIT_COLLECTION)


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """Enters a name scope for a summary; gives its tag, which is not made unique, and the scope."""
    name = name or default_name
    around = ops.get_name_scope()
    tag = around + "/" + name if around else name
    with ops.name_scope(_INVALID_SCOPE_CHARACTERS.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


def _step_of_v2(step):
    step = get_step() if step is None else step
    if step is None:
        raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")
    if isinstance(step, (float, str, bytes)):
        return ops.convert_to_tensor(step, dtypes.int64)  # TypeError, and no cast
    return step


def _write_if_recording(record):
    with ops.device("cpu:0"):
        op = smart_cond.smart_cond(_should_record(True), record, _nothing, name="summary_cond")
        if not context.executing_eagerly():
            ops.add_to_collection(ops.GraphKeys._SUMMARY_COLLECTION, op)
        return op


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes any tensor (or what a function gives); true if there was a writer and recording is on."""
    with ops.name_scope(name, "write_summary") as scope:
        if _state.writer is None:
            return constant_op.constant(False)
        if metadata is None:
            metadata = b""
        elif hasattr(metadata, "SerializeToString"):
            metadata = metadata.SerializeToString()

        def record():
            with ops.device("cpu:0"):
                value = tensor() if callable(tensor) else array_ops.identity(tensor)
                written = gen.write_summary(_state.writer._resource, math_ops.cast(_step_of_v2(step), dtypes.int64),
                                            value, tag, metadata, name=scope)
                with ops.control_dependencies([written]):
                    return constant_op.constant(True)

        return _write_if_recording(record)


def write_raw_pb(tensor, step=None, name=None):
    """Writes serialized Summary messages."""
    with ops.name_scope(name, "write_raw_pb") as scope:
        if _state.writer is None:
            return constant_op.constant(False)

        def record():
            with ops.device("cpu:0"):
                written = gen.write_raw_proto_summary(
                    _state.writer._resource, math_ops.cast(_step_of_v2(step), dtypes.int64), array_ops.identity(tensor),
                    name=scope)
                with ops.control_dependencies([written]):
                    return constant_op.constant(True)

        return _write_if_recording(record)


def summary_writer_function(name, tensor, function, family=None):
    """Writes by `function(tag, scope)` if recording is on."""
    around = ops.get_name_scope()
    if around:
        around += "/"

    def record():
        with ops.name_scope(around or None):
            with summary_op_util.summary_scope(name, family, values=[tensor]) as (tag, scope):
                with ops.control_dependencies([function(tag, scope)]):
                    return constant_op.constant(True)

    if _state.writer is None:
        return control_flow_ops.no_op()
    with ops.device("cpu:0"):
        op = smart_cond.smart_cond(should_record_summaries_v1(), record, _nothing, name="")
        if not context.executing_eagerly():
            ops.add_to_collection(ops.GraphKeys._SUMMARY_COLLECTION, op)
    return op


def _choose_step(step):
    if step is None:
        return training_util.get_or_create_global_step()
    return step if isinstance(step, ops.Tensor) else ops.convert_to_tensor(step, dtypes.int64)


def generic(name, tensor, metadata=None, family=None, step=None):
    """Writes any tensor."""

    def function(tag, scope):
        serialized = "" if metadata is None else metadata
        if hasattr(metadata, "SerializeToString"):
            serialized = metadata.SerializeToString()
        if not tensor_util.is_tensor(serialized):
            serialized = constant_op.constant(serialized)
        return gen.write_summary(_state.writer._resource, _choose_step(step), array_ops.identity(tensor), tag,
                                 serialized, name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def scalar(name, tensor, family=None, step=None):
    """Writes a number."""

    def function(tag, scope):
        return gen.write_scalar_summary(_state.writer._resource, _choose_step(step), tag, array_ops.identity(tensor),
                                        name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def histogram(name, tensor, family=None, step=None):
    """Writes the distribution of numbers."""

    def function(tag, scope):
        return gen.write_histogram_summary(_state.writer._resource, _choose_step(step), tag,
                                           array_ops.identity(tensor), name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    """Writes images."""

    def function(tag, scope):
        color = constant_op.constant([255, 0, 0, 255], dtype=dtypes.uint8) if bad_color is None else bad_color
        return gen.write_image_summary(_state.writer._resource, _choose_step(step), tag, array_ops.identity(tensor),
                                       color, max_images, name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    """Writes sounds."""

    def function(tag, scope):
        return gen.write_audio_summary(_state.writer._resource, _choose_step(step), tag, array_ops.identity(tensor),
                                       sample_rate=sample_rate, max_outputs=max_outputs, name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def _serialize_graph(graph):
    as_def = graph.as_graph_def(add_shapes=True) if isinstance(graph, ops.Graph) else graph
    return as_def.SerializeToString()


def graph_v1(param, step=None, name=None):
    """Writes a graph: a tensor with a serialized GraphDef, in eager mode also a Graph or GraphDef."""
    if not context.executing_eagerly() and not isinstance(param, ops.Tensor):
        raise TypeError("graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: %s" % type(param))
    if _state.writer is None:
        return control_flow_ops.no_op()
    with ops.device("cpu:0"):
        if isinstance(param, (ops.Graph, graph_pb2.GraphDef)):
            tensor = ops.convert_to_tensor(_serialize_graph(param), dtypes.string)
        else:
            tensor = array_ops.identity(param)
        return gen.write_graph_summary(_state.writer._resource, _choose_step(step), tensor, name=name)


def import_event(tensor, name=None):
    """Writes a serialized Event as it is."""
    return gen.import_event(_state.writer._resource, tensor, name=name)


def flush(writer=None, name=None):
    """Waits until everything is in the file of `writer`, by default this thread's."""
    if writer is None:
        writer = _state.writer
        if writer is None:
            return control_flow_ops.no_op()
    if isinstance(writer, NoopSummaryWriter):
        return control_flow_ops.no_op()
    resource = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    if not isinstance(resource, ops.Tensor):
        raise ValueError(f"Invalid argument to flush(): {writer!r}")
    with ops.device("cpu:0"):
        return gen.flush_summary_writer(resource, name=name)


def eval_dir(model_dir, name=None):
    """Where an evaluation writes its summaries."""
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)


def _plugin(name, content=b""):
    data = summary_pb2.SummaryMetadata.PluginData(plugin_name=name, content=content)
    return summary_pb2.SummaryMetadata(plugin_data=data)


def run_metadata(name, data, step=None):
    """Writes a whole RunMetadata message."""
    metadata = _plugin("graph_run_metadata", b"1")
    with summary_scope(name, "graph_run_metadata_summary", [data, step]) as (tag, _):
        return write(tag=tag, tensor=constant_op.constant(data.SerializeToString(), dtype=dtypes.string), step=step,
                     metadata=metadata)


def run_metadata_graphs(name, data, step=None):
    """Writes the graphs of a RunMetadata message."""
    graphs = config_pb2.RunMetadata(function_graphs=data.function_graphs, partition_graphs=data.partition_graphs)
    metadata = _plugin("graph_run_metadata_graph", b"1")
    with summary_scope(name, "graph_run_metadata_graph_summary", [graphs, step]) as (tag, _):
        return write(tag=tag, tensor=constant_op.constant(graphs.SerializeToString(), dtype=dtypes.string), step=step,
                     metadata=metadata)


# What ran, and in which graphs: (whether graphs are collected, whether everything is recorded), or None.
_trace = None
_trace_lock = locks.lock()


def _may_trace(doing):
    """Whether a trace can be switched here; says so if not."""
    if ops.inside_function():
        logging.warn("Cannot %s trace inside a tf.function." % doing)
        return False
    if not context.executing_eagerly():
        logging.warn("Must enable trace in eager mode." if doing == "enable" else
                     "Can only export trace while executing eagerly.")
        return False
    return True


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Collects the graphs of functions that are called for the first time from now on, until `trace_export`.

    profiler: records what runs, too, and writes that for TensorBoard's profile plugin in `profiler_outdir`, without
    which it does not.
    """
    global _trace
    if not _may_trace("enable"):
        return
    with _trace_lock:
        if _trace is not None:
            logging.warn("Trace already enabled")
            return
        if profiler and profiler_outdir is None:
            logging.warn("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
        elif profiler:
            profiler_v2.start(profiler_outdir)
        if graph or profiler:
            graph_collection.start()
        _trace = (graph, profiler)


def trace_export(name, step=None, profiler_outdir=None):
    """Ends the trace and writes its graphs, and what the profiler recorded, as a summary of that name.

    ValueError without a trace, or without a step; profiler_outdir: that of `trace_on` counts.
    """
    if step is not None:
        _choose_step(step)
    if not _may_trace("export"):
        return
    if _trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    graph, profiler = _trace
    metadata = graph_collection.stop()
    if profiler:
        if profiler_outdir:
            logging.warn("Ignoring `profiler_outdir` passed to trace_export(). "
                            "Please pass it to trace_on() instead.")
        metadata.step_stats.CopyFrom(profiler_v2.finish(save=True).step_stats)
    (run_metadata_graphs if graph and not profiler else run_metadata)(name, metadata, step)
    trace_off()


def trace_off():
    """Ends the trace without writing anything."""
    global _trace
    with _trace_lock:
        if _trace is None:
            return
        (_, profiler), _trace = _trace, None
        graph_collection.stop()
        if profiler and profiler_v2.running():  # not one that the program has started itself
            profiler_v2.stop(save=False)


def graph_v2(graph_data):
    from penstock._src.summary import summary_v2
    return summary_v2.graph(graph_data)
