"""Dense, Dropout and Flatten, as classes and as functions."""
import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.layers import base
from penstock._src.layers import identifiers
from penstock._src.layers import utils
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation


class Dense(base.Layer):
    """activation(inputs * kernel + bias) over the last dimension of the input."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        self.activation = identifiers.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.supports_masking = True
        self.input_spec = base.InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError("Unable to build `Dense` layer with non-floating point dtype %s" % (dtype,))
        depth = tensor_shape.dimension_value(tensor_shape.TensorShape(input_shape)[-1])
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = base.InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel", shape=[depth, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint, dtype=self.dtype, trainable=True)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer, regularizer=self.bias_regularizer,
                constraint=self.bias_constraint, dtype=self.dtype, trainable=True)
        self.built = True

    def call(self, inputs):
        rank = len(inputs.shape)
        if rank > 2:
            outputs = math_ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape(inputs.shape.as_list()[:-1] + [self.units])
        elif isinstance(inputs, sparse_tensor.SparseTensor):
            from penstock._src.ops.sparse import sparse_ops
            outputs = sparse_ops.sparse_tensor_dense_matmul(inputs, self.kernel)
        else:
            outputs = gen.mat_mul(math_ops.cast(inputs, self.dtype), self.kernel)
        if self.use_bias:
            outputs = nn_activation.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        shape = tensor_shape.TensorShape(input_shape).with_rank_at_least(2)
        if tensor_shape.dimension_value(shape[-1]) is None:
            raise ValueError("The innermost dimension of input_shape must be defined, but saw: %s" % input_shape)
        return shape[:-1].concatenate(self.units)


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None,
          bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
          activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
          reuse=None):
    """activation(inputs x kernel + bias): a new Dense layer, applied to `inputs`.

    inputs: [..., features]; the result is [..., units]. activation: a function; None leaves the sum as it is.
    The variables "kernel" and "bias" are made in the variable scope `name`; `reuse` takes those there.
    ValueError: the number of features is not known.
    """
    layer = Dense(units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                  bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                  bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                  kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                  _scope=name, _reuse=reuse)
    return layer.apply(inputs)


class Dropout(base.Layer):
    """In training, sets elements to zero with probability `rate` and scales the others up; else the identity."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs):
        if self.noise_shape is None:
            return None
        actual = array_ops.shape(inputs)
        return ops.convert_to_tensor([actual[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs, training=False):

        def dropped_inputs():
            return nn_activation.dropout(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed,
                                         rate=self.rate)

        return utils.smart_cond(training, dropped_inputs, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """A new Dropout layer, applied to `inputs`: drops elements only if `training`, a bool or a bool tensor, is true.

    rate: the fraction that is dropped; the others are divided by 1 - rate. noise_shape: as in `tf.nn.dropout`; None in
      it is the inputs' size.
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


class Flatten(base.Layer):
    """[batch, ...] -> [batch, everything else]."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = utils.normalize_data_format(data_format)
        self.input_spec = base.InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array_ops.transpose(inputs, perm=[0] + list(range(2, rank)) + [1])
        shape = inputs.shape
        batch = tensor_shape.dimension_value(shape[0]) or array_ops.shape(inputs)[0]
        outputs = array_ops.reshape(inputs, (batch, -1))
        outputs.set_shape(self.compute_output_shape(shape))
        return outputs

    def compute_output_shape(self, input_shape):
        sizes = tensor_shape.TensorShape(input_shape).as_list()
        rest = int(np.prod(sizes[1:])) if all(sizes[1:]) else None
        return tensor_shape.TensorShape([sizes[0], rest])


def flatten(inputs, name=None, data_format="channels_last"):
    """A new Flatten layer, applied to `inputs`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)


FullyConnected = Dense
fully_connected = dense
