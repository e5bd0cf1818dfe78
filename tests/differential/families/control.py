"""Branches, loops, and functions."""

from . import family
from ..program import Value


def predicate(g):
    a = g.pick(dtype="bool", shape=())
    if a is not None and g.random.random() < 0.5:
        return a.name
    a = g.pick(lambda v: 0 not in v.shape, dtype="F")
    return a and f"tf.reduce_sum({a.name}) > {g.random.choice([0, 0, -1, 2])}"


def branch(g, result):
    """A function without parameters that gives a value of the shape and type."""

    def write(_):
        g.statements(1, 4)
        return [g.result(result.shape), g.result(result.shape)]

    return g.block([], write)


@family(4, leaf=False)
def cond(g):
    result = g.pick(dtype="F")
    if result is None:
        return None
    p = predicate(g)
    if p is None:
        return None
    branches = [branch(g, result) for _ in range(2)]
    values = [Value(g.name("t"), "F", result.shape) for _ in range(2)]
    names = ", ".join(b.name for b in branches)
    return g.emit_many(f"tf.cond({p}, {names})", values, branches)


@family(2, leaf=False)
def switch_case(g):
    result = g.pick(dtype="F")
    index = g.pick(lambda v: v.dtype == "int32" and v.shape == ())
    if result is None:
        return None
    choice = f"tf.math.floormod({index.name}, 3)" if index else None
    if choice is None:
        a = g.pick(lambda v: 0 not in v.shape, dtype="F")
        choice = a and f"tf.cast(tf.reduce_mean(tf.sin({a.name})) * 2 + 1.2, tf.int32)"
    if choice is None or g.special:
        return None
    branches = [branch(g, result) for _ in range(3)]
    values = [Value(g.name("t"), "F", result.shape) for _ in range(2)]
    names = ", ".join(b.name for b in branches)
    return g.emit_many(f"tf.switch_case({choice}, [{names}])", values, branches)


@family(4, leaf=False)
def while_loop(g):
    count = g.random.choice([0, 1, 2, 3, 3])
    state = [g.pick(dtype="F") for _ in range(g.random.choice([1, 1, 2]))]
    if state[0] is None:
        return None
    index = Value("", "int32", ())

    def body(parameters):
        i, *values = parameters
        g.statements(1, 4)
        out = [f"{i.name} + 1"]
        for v in values:
            out.append(f"tf.ensure_shape(tf.tanh({g.result(v.shape)}) + 0.5 * {v.name}, {v.name}.shape)")
        return out

    def test(parameters):
        i, *values = parameters
        if g.random.random() < 0.3 and 0 not in values[0].shape:
            return [f"tf.logical_and({i.name} < {count}, tf.reduce_sum({values[0].name}) < 50)"]
        return [f"{i.name} < {count}"]

    blocks = [g.block([index, *state], test, single=True), g.block([index, *state], body)]
    values = [Value(g.name("t"), "F", v.shape) for v in state]
    more = g.random.choice(["", "", ", parallel_iterations=1", f", maximum_iterations={max(count - 1, 0)}"])
    return g.emit_many(
        f"tf.while_loop({blocks[0].name}, {blocks[1].name}, "
        f"[tf.constant(0), {', '.join(v.name for v in state)}]{more})[1:]",
        values,
        blocks,
    )


@family(2, leaf=False)
def array_loop(g):
    """A loop that writes each iteration's value to a TensorArray."""
    count = g.random.choice([1, 2, 4])
    a = g.pick(lambda v: g.fits((count, *v.shape)), dtype="F")
    if a is None:
        return None
    array = g.name("a")

    def body(parameters):
        i, value = parameters
        g.statements(1, 3)
        return [
            f"{i.name} + 1",
            f"tf.ensure_shape(tf.sin({g.result(value.shape)} + {value.name}), {value.name}.shape)",
            f"{array}.write({i.name}, {g.result(value.shape)})",
        ]

    def test(parameters):
        return [f"{parameters[0].name} < {count}"]

    blocks = [g.block([Value("", "int32", ()), a], test, single=True), g.block([Value("", "int32", ()), a], body)]
    for block in blocks:
        block.parameters.append(array if block is blocks[1] else g.name("a"))
    shape = (count, *a.shape)
    loop = (
        f"tf.while_loop({blocks[0].name}, {blocks[1].name}, [tf.constant(0), {a.name}, "
        f"tf.TensorArray(F, size={count}, element_shape={a.name}.shape)])"
    )
    return g.emit(f"tf.ensure_shape({loop}[2].stack(), {list(shape)})", "F", shape, blocks)


@family(2, leaf=False)
def map_rows(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] not in (None, 0) and v.shape[0] < 10, dtype="F")
    if a is None:
        return None
    row = Value("", "F", a.shape[1:])
    way = g.random.choice(["map", "scan", "fold"])

    def write(parameters):
        g.statements(1, 3)
        value = g.result(row.shape)
        if way == "map":
            return [f"({value}) * {parameters[0].name}"]
        return [f"tf.sin({value} + {parameters[0].name} * {parameters[1].name})"]

    block = g.block([row] if way == "map" else [row, row], write, single=True)
    if way == "map":
        return g.emit(f"tf.map_fn({block.name}, {a.name})", "F", a.shape, [block])
    initial = g.pick(dtype="F", shape=row.shape)
    if initial is None:
        return None
    if way == "scan":
        return g.emit(f"tf.scan({block.name}, {a.name}, {initial.name})", "F", a.shape, [block])
    return g.emit(f"tf.foldl({block.name}, {a.name}, {initial.name})", "F", row.shape, [block])


@family(4, leaf=False)
def function(g):
    inputs = [g.pick(dtype="F") for _ in range(g.random.choice([1, 2, 2]))]
    if inputs[0] is None:
        return None

    made = []

    def write(parameters):
        g.statements(1, 5)
        made.extend(g.random.sample([v for v in g.scope.own], min(2, len(g.scope.own))))
        return [v.name for v in made]

    block = g.block(inputs, write, decorator="@function")
    values = [Value(g.name("t"), v.dtype, v.shape) for v in made]
    call = f"{block.name}({', '.join(v.name for v in inputs)})"
    other = [g.pick(dtype="F", shape=v.shape) for v in inputs]
    if g.random.random() < 0.3 and not any(v.dtype == "bool" for v in made):  # Two calls, one of what the other gives.
        names = ", ".join(f"tf.sin({v.name})" for v in other)
        call = f"[p + q for p, q in zip({call}, {block.name}({names}))]"
    return g.emit_many(call, values, [block])
