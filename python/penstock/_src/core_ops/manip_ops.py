"""roll."""
from penstock._src.graph import gen

__all__ = ["roll"]


def roll(input, shift, axis, name=None):
    """Shifts along axes; what falls out at one end comes in at the other."""
    return gen.roll(input, shift, axis, name=name)
