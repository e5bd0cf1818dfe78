"""SessionManager: makes sessions whose variables are restored or initialized."""
import time

import numpy as np

from penstock._src.session import session
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import checkpoint_management


def _name_of(obj):
    if obj is None:
        return "None"
    return obj.name if hasattr(obj, "name") else "<no name for %s>" % type(obj)


class SessionManager:
    """Makes sessions of a graph: restores a checkpoint or runs initializers, and checks that the model is ready.

    Args:
      local_init_op: Runs in each new session, also after restoring, fed with `local_init_feed_dict`.
      ready_op: Gives the names of variables that are not initialized.
      ready_for_local_init_op: The same for those that `local_init_op` needs.
      recovery_wait_secs: How long to wait between looks at a checkpoint or session of another process.
    """

    def __init__(self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None,
                 recovery_wait_secs=30, local_init_run_options=None, local_init_feed_dict=None):
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = ops.get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._target = None
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             "ready_for_local_init_op [%s]" % ready_for_local_init_op)

    def _restore_checkpoint(self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                            wait_for_checkpoint=False, max_wait_secs=7200, config=None):
        """A session, and whether a checkpoint was restored in it."""
        self._target = master
        sess = session.Session(self._target, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        waited = 0
        state = checkpoint_management.get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait_for_checkpoint or waited >= max_wait_secs:
                return sess, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = checkpoint_management.get_checkpoint_state(checkpoint_dir)
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def prepare_session(self, master, init_op=None, saver=None, checkpoint_dir=None,
                        checkpoint_filename_with_path=None, wait_for_checkpoint=False, max_wait_secs=7200, config=None,
                        init_feed_dict=None, init_fn=None):
        """A session with a restored checkpoint, or else initialized. RuntimeError if the model is not ready then."""
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir=checkpoint_dir, checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        done, why = self._try_run_local_init_op(sess)
        if not done:
            raise RuntimeError("Init operations did not make model ready for local_init.  Init op: %s, init fn: %s, "
                               "error: %s" % (_name_of(init_op), init_fn, why))
        ready, why = self._model_ready(sess)
        if not ready:
            raise RuntimeError("Init operations did not make model ready.  Init op: %s, init fn: %s, local_init_op: "
                               "%s, error: %s" % (_name_of(init_op), init_fn, self._local_init_op, why))
        return sess

    def recover_session(self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200, config=None):
        """A session, and whether a checkpoint made the model ready in it."""
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir=checkpoint_dir, checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config)
        done, why = self._try_run_local_init_op(sess)
        if not restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not done:
            logging.info("Restoring model from %s did not make model ready for local init: %s", source, why)
            return sess, False
        ready, why = self._model_ready(sess)
        if not ready:
            logging.info("Restoring model from %s did not make model ready: %s", source, why)
            return sess, False
        logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session, as soon as another process has made the model ready. DeadlineExceededError after the time."""
        self._target = master
        deadline = time.time() + (float("Inf") if max_wait_secs is None else max_wait_secs)
        while True:
            sess = session.Session(self._target, graph=self._graph, config=config)
            why_not = None
            done, why_not_local = self._try_run_local_init_op(sess)
            if done:
                ready, why_not = self._model_ready(sess)
                if ready:
                    return sess
            sess.close()
            if deadline - time.time() < self._recovery_wait_secs:
                raise errors.DeadlineExceededError(
                    None, None, "Session was not ready after waiting %d secs." % (max_wait_secs,))
            logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", why_not_local,
                         why_not)
            time.sleep(self._recovery_wait_secs)

    def _model_ready(self, sess):
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess):
        return _ready(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_run_local_init_op(self, sess):
        """Whether the local initializer ran (or there is none), and if not, why."""
        if self._local_init_op is None:
            return True, None
        ready, why = self._model_ready_for_local_init(sess)
        if not ready:
            return False, why
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, feed_dict=self._local_init_feed_dict, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return True, None


def _ready(op, sess, message):
    """Whether `op` gives no names, and if not, why."""
    if op is None:
        return True, None
    try:
        names = sess.run(op)
    except errors.FailedPreconditionError as e:
        if "uninitialized" not in str(e):
            logging.warning("%s : error [%s]", message, str(e))
            raise e
        return False, str(e)
    if names is None or names.dtype == np.int32 or names.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode("utf-8") for name in names)
