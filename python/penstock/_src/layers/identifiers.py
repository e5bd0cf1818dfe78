"""Activations and initializers that a layer is given by name: tf.layers.dense(x, 10, activation="relu")."""
import inspect

from penstock._src.graph import gen
from penstock._src.layers import initializers
from penstock._src.core_ops import clip_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation


def _linear(x):
    return x


def hard_sigmoid(x):
    """0.2 * x + 0.5, cut to [0, 1]."""
    return clip_ops.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


_ACTIVATIONS = {
    "elu": lambda: gen.elu,
    "exponential": lambda: gen.exp,
    "hard_sigmoid": lambda: hard_sigmoid,
    "linear": lambda: _linear,
    "relu": lambda: gen.relu,
    "selu": lambda: gen.selu,
    "sigmoid": lambda: math_ops.sigmoid,
    "softmax": lambda: nn_activation.softmax,
    "softplus": lambda: gen.softplus,
    "softsign": lambda: gen.softsign,
    "tanh": lambda: math_ops.tanh,
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
    if isinstance(value, str) and value.lower() in initializers.BY_NAME:
        return initializers.BY_NAME[value.lower()]()
    if isinstance(value, str):
        raise ValueError("Unknown initializer: " + value)
    raise ValueError("Could not interpret initializer identifier: " + str(value))
