"""continue as a flag."""
from penstock._src.autograph.converters import flags


def transform(node, ctx):
    """A tree without continue: what follows in the loop's body is guarded by a flag."""
    return flags.transform(node, ctx, ("Continue",))
