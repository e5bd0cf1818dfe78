"""Sessions that initialize or restore the model, call hooks, stop in order and recover."""
import abc
import inspect
import sys

from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock._src.training import basic_session_run_hooks
from penstock._src.training import coordinator
from penstock._src.training import queue_runner
from penstock._src.training import session_manager as sm
from penstock._src.training import session_run_hook
from penstock._src.training.scaffold import Scaffold

__all__ = ["ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold", "SessionCreator",
           "SingularMonitoredSession", "USE_DEFAULT", "WorkerSessionCreator"]

# What tells that a machine went away: the session is made anew.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)

USE_DEFAULT = object()


def _is_set(steps, secs):
    return bool(steps and steps > 0 or secs and secs > 0)


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None,  # noqa: N802
                             chief_only_hooks=None, save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT,
                             save_summaries_secs=USE_DEFAULT, config=None, stop_grace_period_secs=120,
                             log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
                             summary_dir=None, save_graph_def=True):
    """A MonitoredSession for training.

    The chief initializes or restores the model and writes checkpoints and summaries; other workers wait for it.
    By default a checkpoint is saved every 600 seconds and summaries every 100 steps, if there is a directory for them.
    """
    if save_summaries_steps == USE_DEFAULT and save_summaries_secs == USE_DEFAULT:
        save_summaries_steps, save_summaries_secs = 100, None
    elif save_summaries_secs == USE_DEFAULT:
        save_summaries_secs = None
    elif save_summaries_steps == USE_DEFAULT:
        save_summaries_steps = None
    if save_checkpoint_steps == USE_DEFAULT and save_checkpoint_secs == USE_DEFAULT:
        save_checkpoint_steps, save_checkpoint_secs = None, 600
    elif save_checkpoint_secs == USE_DEFAULT:
        save_checkpoint_secs = None
    elif save_checkpoint_steps == USE_DEFAULT:
        save_checkpoint_steps = None

    scaffold = scaffold or Scaffold()
    if not is_chief:
        creator = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return MonitoredSession(session_creator=creator, hooks=hooks or [],
                                stop_grace_period_secs=stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or [])
    creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(basic_session_run_hooks.StepCounterHook(output_dir=summary_dir,
                                                                     every_n_steps=log_step_count_steps))
        if _is_set(save_summaries_steps, save_summaries_secs):
            all_hooks.append(basic_session_run_hooks.SummarySaverHook(
                scaffold=scaffold, save_steps=save_summaries_steps, save_secs=save_summaries_secs,
                output_dir=summary_dir))
    if checkpoint_dir and _is_set(save_checkpoint_steps, save_checkpoint_secs):
        all_hooks.append(basic_session_run_hooks.CheckpointSaverHook(
            checkpoint_dir, save_steps=save_checkpoint_steps, save_secs=save_checkpoint_secs, scaffold=scaffold,
            save_graph_def=save_graph_def))
    all_hooks.extend(hooks or [])
    return MonitoredSession(session_creator=creator, hooks=all_hooks, stop_grace_period_secs=stop_grace_period_secs)


class SessionCreator(abc.ABC):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self):
        """A new session that is ready."""
        raise NotImplementedError("create_session is not implemented for {}.".format(self))


class _ScaffoldSessionCreator(SessionCreator):

    def __init__(self, scaffold, master, config):
        self._scaffold = scaffold or Scaffold()
        self._session_manager = None
        self._master = master
        self._config = config

    def _get_session_manager(self):
        if not self._session_manager:
            self._session_manager = sm.SessionManager(
                local_init_op=self._scaffold.local_init_op, ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op, graph=ops.get_default_graph(),
                local_init_feed_dict=self._scaffold.local_init_feed_dict)
        return self._session_manager


class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Restores the newest checkpoint of a directory, or one that is named, or else initializes the model."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master, saver=self._scaffold.saver, checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path, config=self._config,
            init_op=self._scaffold.init_op, init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn)


class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Waits until the chief has made the model ready."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(self._master, config=self._config,
                                                            max_wait_secs=self._max_wait_secs)


class _MonitoredSession:
    """What MonitoredSession and SingularMonitoredSession have in common."""

    def __init__(self, session_creator, hooks, should_recover, stop_grace_period_secs=120):
        self._graph_was_finalized = ops.get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = self._CoordinatedSessionCreator(
            session_creator=session_creator or ChiefSessionCreator(), hooks=self._hooks,
            stop_grace_period_secs=stop_grace_period_secs)
        if should_recover:
            self._sess = _RecoverableSession(self._coordinated_creator)
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self):
        """The graph; None once closed."""
        return None if self._tf_sess() is None else self._tf_sess().graph

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """As Session.run, with the hooks around it."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn):
        """Calls `step_fn(step_context)`, which may run without hooks, with them, and ask to stop."""
        arguments = tuple(inspect.signature(step_fn).parameters)
        if inspect.ismethod(step_fn):
            arguments = ("self",) + arguments
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                             "arguments if it's an instance method. Got {} instead.".format(arguments))
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    class StepContext:
        """What a step function gets."""

        def __init__(self, session, run_with_hooks_fn):
            self._session = session
            self._run_with_hooks_fn = run_with_hooks_fn

        @property
        def session(self):
            """The session, without hooks."""
            return self._session

        def run_with_hooks(self, *args, **kwargs):
            """As MonitoredSession.run."""
            return self._run_with_hooks_fn(*args, **kwargs)

        def request_stop(self):
            """Ends the step function; `should_stop` is true after it."""
            raise StopIteration("step_fn has requested the iterations to stop.")

    def should_stop(self):
        """Whether to end the loop."""
        return self._sess is None or self._sess.should_stop()

    def close(self):
        """Calls the hooks' `end`, stops queue runners and closes the session."""
        self._close_internal()

    def __enter__(self):
        return self

    def __exit__(self, exception_type, exception_value, traceback):
        # The end of the input ends the training in order.
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    class _CoordinatedSessionCreator(SessionCreator):
        """Makes sessions with hooks and a coordinator."""

        def __init__(self, session_creator, hooks, stop_grace_period_secs):
            self._session_creator = session_creator
            self._hooks = hooks
            self.coord = None
            self.tf_sess = None
            self._stop_grace_period_secs = stop_grace_period_secs

        def create_session(self):
            self.tf_sess = self._session_creator.create_session()
            # Not even the end of the input is to be swallowed by a thread.
            self.coord = coordinator.Coordinator(clean_stop_exception_types=[])
            if ops.get_collection(ops.GraphKeys.QUEUE_RUNNERS):
                queue_runner.start_queue_runners(sess=self.tf_sess, coord=self.coord)
            for hook in self._hooks:
                hook.after_create_session(self.tf_sess, self.coord)
            return _CoordinatedSession(_HookedSession(self.tf_sess, self._hooks), self.coord,
                                       self._stop_grace_period_secs)

    def _close_internal(self, exception_type=None):
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    ops.get_default_graph()._unsafe_unfinalize()

    def _is_closed(self):
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self):
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session with hooks, made anew when a machine went away (AbortedError, UnavailableError).

        with MonitoredSession(session_creator=ChiefSessionCreator(...), hooks=[...]) as sess:
            while not sess.should_stop():
                sess.run(train_op)
    """

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks for one process; `raw_session` is the session below it."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None,
                 stop_grace_period_secs=120, checkpoint_filename_with_path=None):
        creator = ChiefSessionCreator(scaffold=scaffold, master=master, config=config, checkpoint_dir=checkpoint_dir,
                                      checkpoint_filename_with_path=checkpoint_filename_with_path)
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self):
        """The session without hooks."""
        return self._tf_sess()


class _WrappedSession:
    """Passes calls on to another session; never raises because that one was aborted."""

    def __init__(self, sess):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(self._sess, _WrappedSession)

    @property
    def graph(self):
        return self._sess.graph

    @property
    def sess_str(self):
        return self._sess.sess_str

    def should_stop(self):
        if self._check_stop():
            return True
        if self._sess:
            return self._wrapped_is_stoppable and self._sess.should_stop()
        return True

    def _check_stop(self):
        return False

    def close(self):
        if not self._sess:
            return
        try:
            self._sess.close()
        except _PREEMPTION_ERRORS as e:
            logging.warning("An error occurred when attempting to close the session. This may be due to a preemption "
                            "in a connected worker or parameter server. Error: %s", e)
        finally:
            self._sess = None

    def run(self, *args, **kwargs):
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return step_fn(_MonitoredSession.StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes a new session when the old one was aborted."""

    def __init__(self, sess_creator):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self):
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as e:
                logging.info("An error was raised while a session was being created; a machine may have gone away. A "
                             "new session will be created. Error: %s", e)

    def _give_up(self, e):
        logging.info("An error was raised; a machine may have gone away. The current session will be closed and a new "
                     "session will be created. Error: %s", e)
        self.close()
        self._sess = None

    def _check_stop(self):
        try:
            return self._sess._check_stop() if self._sess else True
        except _PREEMPTION_ERRORS as e:
            self._give_up(e)
            self._sess = self._create_session()
            # What made it stop is gone with the session.
            return False
        except Exception:
            # `should_stop` does not raise: the next `run` does.
            return True

    def _retry(self, call):
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return call(self._sess)
            except _PREEMPTION_ERRORS as e:
                self._give_up(e)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._retry(lambda sess: sess.run(fetches, feed_dict=feed_dict, options=options,
                                                 run_metadata=run_metadata))

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return self._retry(lambda sess: sess.run_step_fn(step_fn, raw_session, sess.run))


class _CoordinatedSession(_WrappedSession):
    """Stops when the coordinator says so, and raises what its threads raised."""

    def __init__(self, sess, coord, stop_grace_period_secs=120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception:
                # What the threads raised tells more than that the session cannot be closed.
                pass

    def run(self, *args, **kwargs):
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception:
            original = sys.exc_info()[1]
        # A thread that lost a machine is the cause of what this run raised.
        try:
            self._coord.raise_requested_exception()
        except _PREEMPTION_ERRORS:
            raise
        except Exception:
            pass
        raise original


class _HookedSession(_WrappedSession):
    """Calls hooks around each run."""

    def __init__(self, sess, hooks):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self):
        return self._should_stop

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        actual_fetches = {"caller": fetches}
        run_context = session_run_hook.SessionRunContext(
            original_args=session_run_hook.SessionRunArgs(fetches, feed_dict), session=self._sess)
        options = options or config_pb2.RunOptions()
        feed_dict = self._call_hook_before_run(run_context, actual_fetches, feed_dict, options)
        wanted = {}
        if run_metadata is not None or options.ByteSize():
            run_metadata = config_pb2.RunMetadata() if run_metadata is None else run_metadata
            wanted = {"options": options, "run_metadata": run_metadata}
        else:
            # Nobody asked for anything: a plain run is faster, and would leave the message empty as well.
            run_metadata = config_pb2.RunMetadata()
        outputs = super().run(fetches=actual_fetches, feed_dict=feed_dict, **wanted)
        for hook in self._hooks:
            hook.after_run(run_context, session_run_hook.SessionRunValues(
                results=outputs.get(hook), options=options, run_metadata=run_metadata))
        self._should_stop = self._should_stop or run_context.stop_requested
        return outputs["caller"]

    def _call_hook_before_run(self, run_context, fetch_dict, user_feed_dict, options):
        """Adds the hooks' fetches and options; gives all feeds."""
        hook_feeds = {}
        for hook in self._hooks:
            request = hook.before_run(run_context)
            if request is None:
                continue
            if request.fetches is not None:
                fetch_dict[hook] = request.fetches
            if request.feed_dict:
                _require_disjoint(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_run_options(options, request.options)
        if not hook_feeds:
            return user_feed_dict
        if not user_feed_dict:
            return hook_feeds
        _require_disjoint(user_feed_dict, hook_feeds, "Same tensor is fed by a SessionRunHook and user.")
        hook_feeds.update(user_feed_dict)
        return hook_feeds


def _require_disjoint(feeds, others, message):
    both = set(feeds.keys()) & set(others.keys())
    if both:
        raise RuntimeError(message + " Conflict(s): " + str(list(both)))


def _merge_run_options(options, incoming):
    """Makes `options` ask for all that `incoming` asks for."""
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs",
                  "report_tensor_allocations_upon_oom"):
        setattr(options, field, max(getattr(options, field), getattr(incoming, field)))
    options.debug_options.debug_tensor_watch_opts.extend(incoming.debug_options.debug_tensor_watch_opts)
    options.debug_options.reset_disk_byte_usage = (options.debug_options.reset_disk_byte_usage or
                                                   incoming.debug_options.reset_disk_byte_usage)
