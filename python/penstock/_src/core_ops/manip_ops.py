"""roll."""
from penstock._src.graph import gen

__all__ = ["roll"]


def roll(input, shift, axis, name=None):
    """Shifts along axes; elements that leave at one end enter at the other."""
    return gen.roll(input, shift, axis, name=name)
