"""tf.keras.regularizers: penalties on the size of weights."""
from penstock._src.graph import constant_op
from penstock._src.core_ops import math_ops


class Regularizer:
    """A function of weights whose value is added to the loss."""

    def __call__(self, x):
        return 0.

    @classmethod
    def from_config(cls, config):
        """The regularizer with that configuration."""
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of sizes plus `l2` times the sum of squares."""

    def __init__(self, l1=0., l2=0.):  # noqa: E741
        self.l1, self.l2 = float(l1), float(l2)

    def __call__(self, x):
        if not self.l1 and not self.l2:
            return constant_op.constant(0.)
        penalty = 0.
        if self.l1:
            penalty += math_ops.reduce_sum(self.l1 * math_ops.abs(x))
        if self.l2:
            penalty += math_ops.reduce_sum(self.l2 * math_ops.square(x))
        return penalty

    def get_config(self):
        """Its arguments."""
        return {"l1": self.l1, "l2": self.l2}


def l1(l=0.01):  # noqa: E741
    """L1L2 of sizes only."""
    return L1L2(l1=l)


def l2(l=0.01):  # noqa: E741
    """L1L2 of squares only."""
    return L1L2(l2=l)


def l1_l2(l1=0.01, l2=0.01):
    """L1L2."""
    return L1L2(l1=l1, l2=l2)


_BY_NAME = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}


def serialize(regularizer):
    """{"class_name": ..., "config": ...} of a regularizer."""
    return {"class_name": type(regularizer).__name__, "config": regularizer.get_config()}


def deserialize(config, custom_objects=None):
    """A regularizer from what `serialize` gave, or by its name. ValueError for an unknown one."""
    name = config if isinstance(config, str) else config["class_name"]
    known = {**_BY_NAME, **(custom_objects or {})}
    if name not in known:
        raise ValueError("Unknown regularizer:" + name)
    return known[name]() if isinstance(config, str) else known[name].from_config(config["config"])


def get(identifier):
    """A regularizer by name or `serialize`'s form; a function that is given, and None, come back as they are.

    ValueError for anything else.
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    raise ValueError("Could not interpret regularizer identifier:", identifier)
