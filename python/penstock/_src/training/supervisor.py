"""Supervisor: the older way to run a training session, with checkpoints and summaries written by threads."""
import contextlib
import os
import time

from penstock._src.graph import context
from penstock._src.graph import dtypes
from penstock._src.checkpoint import meta_graph
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup import tables_initializer
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock.proto import SessionLog
from penstock.proto import Summary
from penstock._src.summary import summary as _summary
from penstock._src.summary.writer import FileWriter
from penstock._src.training import coordinator
from penstock._src.checkpoint import saver as saver_mod
from penstock._src.training import session_manager as session_manager_mod
from penstock._src.checkpoint import training_util


class Supervisor:
    """Makes a session, restores or initializes the model, and writes checkpoints and summaries now and then.

        sv = Supervisor(logdir="/tmp/mydir")
        with sv.managed_session() as sess:
            while not sv.should_stop():
                sess.run(my_train_op)

    Operations left at USE_DEFAULT come from the graph's collections, or are made; None: there is none.
    """

    USE_DEFAULT = 0

    def __init__(self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief=True,
                 init_op=USE_DEFAULT, init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None,
                 summary_op=USE_DEFAULT, saver=USE_DEFAULT, global_step=USE_DEFAULT, save_summaries_secs=120,
                 save_model_secs=600, recovery_wait_secs=30, stop_grace_secs=120, checkpoint_basename="model.ckpt",
                 session_manager=None, summary_writer=USE_DEFAULT, init_fn=None, local_init_run_options=None):
        if context.executing_eagerly():
            raise RuntimeError("Supervisors are compatible with eager execution.")
        graph = ops.get_default_graph() if graph is None else graph
        with graph.as_default():
            self._init_ready_op(ready_op, ready_for_local_init_op)
            self._init_init_op(init_op, init_feed_dict)
            self._init_local_init_op(local_init_op)
            self._init_saver(saver)
            self._init_summary_op(summary_op)
            self._init_global_step(global_step)
        self._graph = graph
        self._meta_graph_def = meta_graph.create_meta_graph_def(
            graph_def=graph.as_graph_def(add_shapes=True), saver_def=self._saver.saver_def if self._saver else None)
        self._is_chief = is_chief
        self._coord = coordinator.Coordinator()
        self._recovery_wait_secs = recovery_wait_secs
        self._stop_grace_secs = stop_grace_secs
        self._init_fn = init_fn
        self._local_init_run_options = local_init_run_options
        # Only the chief writes.
        self._logdir = None
        self._save_summaries_secs = None
        self._save_model_secs = None
        self._save_path = None
        self._summary_writer = None
        if self._is_chief:
            self._logdir = logdir
            self._save_summaries_secs = save_summaries_secs
            self._save_model_secs = save_model_secs
            if self._logdir:
                self._save_path = os.path.join(self._logdir, checkpoint_basename)
            if summary_writer is Supervisor.USE_DEFAULT:
                if self._logdir:
                    self._summary_writer = FileWriter(self._logdir)
            else:
                self._summary_writer = summary_writer
            self._graph_added_to_summary = False
        self._session_manager = session_manager or session_manager_mod.SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op, graph=self._graph,
            recovery_wait_secs=self._recovery_wait_secs, local_init_run_options=self._local_init_run_options)
        self._verify_setup()
        graph.finalize()

    # What was not given

    @staticmethod
    def _given_or_made(given, key, make=None):
        """`given`, unless it is USE_DEFAULT: then the first of a collection, or what `make` gives, put there."""
        if given is not Supervisor.USE_DEFAULT:
            return given
        found = ops.get_collection(key)
        if len(found) > 1:
            logging.info("Found %d %s operations. Returning the first one.", len(found), key)
        if found:
            return found[0]
        made = make() if make else None
        if made is not None:
            ops.add_to_collection(key, made)
        return made

    def _init_ready_op(self, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT):
        self._ready_op = self._given_or_made(ready_op, ops.GraphKeys.READY_OP, variables.report_uninitialized_variables)
        self._ready_for_local_init_op = self._given_or_made(ready_for_local_init_op,
                                                            ops.GraphKeys.READY_FOR_LOCAL_INIT_OP)

    def _init_init_op(self, init_op=USE_DEFAULT, init_feed_dict=None):
        self._init_op = self._given_or_made(init_op, ops.GraphKeys.INIT_OP, variables.global_variables_initializer)
        self._init_feed_dict = init_feed_dict

    def _init_local_init_op(self, local_init_op=USE_DEFAULT):

        def make():
            return control_flow_ops.group(variables.local_variables_initializer(),
                                          tables_initializer.tables_initializer())

        self._local_init_op = self._given_or_made(local_init_op, ops.GraphKeys.LOCAL_INIT_OP, make)

    def _init_saver(self, saver=USE_DEFAULT):

        def make():
            return saver_mod.Saver() if variables.global_variables() else None

        self._saver = self._given_or_made(saver, ops.GraphKeys.SAVERS, make)

    def _init_summary_op(self, summary_op=USE_DEFAULT):
        self._summary_op = self._given_or_made(summary_op, ops.GraphKeys.SUMMARY_OP, _summary.merge_all)

    def _init_global_step(self, global_step=USE_DEFAULT):
        self._global_step = self._given_or_made(global_step, ops.GraphKeys.GLOBAL_STEP,
                                                self._default_global_step_tensor)

    @staticmethod
    def _default_global_step_tensor():
        """The tensor "global_step:0" of the graph, if there is one."""
        try:
            step = ops.get_default_graph().get_tensor_by_name("global_step:0")
        except KeyError:
            return None
        if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
            return step
        logging.warning("Found 'global_step' is not an int type: %s", step.dtype)
        return None

    def _verify_setup(self):
        if self._is_chief:
            return
        # Each replica would have variables of its own.
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError("When using replicas, all Variables must have their device set: %s" % op)

    @property
    def is_chief(self):
        """Whether this process writes checkpoints and summaries."""
        return self._is_chief

    @property
    def session_manager(self):
        """The SessionManager."""
        return self._session_manager

    @property
    def coord(self):
        """The Coordinator."""
        return self._coord

    @property
    def init_op(self):
        """Initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self):
        """What `init_op` is fed with."""
        return self._init_feed_dict

    @property
    def ready_op(self):
        """Gives the names of variables that are not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        """Gives the names of variables that the local initializer lacks."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self):
        """The writer of summaries, or None."""
        return self._summary_writer

    @property
    def summary_op(self):
        """The summaries, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self):
        """Seconds between summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self):
        """The global step, or None."""
        return self._global_step

    @property
    def saver(self):
        """The saver, or None."""
        return self._saver

    @property
    def save_model_secs(self):
        """Seconds between checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self):
        """The beginning of the checkpoints' names."""
        return self._save_path

    # Sessions and threads

    def _write_graph(self):
        assert self._is_chief
        if self._logdir:
            training_util.write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess):
        """Starts the threads that write summaries, steps per second and checkpoints; gives them."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            step = training_util.global_step(sess, self._global_step)
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200,
                                    start_standard_services=True):
        """A session that is ready: made so by the chief, waited for by others."""
        # Of an earlier session.
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(self, sess, queue_runners=None):
        """Starts the threads of queue runners, by default of all in the graph; gives them."""
        if context.executing_eagerly():
            raise RuntimeError("Queues are not compatible with eager execution.")
        if queue_runners is None:
            queue_runners = self._graph.get_collection(ops.GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads.extend(runner.create_threads(sess, coord=self._coord, daemon=True, start=True))
        return threads

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """Starts a thread that calls `target` every so many seconds (None: at once again)."""
        looper = coordinator.LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Stops the threads and waits for them; raises what one of them raised."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs,
                             ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex=None):
        """Asks the threads to stop; `ex` is what went wrong."""
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        """Whether to stop."""
        return self._coord.should_stop()

    def stop_on_exception(self):
        """A context in which an exception makes all threads stop."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        """Waits until all are to stop."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary that the program computed."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = training_util.global_step(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """A session; what is raised inside, or in a thread, is raised at the end, but for the end of the input."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master=master, config=config,
                                                    start_standard_services=start_standard_services)
            yield sess
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                # Raises what a thread, or the block above, reported.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                # Steps of threads that still run fail, which ends these.
                if sess is not None:
                    sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class SVSummaryThread(coordinator.LooperThread):
    """Writes summaries."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        if self._sv.global_step is not None:
            summaries, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            summaries, step = self._sess.run(self._sv.summary_op), None
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summaries, step)


class SVStepCounterThread(coordinator.LooperThread):
    """Writes how many steps a second are made."""

    def __init__(self, sv, sess, step_counter=None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._last_time = 0.0
        self._last_step = 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = "%s/sec" % self._step_counter.op.name

    def start_loop(self):
        self._last_time = time.time()
        self._last_step = training_util.global_step(self._sess, self._step_counter)

    def run_loop(self):
        step, now = training_util.global_step(self._sess, self._step_counter), time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        steps_per_sec = steps / seconds if seconds > 0. else float("inf")
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=steps_per_sec)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        logging.log_first_n(logging.INFO, "%s: %g", 10, self._summary_tag, steps_per_sec)


class SVTimerCheckpointThread(coordinator.LooperThread):
    """Saves checkpoints."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        logging.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            step = training_util.global_step(self._sess, self._sv.global_step)
            self._sv.summary_writer.add_session_log(
                SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path), step)
