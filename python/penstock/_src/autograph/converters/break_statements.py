"""break as a flag."""
from penstock._src.autograph.converters import flags


def transform(node, ctx):
    """A tree without break: a flag ends the loop, and what follows where it is set is guarded by it."""
    return flags.transform(node, ctx, ("Break",))
