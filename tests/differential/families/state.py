"""Updates of variables, ordered behind all earlier reads and before all later ones by control dependencies."""

from ..program import Statement

from . import family


def read(v):
    """A value computed from the variable: a fetched reference variable itself would show later updates."""
    return f"{v.name}.read_value() * 0.5"


@family(4)
def update(g):
    if g.depth or not g.program.variables:
        return None
    v = g.random.choice(g.program.variables)
    a = g.pick(dtype="F", shape=v.shape)
    # What has read or changed the variable so far; statements are in this order.
    earlier = [s.targets[0] for s in g.scope.block.statements if v.name in s.names()]
    if v.rank and v.shape[0] > 0 and g.random.random() < 0.3:
        ids = [g.random.randrange(v.shape[0]) for _ in range(2)]
        how = g.random.choice(["scatter_add", "scatter_sub"])
        text = f"tf.compat.v1.{how}({v.name}, {ids}, tf.gather(tf.sin({a.name}), {ids}))"
    else:
        text = f"{v.name}.{g.random.choice(['assign', 'assign_add', 'assign_sub'])}(tf.sin({a.name}))"
    done = g.name("t")
    g.add(Statement([done], text, [], earlier), [])
    return g.emit(read(v), "F", v.shape, after=[done])
