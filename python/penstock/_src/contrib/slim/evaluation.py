"""tf.contrib.slim.evaluation: a checkpoint, or each new one, evaluated a number of times."""
from penstock._src.contrib.training import evaluation
from penstock._src.summary import summary
from penstock._src.training import monitored_session
from penstock._src.checkpoint import saver as tf_saver
from penstock._src.checkpoint.checkpoint_utils import checkpoints_iterator
from penstock._src.checkpoint.checkpoint_utils import wait_for_new_checkpoint

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

_USE_DEFAULT = 0


def _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks):
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()
    made = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        made.append(evaluation.SummaryAtEndHook(log_dir=logdir, summary_op=summary_op,
                                                feed_dict=summary_op_feed_dict))
    return made + list(hooks or [])


def _saver(variables_to_restore):
    return None if variables_to_restore is None else tf_saver.Saver(variables_to_restore)


def evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                  eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                  summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None, session_config=None,
                  hooks=None):
    """Restores a checkpoint, runs `eval_op` `num_evals` times, writes the summaries; the value of `final_op`."""
    hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = monitored_session.Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict,
                                          saver=_saver(variables_to_restore))
    return evaluation.evaluate_once(
        checkpoint_path, master=master, scaffold=scaffold, eval_ops=eval_op, feed_dict=eval_op_feed_dict,
        final_ops=final_op, final_ops_feed_dict=final_op_feed_dict, hooks=hooks, config=session_config)


def evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None,
                    eval_interval_secs=60, max_number_of_evaluations=None, session_config=None, timeout=None,
                    timeout_fn=None, hooks=None):
    """Does so for each new checkpoint of a folder, `max_number_of_evaluations` times or for ever; the last value."""
    hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = monitored_session.Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn,
                                          saver=_saver(variables_to_restore))
    return evaluation.evaluate_repeatedly(
        checkpoint_dir, master=master, scaffold=scaffold, eval_ops=eval_op, feed_dict=eval_op_feed_dict,
        final_ops=final_op, final_ops_feed_dict=final_op_feed_dict, eval_interval_secs=eval_interval_secs,
        hooks=hooks, config=session_config, max_number_of_evaluations=max_number_of_evaluations, timeout=timeout,
        timeout_fn=timeout_fn)
