"""One return for a function."""
from penstock._src.autograph.converters import flags


def transform(node, ctx, default_to_null_return=True):
    """A tree whose functions return once, at their end.

    default_to_null_return: one that may come to its end without a value gives None (through `ag__`, which the code must
    be given: impl.generated); else it must return on all ways. NotImplementedError if a for loop with an else has both
    break and return.
    """
    return flags.transform(node, ctx, ("Return",), default_to_null_return)
