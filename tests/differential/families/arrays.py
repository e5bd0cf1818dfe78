"""TensorArrays outside of loops, and calls that choose among functions."""

from . import family
from .control import branch, predicate
from ..program import Value


@family(2)
def tensor_array(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] not in (None, 0) and v.shape[0] < 10, dtype="F")
    if a is None:
        return None
    n, rest = a.shape[0], a.shape[1:]
    array = f"tf.TensorArray(F, size={n}, element_shape={a.name}.shape[1:], clear_after_read=False)"
    way = g.random.random()
    if way < 0.3:
        # Each once: the gradient by a list, in functions, keeps the last of equal places.
        ids = g.random.sample(range(n), g.random.randint(1, min(n, 4)))
        return g.emit(f"{array}.unstack({a.name}).gather({ids})", "F", (len(ids),) + rest)
    if way < 0.5:
        return g.emit(
            f"tf.TensorArray(F, size={n}, clear_after_read=False).unstack({a.name}).read({g.random.randrange(n)})",
            "F",
            rest,
        )
    if way < 0.7:
        ids = list(range(n))
        g.random.shuffle(ids)
        return g.emit(f"tf.ensure_shape({array}.scatter({ids}, {a.name}).stack(), {a.name}.shape)", "F", a.shape)
    first = g.random.randint(0, n)
    if way < 0.85 and None not in rest:
        joined = f"tf.TensorArray(F, size=2, infer_shape=False).split({a.name}, [{first}, {n - first}]).concat()"
        return g.emit(f"tf.ensure_shape({joined}, {list(a.shape)})", "F", a.shape)
    if not rest or None in rest:
        return None
    out = (n * rest[0],) + rest[1:]
    return g.emit(f"tf.ensure_shape({array}.unstack({a.name}).concat(), {list(out)})", "F", out)


@family(2, leaf=False)
def case(g):
    result = g.pick(dtype="F")
    tests = result and [predicate(g) for _ in range(2)]
    if not tests or None in tests:
        return None
    branches = [branch(g, result) for _ in range(3)]
    one, two, other = (b.name for b in branches)
    values = [Value(g.name("t"), "F", result.shape) for _ in range(2)]
    text = f"tf.case([({tests[0]}, {one}), ({tests[1]}, {two})], default={other})"
    return g.emit_many(text, values, branches)


@family(1, leaf=False)
def vectorized(g):
    """A function of each row, all rows at once."""
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] not in (None, 0), dtype="F")
    if a is None or g.depth:
        return None

    def write(parameters):
        x = parameters[0]
        g.statements(1, 2, {"unary", "binary", "reduce"})
        return [f"tf.sin({x.name}) + 0.1 * tf.reduce_sum({g.result(x.shape)})"]

    block = g.block([Value("", "F", a.shape[1:])], write, closed=True, single=True)
    return g.emit(f"tf.vectorized_map({block.name}, {a.name})", "F", a.shape, [block])
