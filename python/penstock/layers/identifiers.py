"""Activations and initializers that a layer is given by name: tf.layers.dense(x, 10, activation="relu")."""
import inspect

from penstock.framework import gen
from penstock.ops import clip_ops
from penstock.ops import init_ops
from penstock.ops import math_ops
from penstock.ops import nn_ops


def _linear(x):
    return x


def _hard_sigmoid(x):
    """0.2 * x + 0.5, cut to [0, 1]."""
    return clip_ops.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


_ACTIVATIONS = {
    "elu": lambda: gen.elu,
    "exponential": lambda: math_ops.exp,
    "hard_sigmoid": lambda: _hard_sigmoid,
    "linear": lambda: _linear,
    "relu": lambda: nn_ops.relu,
    "selu": lambda: gen.selu,
    "sigmoid": lambda: math_ops.sigmoid,
    "softmax": lambda: nn_ops.softmax,
    "softplus": lambda: gen.softplus,
    "softsign": lambda: gen.softsign,
    "tanh": lambda: math_ops.tanh,
}

# By name, random initializers draw from narrower distributions than tf.random_normal_initializer() does.
_INITIALIZERS = {
    "constant": init_ops.Constant,
    "glorot_normal": init_ops.GlorotNormal,
    "glorot_uniform": init_ops.GlorotUniform,
    "he_normal": init_ops.he_normal,
    "he_uniform": init_ops.he_uniform,
    "identity": init_ops.Identity,
    "lecun_normal": init_ops.lecun_normal,
    "lecun_uniform": init_ops.lecun_uniform,
    "normal": lambda: init_ops.RandomNormal(0.0, 0.05),
    "one": init_ops.Ones,
    "ones": init_ops.Ones,
    "orthogonal": init_ops.Orthogonal,
    "random_normal": lambda: init_ops.RandomNormal(0.0, 0.05),
    "random_uniform": lambda: init_ops.RandomUniform(-0.05, 0.05),
    "truncated_normal": lambda: init_ops.TruncatedNormal(0.0, 0.05),
    "uniform": lambda: init_ops.RandomUniform(-0.05, 0.05),
    "variance_scaling": init_ops.VarianceScaling,
    "zero": init_ops.Zeros,
    "zeros": init_ops.Zeros,
}


def activation(value):
    """A function, or the function of that name; None stays None."""
    if value is None or callable(value):
        return value
    if value in _ACTIVATIONS:
        return _ACTIVATIONS[value]()
    raise ValueError("Unknown activation function:" + str(value))


def initializer(value):
    """An initializer, or the one of that name (or Python class name, as ZerosInitializer); None stays None."""
    if value is None or callable(value) and not inspect.isclass(value):
        return value
    if inspect.isclass(value):
        return value()
    if isinstance(value, str) and value.lower() in _INITIALIZERS:
        return _INITIALIZERS[value.lower()]()
    if isinstance(value, str):
        raise ValueError("Unknown initializer: " + value)
    raise ValueError("Could not interpret initializer identifier: " + str(value))
