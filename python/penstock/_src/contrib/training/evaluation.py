"""tf.contrib.training's evaluation: of one checkpoint, or of each new one."""
import time

from penstock._src.base import tf_logging as logging
from penstock._src.summary import summary
from penstock._src.summary import writer_cache
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util
from penstock._src.checkpoint.checkpoint_utils import checkpoints_iterator
from penstock._src.training.evaluation import _evaluate_once as evaluate_once
from penstock._src.training.evaluation import _StopAfterNEvalsHook as StopAfterNEvalsHook

__all__ = ["StopAfterNEvalsHook", "SummaryAtEndHook", "evaluate_once", "evaluate_repeatedly"]


class SummaryAtEndHook(session_run_hook.SessionRunHook):
    """Runs a summary op (all summaries by default) at a session's end and writes it to `log_dir`."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if not log_dir and not summary_writer:
            raise ValueError("Expected either log_dir or summary_writer to be set.")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._feed_dict = feed_dict
        self._global_step = None

    def begin(self):
        if self._summary_op is None:
            self._summary_op = summary.merge_all()
        self._global_step = training_util.get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._summary_writer is None:
            self._summary_writer = writer_cache.FileWriterCache.get(self._log_dir)

    def end(self, session):
        if self._summary_op is not None:
            step = training_util.global_step(session, self._global_step)
            text = session.run(self._summary_op, self._feed_dict)
            self._summary_writer.add_summary(text, step)
            self._summary_writer.flush()


def evaluate_repeatedly(checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                        final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None,
                        max_number_of_evaluations=None, timeout=None, timeout_fn=None):
    """Evaluates each new checkpoint of a folder with `evaluate_once`. Returns the last values of `final_ops`.

    It ends after `max_number_of_evaluations`, or when no checkpoint came for `timeout` seconds and `timeout_fn` is
    absent or returns True. At least `eval_interval_secs` pass between two evaluations.
    """
    hooks = list(hooks or [])
    values, done = None, 0
    for checkpoint in checkpoints_iterator(checkpoint_dir, min_interval_secs=eval_interval_secs, timeout=timeout,
                                           timeout_fn=timeout_fn):
        logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        values = evaluate_once(checkpoint, master=master, scaffold=scaffold, eval_ops=eval_ops, feed_dict=feed_dict,
                               final_ops=final_ops, final_ops_feed_dict=final_ops_feed_dict, hooks=hooks,
                               config=config)
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return values
