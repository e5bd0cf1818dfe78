"""Training steps and loops for any loss: tf.contrib.training."""
from penstock._src.graph import gen
from penstock._src.graph import graph_keys
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.core_ops import clip_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import variables as tf_variables
from penstock._src.base import tf_logging as logging
from penstock._src.summary import summary
from penstock._src.training import monitored_session
from penstock._src.training import optimizer as tf_optimizer
from penstock._src.checkpoint import training_util

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op",
           "multiply_gradients", "train"]

_USE_GLOBAL_STEP = 0


def of_values(function, grad):
    """A gradient with a function of its values; None stays None, slices stay slices."""
    if grad is None:
        return None
    if isinstance(grad, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(function(grad.values), grad.indices, grad.dense_shape)
    return function(grad)


def add_gradients_summaries(grads_and_vars):
    """Summaries of each gradient: a histogram of its values, a scalar of its norm. Returns them."""
    return summaries_of_gradients(grads_and_vars, "_gradient")


def summaries_of_gradients(grads_and_vars, suffix):
    """The same, named VARIABLE + `suffix` and VARIABLE + `suffix` + "_norm"."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, indexed_slices.IndexedSlices) else grad
        summaries.append(summary.histogram(var.op.name + suffix, values))
        summaries.append(summary.scalar(var.op.name + suffix + "_norm", clip_ops.global_norm([values])))
    return summaries


def clip_gradient_norms(gradients_to_variables, max_norm):
    """(gradient, variable) pairs with the norm of each gradient clipped to `max_norm`."""
    return [(of_values(lambda values: clip_ops.clip_by_norm(values, max_norm), grad), var)
            for grad, var in gradients_to_variables]


def clip_gradient_norms_fn(max_norm):
    """A `transform_grads_fn` that clips to this norm."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """(gradient, variable) pairs with gradients multiplied by the numbers given for variables or their names.

    ValueError for other containers, no multipliers, or a multiple of a gradient that is None.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    multiplied = []
    for grad, var in grads_and_vars:
        if var in gradient_multipliers or var.op.name in gradient_multipliers:
            factor = gradient_multipliers[var if var in gradient_multipliers else var.op.name]
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = ops.convert_to_tensor(factor, dtype=grad.dtype)
            grad = of_values(lambda values, factor=factor: values * factor, grad)
        multiplied.append((grad, var))
    return multiplied


def create_train_op(total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
                    transform_grads_fn=None, summarize_gradients=False,
                    gate_gradients=tf_optimizer.Optimizer.GATE_OP, aggregation_method=None,
                    colocate_gradients_with_ops=False, check_numerics=True):
    """A tensor that makes one training step and gives the loss; it is added to the collection TRAIN_OP.

    Before the loss, `update_ops` run (by default the collection UPDATE_OPS). `global_step` None counts nothing.
    `transform_grads_fn` is called with the (gradient, variable) pairs and returns such. With `check_numerics` a loss
    of NaN or infinity is an error.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = training_util.get_or_create_global_step()
    known = set(ops.get_collection(graph_keys.GraphKeys.UPDATE_OPS))
    update_ops = known if update_ops is None else set(update_ops)
    if not known.issubset(update_ops):
        logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if update_ops:
        with ops.control_dependencies(update_ops):
            barrier = control_flow_ops.no_op(name="update_barrier")
        total_loss = control_flow_ops.with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = tf_variables.trainable_variables()
    else:
        for v in variables_to_train:
            assert v.trainable or v in tf_variables.trainable_variables()
    assert variables_to_train
    grads = optimizer.compute_gradients(
        total_loss, variables_to_train, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops)
    if transform_grads_fn:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with ops.name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    updates = optimizer.apply_gradients(grads, global_step=global_step)
    with ops.name_scope("train_op"):
        if check_numerics:
            total_loss = gen.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = control_flow_ops.with_dependencies([updates], total_loss)
    collection = ops.get_collection_ref(graph_keys.GraphKeys.TRAIN_OP)
    if train_op not in collection:
        collection.append(train_op)
    return train_op


def train(train_op, logdir, master="", is_chief=True, scaffold=None, hooks=None, chief_only_hooks=None,
          save_checkpoint_secs=600, save_summaries_steps=100, config=None, max_wait_secs=7200, run_metadata=None):
    """Runs `train_op` in a MonitoredTrainingSession until a hook stops it. Returns its last value.

    ValueError if the chief is to save checkpoints or summaries and has no `logdir`.
    """
    if logdir is None and is_chief:
        for what, wanted in (("save_summaries_steps", save_summaries_steps),
                             ("save_checkpoint_secs", save_checkpoint_secs)):
            if wanted:
                raise ValueError("logdir cannot be None when %s is not None" % what)
    loss = None
    with monitored_session.MonitoredTrainingSession(
            master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
            chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
            save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
