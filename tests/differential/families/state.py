"""Updates of variables, ordered behind all earlier reads and before all later ones by control dependencies."""

from ..program import Statement

from . import family

# The numbers of optimizers' ops, and how many variables each has.
OPTIMIZERS = {
    "GradientDescent": (1, "0.1"),
    "Momentum": (2, "0.1, 0.9"),
    "Adagrad": (2, "0.1"),
    "Adam": (3, "0.9, 0.99, 0.1, 0.9, 0.99, 0.01"),
    "RMSProp": (3, "0.1, 0.9, 0.5, 0.01"),
    "Ftrl": (3, "0.1, 0.01, 0.02, -0.5"),
    "Adadelta": (3, "0.1, 0.9, 0.01"),
    "ProximalAdagrad": (2, "0.1, 0.01, 0.02"),
    "AddSign": (2, "0.1, 1.0, 0.9, 0.9"),
}
SPARSE = {"Momentum", "Adagrad", "RMSProp", "Ftrl", "Adadelta", "ProximalAdagrad"}
SUMS = ["scatter_add", "scatter_sub", "scatter_nd_add"]
OTHER_SCATTERS = ["scatter_update", "scatter_max", "scatter_min", "scatter_mul"]


def read(v):
    """A value computed from the variable: a fetched reference variable itself would show later updates."""
    return f"{v.name}.read_value() * 0.5"


def earlier(g, *variables):
    """What has read or changed the variables so far; statements are in this order."""
    return [s.targets[0] for s in g.scope.block.statements if any(v.name in s.names() for v in variables)]


def change(g, text, *variables, after=()):
    """Adds a statement that changes the variables; its name."""
    done = g.name("t")
    g.add(Statement([done], text, [], earlier(g, *variables) + list(after)), [])
    return done


@family(4)
def update(g):
    if g.depth or not g.program.variables:
        return None
    v = g.random.choice(g.program.variables)
    a = g.pick(dtype="F", shape=v.shape)
    if v.rank and v.shape[0] > 0 and g.random.random() < 0.4:
        how = g.random.choice(SUMS + OTHER_SCATTERS)
        ids = [g.random.randrange(v.shape[0]) for _ in range(g.random.randint(1, 3))]
        if how in OTHER_SCATTERS:
            ids = sorted(set(ids), key=ids.index)
        where = [[i] for i in ids] if how == "scatter_nd_add" else ids
        text = f"tf.compat.v1.{how}({v.name}, {where}, tf.gather(tf.sin({a.name}), {ids}))"
    elif v.rank and v.shape[0] > 1 and g.random.random() < 0.15:
        text = f"{v.name}[1:].assign(tf.sin({a.name})[1:])"
    else:
        text = f"{v.name}.{g.random.choice(['assign', 'assign_add', 'assign_sub'])}(tf.sin({a.name}))"
    return g.emit(read(v), "F", v.shape, after=[change(g, text, v)])


@family(3)
def optimizer(g):
    if g.depth or not g.program.variables:
        return None
    rule = g.random.choice(list(OPTIMIZERS))
    count, numbers = OPTIMIZERS[rule]
    first = g.random.choice(g.program.variables)
    while len(alike := [v for v in g.program.variables if v.shape == first.shape]) < count:
        g.new_variable(first.shape)
    variables = [first, *[v for v in alike if v is not first][: count - 1]]
    a = g.pick(dtype="F", shape=first.shape)
    for slot in variables[1:]:
        done = change(g, f"{slot.name}.assign(tf.abs({slot.name}.read_value()) + 0.1)", slot)
        g.emit(read(slot), "F", slot.shape, after=[done])
    indices, gradient = "None", f"tf.sin({a.name})"
    if rule in SPARSE and first.rank and first.shape[0] and g.random.random() < 0.4:
        ids = g.random.sample(range(first.shape[0]), g.random.randint(1, min(3, first.shape[0])))
        indices, gradient = f"tf.constant({ids})", f"tf.gather(tf.sin({a.name}), {ids})"
    nesterov = rule in ("Momentum", "Adam") and indices == "None" and g.random.random() < 0.5
    more = ", use_nesterov=True" if nesterov else ""
    names = ", ".join(v.name for v in variables)
    done = change(g, f"apply('{rule}', [{names}], {gradient}, {indices}, {numbers}{more})", *variables)
    for v in variables:
        value = g.emit(read(v), "F", v.shape, after=[done])
    return value
