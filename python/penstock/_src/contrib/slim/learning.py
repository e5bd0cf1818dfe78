"""tf.contrib.slim.learning: a training loop under a Supervisor."""
import os
import sys
import time

from penstock._src.session import timeline
from penstock._src.contrib.training import training
from penstock._src.contrib.training.training import clip_gradient_norms
from penstock._src.contrib.training.training import multiply_gradients
from penstock._src.graph import constant_op
from penstock._src.graph import errors
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.files import file_io
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup import lookup_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock._src.summary import summary
from penstock._src.training import optimizer as tf_optimizer
from penstock._src.checkpoint import saver as tf_saver
from penstock._src.training import supervisor
from penstock._src.training import sync_replicas_optimizer
from penstock._src.checkpoint import training_util

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train",
           "train_step"]

_USE_GLOBAL_STEP = 0
_USE_DEFAULT = 0


def add_gradients_summaries(grads_and_vars):
    """Summaries VARIABLE/gradient (a histogram) and VARIABLE/gradient_norm of each gradient. Returns them."""
    return training.summaries_of_gradients(grads_and_vars, "/gradient")


def create_train_op(total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
                    clip_gradient_norm=0, summarize_gradients=False,
                    gate_gradients=tf_optimizer.Optimizer.GATE_OP, aggregation_method=None,
                    colocate_gradients_with_ops=False, gradient_multipliers=None, check_numerics=True):
    """As tf.contrib.training.create_train_op, with gradients multiplied by variable or name, then clipped if > 0."""
    def transform(grads):
        if gradient_multipliers:
            with ops.name_scope("multiply_grads"):
                grads = multiply_gradients(grads, gradient_multipliers)
        if clip_gradient_norm > 0:
            with ops.name_scope("clip_grads"):
                grads = clip_gradient_norms(grads, clip_gradient_norm)
        return grads

    return training.create_train_op(
        total_loss, optimizer, update_ops=update_ops, variables_to_train=variables_to_train,
        transform_grads_fn=transform, summarize_gradients=summarize_gradients, gate_gradients=gate_gradients,
        aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
        **({} if global_step is _USE_GLOBAL_STEP else {"global_step": global_step}))


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step: (loss, whether to stop).

    `train_step_kwargs` may have the bool tensors should_stop, should_log and should_trace; with the last a `logdir`
    (ValueError without), and perhaps a `summary_writer`.
    """
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
            metadata = config_pb2.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - start
    if metadata is not None:
        file = os.path.join(train_step_kwargs["logdir"], "tf_trace-%d.json" % step)
        logging.info("Writing trace to %s", file)
        trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
        file_io.write_string_to_file(file, trace)
        if "summary_writer" in train_step_kwargs:
            train_step_kwargs["summary_writer"].add_run_metadata(metadata, "run_metadata-%d" % step)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return loss, stop


def _step_tensors(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir):
    """The `train_step_kwargs` that the loop makes by itself."""
    def every(n):
        return math_ops.equal(gen.floor_mod(global_step, n), 0)

    with ops.name_scope("train_step"):
        kwargs = {"should_stop": gen.greater_equal(global_step, number_of_steps) if number_of_steps else
                  constant_op.constant(False)}
        if log_every_n_steps > 0:
            kwargs["should_log"] = every(log_every_n_steps)
        if trace_every_n_steps is not None:
            kwargs.update(should_trace=every(trace_every_n_steps), logdir=logdir)
    return kwargs


def _refuse_without_logdir(**given):
    for what, is_given in given.items():
        if is_given:
            raise ValueError("Cannot provide %s because logdir=None" % what)


def _init_ops(init_op, local_init_op, ready_op, sync_optimizer, is_chief):
    """The arguments of Supervisor that initialize a session, where none is given the usual ones."""
    ready_for_local_init_op = None
    with ops.name_scope("init_ops"):
        if init_op is _USE_DEFAULT:
            init_op = variables.global_variables_initializer()
        if ready_op is _USE_DEFAULT:
            ready_op = variables.report_uninitialized_variables()
        if local_init_op is _USE_DEFAULT:
            local_init_op = control_flow_ops.group(variables.local_variables_initializer(),
                                                   lookup_ops.tables_initializer())
        if sync_optimizer is not None:
            with ops.control_dependencies([] if local_init_op is None else [local_init_op]):
                local_init_op = control_flow_ops.group(*[
                    opt.chief_init_op if is_chief else opt.local_step_init_op for opt in sync_optimizer])
            ready_for_local_init_op = control_flow_ops.group(*[opt.ready_for_local_init_op for opt in sync_optimizer])
    return {"init_op": init_op, "local_init_op": local_init_op, "ready_op": ready_op,
            "ready_for_local_init_op": ready_for_local_init_op}


def train(train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT,
          save_summaries_secs=600, summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None,
          save_interval_secs=600, sync_optimizer=None, session_config=None, session_wrapper=None,
          trace_every_n_steps=None, ignore_live_threads=False):
    """Runs `train_op` until `number_of_steps`, the end of its input or `train_step_fn` says so. Returns the last loss.

    Variables and tables are initialized or restored from `logdir`, queues are run, checkpoints and summaries written
    there. ValueError for arguments that need a `logdir`, and for a number of steps below 1.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        _refuse_without_logdir(summary_op=summary_op is not _USE_DEFAULT, saver=saver is not None,
                               trace_every_n_steps=trace_every_n_steps is not None)
    if isinstance(sync_optimizer, sync_replicas_optimizer.SyncReplicasOptimizer):
        sync_optimizer = [sync_optimizer]
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    graph = graph or ops.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = training_util.get_or_create_global_step()
        saver = saver or tf_saver.Saver()
        init_ops = _init_ops(init_op, local_init_op, ready_op, sync_optimizer, is_chief)
        if summary_op is _USE_DEFAULT:
            summary_op = summary.merge_all()
        if summary_writer is _USE_DEFAULT:
            summary_writer = supervisor.Supervisor.USE_DEFAULT
        tokens, runners = [], []
        if is_chief and sync_optimizer is not None:
            tokens = [opt.get_init_tokens_op() for opt in sync_optimizer]
            runners = [opt.get_chief_queue_runner() for opt in sync_optimizer]
        if train_step_kwargs is _USE_DEFAULT:
            train_step_kwargs = _step_tensors(global_step, number_of_steps, log_every_n_steps,
                                              trace_every_n_steps if is_chief else None, logdir)
    sv = supervisor.Supervisor(
        graph=graph, is_chief=is_chief, logdir=logdir, init_feed_dict=init_feed_dict, summary_op=summary_op,
        summary_writer=summary_writer, global_step=global_step, saver=saver, save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, init_fn=init_fn, **init_ops)
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = sv.summary_writer
    while True:
        loss = None
        try:
            with sv.managed_session(master, start_standard_services=False, config=session_config) as sess:
                logging.info("Starting Session.")
                if session_wrapper is not None:
                    sess = session_wrapper(sess)
                if is_chief:
                    if logdir:
                        sv.start_standard_services(sess)
                elif startup_delay_steps > 0:
                    first = min(startup_delay_steps, number_of_steps or sys.maxsize)
                    while training_util.global_step(sess, global_step) < first:
                        time.sleep(1.0)
                threads = sv.start_queue_runners(sess)
                logging.info("Starting Queues.")
                if runners:
                    sv.start_queue_runners(sess, runners)
                    sess.run(tokens)
                try:
                    while not sv.should_stop():
                        loss, stop = train_step_fn(sess, train_op, global_step, train_step_kwargs)
                        if stop:
                            logging.info("Stopping Training.")
                            sv.request_stop()
                except errors.OutOfRangeError as e:
                    logging.info("Caught OutOfRangeError. Stopping Training. %s", e)
                if logdir and sv.is_chief:
                    logging.info("Finished training! Saving model to disk.")
                    try:  # a checkpoint still being written in the background is older and must not end up as the last
                        sv.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)
                    finally:
                        sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
            return loss
        except errors.AbortedError:
            logging.info("Retrying training!")
