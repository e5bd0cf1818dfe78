"""tf.contrib.layers.batch_norm: tf.layers' layer where it serves, else built here."""
from penstock._src.contrib.framework import variables
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import utils
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.layers import normalization
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.state import variable_scope
from penstock._src.training import moving_averages


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None,
               param_initializers=None, param_regularizers=None, updates_collections=ops.GraphKeys.UPDATE_OPS,
               is_training=True, reuse=None, variables_collections=None, outputs_collections=None, trainable=True,
               batch_weights=None, fused=None, data_format="NHWC", zero_debias_moving_mean=False, scope=None,
               renorm=False, renorm_clipping=None, renorm_decay=0.99, adjustment=None):
    """Batch normalization with variables beta, gamma, moving_mean and moving_variance.

    With `updates_collections` None the averages are updated in place, before the output is ready.
    """
    fused = True if fused is None else fused
    inputs = ops.convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    own_updates = updates_collections is ops.GraphKeys.UPDATE_OPS
    can_fuse = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    if fused and can_fuse and (zero_debias_moving_mean or rank == 2 or not own_updates):
        with variable_scope.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
            outputs = _fused(inputs, decay, center, scale, epsilon, param_initializers or {}, param_regularizers or {},
                             updates_collections, is_training, variables_collections, trainable, data_format,
                             zero_debias_moving_mean)
            return _finished(outputs, activation_fn, outputs_collections, sc)
    with variable_scope.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse,
                                       custom_getter=utils.model_variable_getter()) as sc:
        inputs = ops.convert_to_tensor(inputs)
        if batch_weights is None and own_updates and not zero_debias_moving_mean:
            outputs = _by_layer(inputs, decay, center, scale, epsilon, param_initializers or {},
                                param_regularizers or {}, is_training, reuse, variables_collections, trainable, fused,
                                data_format, renorm, renorm_clipping, renorm_decay, adjustment, sc)
            return _finished(outputs, activation_fn, outputs_collections, sc)
        if renorm:
            raise ValueError("renorm is not supported with batch_weights, updates_collections or "
                             "zero_debias_moving_mean")
        outputs = _op_by_op(inputs, decay, center, scale, epsilon, param_initializers or {}, updates_collections,
                            is_training, variables_collections, trainable, batch_weights, data_format,
                            zero_debias_moving_mean)
        return _finished(outputs, activation_fn, outputs_collections, sc)


def _finished(outputs, activation_fn, outputs_collections, sc):
    outputs = outputs if activation_fn is None else activation_fn(outputs)
    return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


_INITIALIZERS = {"beta": init_ops.zeros_initializer, "gamma": init_ops.ones_initializer,
                 "moving_mean": init_ops.zeros_initializer, "moving_variance": init_ops.ones_initializer}


def _by_layer(inputs, decay, center, scale, epsilon, param_initializers, param_regularizers, is_training, reuse,
              variables_collections, trainable, fused, data_format, renorm, renorm_clipping, renorm_decay, adjustment,
              sc):
    initializers = {name + "_initializer": param_initializers.get(name, default())
                    for name, default in _INITIALIZERS.items()}
    layer = normalization.BatchNormalization(
        axis=1 if data_format == "NCHW" else -1, momentum=decay, epsilon=epsilon, center=center, scale=scale,
        beta_regularizer=param_regularizers.get("beta"), gamma_regularizer=param_regularizers.get("gamma"),
        trainable=trainable, renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay,
        adjustment=adjustment, name=sc.name, _scope=sc, _reuse=reuse, fused=fused, **initializers)
    outputs = layer.apply(inputs, training=is_training)
    for name in ("moving_mean", "moving_variance", "beta", "gamma"):
        if getattr(layer, name) is not None:
            utils.add_variable_to_collections(getattr(layer, name), variables_collections, name)
    return outputs


def _variable(name, shape, dtype, param_initializers, variables_collections, trainable, regularizer=None):
    return variables.model_variable(
        name, shape=shape, dtype=dtype, initializer=param_initializers.get(name, _INITIALIZERS[name]()),
        regularizer=regularizer, trainable=trainable,
        collections=utils.get_variable_collections(variables_collections, name))


def _moving_variables(shape, dtype, param_initializers, variables_collections):
    # Updates assign whole variables, so these must not be partitioned.
    with variable_scope.variable_scope(variable_scope.get_variable_scope()) as local_scope:
        local_scope.set_partitioner(None)
        return [_variable(name, shape, dtype, param_initializers, variables_collections, False)
                for name in ("moving_mean", "moving_variance")]


def _averaged(moving_mean, moving_variance, mean, variance, decay, zero_debias):
    return (moving_averages.assign_moving_average(moving_mean, mean, decay, zero_debias=zero_debias),
            moving_averages.assign_moving_average(moving_variance, variance, decay, zero_debias=False))


def _fused(inputs, decay, center, scale, epsilon, param_initializers, param_regularizers, updates_collections,
           is_training, variables_collections, trainable, data_format, zero_debias):
    original = inputs
    shape = inputs.get_shape()
    if shape.ndims == 2:
        channels = shape.dims[-1].value
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        inputs = array_ops.reshape(inputs, [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels])
    inputs_shape = inputs.get_shape()
    params_shape = inputs_shape[-1:] if data_format == "NHWC" else inputs_shape[1:2]
    if not params_shape.is_fully_defined():
        raise ValueError("Inputs %s has undefined `C` dimension %s." % (inputs.name, params_shape))

    def parameter(wanted, name, constant):
        if not wanted:
            return constant_op.constant(constant, dtype=dtypes.float32, shape=params_shape)
        return _variable(name, params_shape, dtypes.float32, param_initializers, variables_collections, trainable,
                         param_regularizers.get(name))

    beta = parameter(center, "beta", 0.0)
    gamma = parameter(scale, "gamma", 1.0)
    moving_mean, moving_variance = _moving_variables(params_shape, dtypes.float32, param_initializers,
                                                     variables_collections)
    outputs, mean, variance = utils.smart_cond(
        is_training,
        lambda: nn_impl.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format),
        lambda: nn_impl.fused_batch_norm(inputs, gamma, beta, mean=moving_mean, variance=moving_variance,
                                         epsilon=epsilon, is_training=False, data_format=data_format))
    known = utils.constant_value(is_training)
    if known is None or known:

        def updates():
            return _averaged(moving_mean, moving_variance, mean, variance, decay, zero_debias)

        def forced():
            with ops.control_dependencies(list(updates())):
                return array_ops.identity(outputs)

        if updates_collections is None:
            normalized = outputs
            outputs = utils.smart_cond(is_training, forced, lambda: normalized)
        else:
            for update in utils.smart_cond(is_training, updates, lambda: (moving_mean, moving_variance)):
                ops.add_to_collections(updates_collections, update)
    outputs.set_shape(inputs_shape)
    return array_ops.reshape(outputs, array_ops.shape(original)) if shape.ndims == 2 else outputs


def _op_by_op(inputs, decay, center, scale, epsilon, param_initializers, updates_collections, is_training,
              variables_collections, trainable, batch_weights, data_format, zero_debias):
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError("Inputs %s has undefined rank." % inputs.name)
    dtype = inputs.dtype.base_dtype
    if batch_weights is not None:
        batch_weights = ops.convert_to_tensor(batch_weights)
        shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = array_ops.reshape(batch_weights, [-1] + [1] * (rank - 1))
    first = data_format == "NCHW"
    axes = [0] + list(range(2, rank)) if first else list(range(rank - 1))
    params_shape = shape[1:2] if first else shape[-1:]
    if not params_shape.is_fully_defined():
        raise ValueError("Inputs %s has undefined channels dimension %s." % (inputs.name, params_shape))
    beta = gamma = None
    if center:
        beta = _variable("beta", params_shape, dtype, param_initializers, variables_collections, trainable)
    if scale:
        gamma = _variable("gamma", params_shape, dtype, param_initializers, variables_collections, trainable)
    moving_mean, moving_variance = moving = _moving_variables(params_shape, dtype, param_initializers,
                                                              variables_collections)
    known = utils.constant_value(is_training)
    if known is None or known:
        mean, variance = _moments(inputs, axes, batch_weights, first)
        batch = (mean, variance)

        def updates():
            return _averaged(moving_mean, moving_variance, batch[0], batch[1], decay, zero_debias)

        def forced():
            with ops.control_dependencies(list(updates())):
                return array_ops.identity(batch[0]), array_ops.identity(batch[1])

        if updates_collections is None:
            mean, variance = utils.smart_cond(is_training, forced, lambda: tuple(moving))
        else:
            for update in utils.smart_cond(is_training, updates, lambda: tuple(moving)):
                ops.add_to_collections(updates_collections, update)
            mean, variance = utils.smart_cond(is_training, lambda: batch, lambda: tuple(moving))
    else:
        mean, variance = moving
    if first:
        spread = [1, shape.dims[1].value] + [1] * (rank - 2)
        mean, variance, beta, gamma = [None if v is None else array_ops.reshape(v, spread)
                                       for v in (mean, variance, beta, gamma)]
    outputs = nn_impl.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(shape)
    return outputs


def _moments(inputs, axes, batch_weights, first):
    if batch_weights is None:
        mean, variance = nn_impl.moments(inputs, axes, keep_dims=True) if first else nn_impl.moments(inputs, axes)
    elif first:
        mean, variance = nn_impl.weighted_moments(inputs, axes, batch_weights, keepdims=True)
    else:
        mean, variance = nn_impl.weighted_moments(inputs, axes, batch_weights)
    if first:
        mean, variance = array_ops.reshape(mean, [-1]), array_ops.reshape(variance, [-1])
    return mean, variance
