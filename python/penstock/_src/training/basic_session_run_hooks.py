"""The hooks that training programs use: logging, checkpoints, summaries, stopping."""
import os
import time

import numpy as np

from penstock._src.session import timeline
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.checkpoint import meta_graph
from penstock._src.graph import ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import variable_scope
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock.proto import SessionLog
from penstock.proto import Summary
from penstock._src.summary.writer_cache import FileWriterCache as SummaryWriterCache
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util
from penstock._src.training.session_run_hook import SessionRunArgs

_HOOKS = "hooks"
_STEPS_PER_RUN_VAR = "steps_per_run"


def _global_step_read(hook):
    read = training_util._get_or_create_global_step_read()
    if read is None:
        raise RuntimeError("Global step should be created to use %s." % hook)
    return read


class _HookTimer:
    """When a hook acts."""

    def __init__(self):
        pass

    def reset(self):
        """Forgets when it last acted."""

    def should_trigger_for_step(self, step):
        """Whether to act at this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step):
        """Notes that it acted; gives seconds and steps since the time before, (None, None) the first time."""
        raise NotImplementedError

    def last_triggered_step(self):
        """The step at which it last acted, or None."""
        raise NotImplementedError


class SecondOrStepTimer(_HookTimer):
    """Acts every so many seconds or steps, and at the first step."""

    def __init__(self, every_secs=None, every_steps=None):
        self.reset()
        self._every_secs = every_secs
        self._every_steps = every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        super().__init__()

    def reset(self):
        self._last_triggered_step = None
        self._last_triggered_time = None

    def should_trigger_for_step(self, step):
        if self._last_triggered_step is None:
            return True
        if step == self._last_triggered_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        now = time.time()
        elapsed = (None, None)
        if self._last_triggered_time is not None:
            elapsed = (now - self._last_triggered_time, step - self._last_triggered_step)
        self._last_triggered_time = now
        self._last_triggered_step = step
        return elapsed

    def last_triggered_step(self):
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Never acts."""

    def should_trigger_for_step(self, step):
        return False

    def update_last_triggered_step(self, step):
        return (None, None)

    def last_triggered_step(self):
        return None


class LoggingTensorHook(session_run_hook.SessionRunHook):
    """Logs values of tensors every so many steps or seconds, or at the end.

    tensors: tensors or their names, or {tag: tensor or name}.
    """

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        if isinstance(tensors, dict):
            self._tag_order = sorted(tensors.keys())
        else:
            self._tag_order = tensors
            tensors = {item: item for item in tensors}
        self._tensors = tensors
        self._formatter = formatter
        self._timer = (NeverTriggerTimer() if only_at_end else
                       SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter))
        self._log_at_end = at_end

    def begin(self):
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, values):
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info(self._formatter(values))
                return
            text = ", ".join("%s = %s" % (tag, values[tag]) for tag in self._tag_order)
            if seconds is None:
                logging.info("%s", text)
            else:
                logging.info("%s (%.3f sec)", text, seconds)

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


def get_or_create_steps_per_run_variable():
    """How many steps one run makes, when the program loops inside the graph."""
    key = "{}_{}".format(_HOOKS, _STEPS_PER_RUN_VAR)
    found = ops.get_default_graph().get_collection(key)
    if len(found) == 1:
        return found[0]
    if found:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    with variable_scope.variable_scope(_HOOKS, reuse=variable_scope.AUTO_REUSE):
        return variable_scope.get_variable(
            _STEPS_PER_RUN_VAR, initializer=init_ops.ones_initializer(), shape=[], dtype=dtypes.int32, trainable=False,
            collections=[key, ops.GraphKeys.LOCAL_VARIABLES], use_resource=True)


def _check_stop(num_steps, last_step):
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
        raise ValueError("Only one of num_steps or last_step can be specified.")


class _MultiStepStopAtStepHook(session_run_hook.SessionRunHook):
    """StopAtStepHook for programs of which one run makes several steps."""

    def __init__(self, num_steps=None, last_step=None, steps_per_run=1):
        _check_stop(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._num_steps = num_steps
        self._last_step = last_step
        self._steps_per_run_initial_value = steps_per_run

    def begin(self):
        self._global_step_tensor = training_util.get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _update_steps_per_run_variable(self, global_step, session):
        steps = min(self._last_step - global_step, self._steps_per_run_initial_value)
        self._steps_per_run_variable.load(steps, session=session)

    def after_create_session(self, session, coord):
        global_step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = global_step + self._num_steps
        self._update_steps_per_run_variable(global_step, session)

    def after_run(self, run_context, run_values):
        global_step = run_context.session.run(self._global_step_tensor)
        if global_step >= self._last_step:
            run_context.request_stop()
        else:
            self._update_steps_per_run_variable(global_step, run_context.session)


class StopAtStepHook(session_run_hook.SessionRunHook):
    """Stops after a number of steps from the start, or at a step."""

    def __init__(self, num_steps=None, last_step=None):
        _check_stop(num_steps, last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self):
        self._global_step_tensor = _global_step_read("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step:
            # The step may be that of another worker: look again.
            if run_context.session.run(self._global_step_tensor) >= self._last_step:
                run_context.request_stop()


class CheckpointSaverListener:
    """Told when a CheckpointSaverHook saves."""

    def begin(self):
        """Called before the session is made."""

    def before_save(self, session, global_step_value):
        """Called before each save."""

    def after_save(self, session, global_step_value):
        """Called after each save; true: training is to stop."""

    def end(self, session, global_step_value):
        """Called at the end."""


class CheckpointSaverHook(session_run_hook.SessionRunHook):
    """Saves a checkpoint every so many steps or seconds, at the first step and at the end."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
                 scaffold=None, listeners=None, save_graph_def=True):
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1
        self._save_graph_def = save_graph_def

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        self._summary_writer = SummaryWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        global_step = session.run(self._global_step_tensor)
        graph = ops.get_default_graph()
        # Here and not in `begin`: other hooks may still have added to the graph.
        if self._save_graph_def:
            training_util.write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        saver_def = self._get_saver().saver_def if self._get_saver() else None
        meta_graph_def = meta_graph.create_meta_graph_def(graph_def=graph.as_graph_def(add_shapes=True),
                                                          saver_def=saver_def)
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(meta_graph_def)
        self._save(session, global_step)
        self._timer.update_last_triggered_step(global_step)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        # The value that was fetched may be that before the step.
        global_step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(global_step):
            self._timer.update_last_triggered_step(global_step)
            if self._save(run_context.session, global_step):
                run_context.request_stop()

    def end(self, session):
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session, step):
        """Saves; true if a listener wants training to stop."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def)
        self._summary_writer.add_session_log(
            SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: {}".format(
                    listener))
                should_stop = True
        return should_stop

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        key = ops.GraphKeys.SAVERS
        savers = ops.get_collection(key)
        if not savers:
            raise RuntimeError("No items in collection {}. Please add a saver to the collection or provide a saver or "
                               "scaffold.".format(key))
        if len(savers) > 1:
            raise RuntimeError("More than one item in collection {}. Please indicate which one to use by passing it to "
                               "the constructor.".format(key))
        self._saver = savers[0]
        return savers[0]


class StepCounterHook(session_run_hook.SessionRunHook):
    """Logs how many steps a second are made, and writes it as a summary."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._global_step_tensor = _global_step_read("StepCounterHook")
        self._summary_tag = training_util.get_global_step().op.name + "/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        steps_per_sec = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=steps_per_sec)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        logging.info("%s: %g", self._summary_tag, steps_per_sec)

    def after_run(self, run_context, run_values):
        stale_step = run_values.results
        if self._timer.should_trigger_for_step(stale_step + self._steps_per_run):
            global_step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(global_step):
                elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(global_step)
                if elapsed_time is not None:
                    self._log_and_record(elapsed_steps, elapsed_time, global_step)
        if stale_step == self._last_global_step:
            # By mistake, or because another process counts the steps.
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.", 5, stale_step,
                self._last_global_step)
        self._last_global_step = stale_step


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(session_run_hook.SessionRunHook):
    """Ends training when the loss is NaN: with an exception, or by a request to stop."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        run_context.request_stop()


class SummarySaverHook(session_run_hook.SessionRunHook):
    """Writes summaries every so many steps or seconds, and at the first step."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None,
                 summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._next_step = None
        self._global_step_tensor = _global_step_read("SummarySaverHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summaries = self._get_summary_op()
            if summaries is not None:
                requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context, run_values):
        if not self._summary_writer:
            return
        global_step = run_values.results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), global_step)
        if self._request_summary:
            self._timer.update_last_triggered_step(global_step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, global_step)
        self._next_step = global_step + 1

    def end(self, session=None):
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self):
        summaries = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return summaries if summaries is None or isinstance(summaries, list) else [summaries]


class GlobalStepWaiterHook(session_run_hook.SessionRunHook):
    """Waits before the first run until other workers have reached a step."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._worker_is_started = False
        self._global_step_tensor = _global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._worker_is_started or self._wait_until_step <= 0:
            self._worker_is_started = True
            return None
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        last_logged = 0
        while True:
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._wait_until_step:
                self._worker_is_started = True
                return None
            if step - last_logged > 1000:
                logging.info("Waiting for global step %d before starting training. Current step is %d.",
                             self._wait_until_step, step)
                last_logged = step
            time.sleep(0.5)


class FinalOpsHook(session_run_hook.SessionRunHook):
    """Evaluates tensors at the end."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values = None

    @property
    def final_ops_values(self):
        """What they gave."""
        return self._final_ops_values

    def end(self, session):
        if self._final_ops is not None:
            try:
                self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
            except (errors.OutOfRangeError, StopIteration):
                logging.warning("The final ops ran into the end of their input: what they compute has a dependency "
                                "back to some input source, and reads one more batch. They should read variables only, "
                                "as the value op of a metric does, whose update op reads the batches.")
                raise


class FeedFnHook(session_run_hook.SessionRunHook):
    """Feeds what a function gives for each run."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class ProfilerHook(session_run_hook.SessionRunHook):
    """Traces a run every so many steps or seconds: a Chrome timeline, and run metadata for TensorBoard."""

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = SummaryWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        self._next_step = None
        self._global_step_tensor = _global_step_read("ProfilerHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context, run_values):
        stale_step = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale_step)
        global_step = stale_step + 1
        if self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(global_step)
            self._save(global_step, self._output_file.format(global_step), run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, "step_%d" % global_step)
        self._next_step = global_step + 1

    def _save(self, step, save_path, step_stats):
        logging.info("Saving timeline for %d into '%s'.", step, save_path)
        trace = timeline.Timeline(step_stats)
        with gfile.Open(save_path, "w") as f:
            f.write(trace.generate_chrome_trace_format(show_dataflow=self._show_dataflow,
                                                       show_memory=self._show_memory))


def _as_graph_element(obj):
    """A tensor of the graph: itself, what it stands for, or of that name."""
    graph = ops.get_default_graph()
    if not isinstance(obj, str):
        if not hasattr(obj, "graph") or obj.graph != graph:
            raise ValueError("Passed %s should have graph attribute that is equal to current graph %s." % (obj, graph))
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    element = graph.as_graph_element(obj + ":0")
    # A name without an output must not leave a choice.
    try:
        graph.as_graph_element(obj + ":1")
    except (KeyError, ValueError):
        return element
    raise ValueError("Name %s is ambiguous, as this `Operation` has multiple outputs (at least 2)." % obj)
