"""tf.keras.initializers: tf.initializers, but the random ones draw from narrower distributions by default."""
from penstock._src.graph import dtypes
from penstock._src.ops.state import init_ops


class RandomNormal(init_ops.RandomNormal):
    """Normal numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(init_ops.RandomUniform):
    """Uniform numbers in [minval, maxval)."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(init_ops.TruncatedNormal):
    """Normal numbers within two standard deviations."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


BY_NAME = {
    "constant": init_ops.Constant,
    "glorot_normal": init_ops.GlorotNormal,
    "glorot_uniform": init_ops.GlorotUniform,
    "he_normal": init_ops.he_normal,
    "he_uniform": init_ops.he_uniform,
    "identity": init_ops.Identity,
    "lecun_normal": init_ops.lecun_normal,
    "lecun_uniform": init_ops.lecun_uniform,
    "normal": RandomNormal,
    "one": init_ops.Ones,
    "ones": init_ops.Ones,
    "orthogonal": init_ops.Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform,
    "variance_scaling": init_ops.VarianceScaling,
    "zero": init_ops.Zeros,
    "zeros": init_ops.Zeros,
}
_CLASSES = {made.__name__: made for made in BY_NAME.values()}


def serialize(initializer):
    """{"class_name": ..., "config": ...} of an initializer."""
    return {"class_name": type(initializer).__name__, "config": initializer.get_config()}


def deserialize(config, custom_objects=None):
    """An initializer from what `serialize` gave. ValueError for an unknown class."""
    name = config["class_name"]
    known = {**_CLASSES, **(custom_objects or {})}
    if name not in known:
        raise ValueError("Unknown initializer:" + name)
    return known[name].from_config(config["config"])


def get(identifier):
    """An initializer by name, class or `serialize`'s form; one that is given, and None, come back as they are.

    ValueError for anything else.
    """
    from penstock._src.layers import identifiers
    return deserialize(identifier) if isinstance(identifier, dict) else identifiers.initializer(identifier)
