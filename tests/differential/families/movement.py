"""Operations that move values: shapes, slices, concatenation, padding, gathering."""

from . import family
from .elementwise import pair


def known(shape):
    return [i for i, d in enumerate(shape) if d is not None]


@family(6)
def shape(g):
    a = g.pick()
    if a is None:
        return None
    way = g.random.random()
    if way < 0.35 and a.rank > 1:
        order = list(range(a.rank))
        g.random.shuffle(order)
        return g.emit(f"tf.transpose({a.name}, {order})", a.dtype, [a.shape[i] for i in order])
    if way < 0.6:
        if None in a.shape:
            rest = [d for d in a.shape if d is not None]
            if 0 in rest:
                return None
            return g.emit(f"tf.reshape({a.name}, {[-1] + regroup(g, rest)})", a.dtype, [None] + regroup_again(g))
        shape = regroup(g, list(a.shape))
        return g.emit(f"tf.reshape({a.name}, {shape})", a.dtype, shape)
    if way < 0.8:
        axis = g.random.randint(0, a.rank)
        return g.emit(f"tf.expand_dims({a.name}, {axis})", a.dtype, a.shape[:axis] + (1,) + a.shape[axis:])
    ones = [i for i, d in enumerate(a.shape) if d == 1]
    if not ones:
        return None
    axis = g.random.choice(ones)
    return g.emit(f"tf.squeeze({a.name}, [{axis}])", a.dtype, a.shape[:axis] + a.shape[axis + 1 :])


def regroup(g, dims):
    """Another shape of as many elements: two dimensions multiplied, or one taken apart, or the order changed."""
    dims = list(dims)
    way = g.random.random()
    if way < 0.5 and len(dims) > 1:
        i = g.random.randrange(len(dims) - 1)
        dims[i : i + 2] = [dims[i] * dims[i + 1]]
    elif dims and max(dims) > 1:
        i = dims.index(max(dims))
        factor = next((f for f in (2, 3, 5, 7) if dims[i] % f == 0), dims[i])
        dims[i : i + 1] = [factor, dims[i] // factor] if g.random.random() < 0.5 else [dims[i] // factor, factor]
    else:
        dims = dims + [1]
    g.regrouped = dims
    return dims


def regroup_again(g):
    return g.regrouped


@family(6)
def slices(g):
    a = g.pick(lambda v: v.rank > 0 and 0 not in v.shape)
    if a is None:
        return None
    parts, out = [], []
    for d in a.shape:
        way = g.random.random()
        if d is None or way < 0.4:
            parts.append("::-1" if way < 0.05 else ":")
            out.append(d)
        elif way < 0.5:
            parts.append(str(g.random.randrange(d)))
        else:
            start, stop = sorted(g.random.sample(range(d + 1), 2))
            step = g.random.choice([1, 1, 1, 2, 3])
            if g.random.random() < 0.12:
                parts.append(f"{stop - 1}:{start - 1 if start else ''}:-{step}")
            else:
                parts.append(f"{start}:{stop}" + (f":{step}" if step > 1 else ""))
            out.append(-(-(stop - start) // step))
    if g.random.random() < 0.1:
        parts.insert(0, "tf.newaxis")
        out.insert(0, 1)
    return g.emit(f"{a.name}[{', '.join(parts)}]", a.dtype, out)


@family(5)
def join(g):
    found = pair(g, g.random.choices(["F", "int32", "bool", "C"], [10, 1, 1, 1])[0], same=True)
    if found is None or found[0].shape != found[1].shape:
        return None
    a, b, shape = found
    names = [a.name, b.name] + ([a.name] if g.random.random() < 0.3 else [])
    axes = known(shape)
    if axes and g.random.random() < 0.6:
        axis = g.random.choice(axes)
        joined = shape[:axis] + (shape[axis] * len(names),) + shape[axis + 1 :]
        how = f"tf.concat([{', '.join(names)}], {axis})"
    else:
        axis = g.random.randint(0, len(shape))
        joined = shape[:axis] + (len(names),) + shape[axis:]
        how = f"tf.stack([{', '.join(names)}], axis={axis})"
    return g.emit(how, a.dtype, joined) if g.fits(joined) else None


@family(4)
def parts(g):
    a = g.pick(
        lambda v: any(d is not None and d > 1 for d in v.shape), dtype=g.random.choice(["F", "F", "F", "int32", "C"])
    )
    if a is None:
        return None
    axis = g.random.choice([i for i, d in enumerate(a.shape) if d is not None and d > 1])
    d = a.shape[axis]
    if g.random.random() < 0.4 and d <= 9:
        return g.emit(
            f"tf.unstack({a.name}, {d}, {axis})[{g.random.randrange(d)}]", a.dtype, a.shape[:axis] + a.shape[axis + 1 :]
        )
    first = g.random.randint(0, d)
    which = g.random.randrange(2)
    size = d - first if which else first
    return g.emit(
        f"tf.split({a.name}, [{first}, {d - first}], axis={axis})[{which}]",
        a.dtype,
        a.shape[:axis] + (size,) + a.shape[axis + 1 :],
    )


@family(4)
def pad(g):
    a = g.pick(lambda v: v.rank > 0 and 0 not in v.shape, dtype=g.random.choice(["F", "F", "F", "int32", "C"]))
    if a is None:
        return None
    mode = g.random.choice(["CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"]) if a.dtype != "C" else "CONSTANT"
    if mode == "REFLECT" and None in a.shape and 0 in g.runs:
        return None  # Refused where it runs, and an unused one runs in eager mode only.
    paddings, out = [], []
    for d in a.shape:
        most = 2 if mode == "CONSTANT" else 0 if d is None else min(2, d - 1 if mode == "REFLECT" else d)
        left, right = (0, 0) if d is None else (g.random.randint(0, most), g.random.randint(0, most))
        paddings.append([left, right])
        out.append(None if d is None else d + left + right)
    if not g.fits(out):
        return None
    value = g.random.choice(["", ", constant_values=2"]) if mode == "CONSTANT" and a.dtype != "C" else ""
    return g.emit(f"tf.pad({a.name}, {paddings}, mode='{mode}'{value})", a.dtype, out)


@family(5)
def gather(g):
    a = g.pick(
        lambda v: any(d not in (None, 0) for d in v.shape), dtype=g.random.choice(["F", "F", "F", "int32", "bool"])
    )
    if a is None:
        return None
    axis = g.random.choice([i for i, d in enumerate(a.shape) if d not in (None, 0)])
    d = a.shape[axis]
    ids = g.pick(lambda v: v.dtype in ("int32", "int64") and v.rank < 3)
    if ids is not None and g.random.random() < 0.6:
        indices, shape = f"tf.math.floormod({ids.name}, {d})", ids.shape
        if None in shape and None in a.shape:
            return None
    else:
        shape = (g.random.randint(1, 5),)
        indices = str([g.random.randrange(d) for _ in range(shape[0])])
    out = a.shape[:axis] + shape + a.shape[axis + 1 :]
    return g.emit(f"tf.gather({a.name}, {indices}, axis={axis})", a.dtype, out) if g.fits(out) else None


@family(4)
def repeat(g):
    a = g.pick(lambda v: v.rank > 0)
    if a is None:
        return None
    way = g.random.random()
    axes = known(a.shape)
    if way < 0.35:
        times = [1 if d is None else g.random.choice([1, 1, 2, 3]) for d in a.shape]
        out = [d if d is None else d * t for d, t in zip(a.shape, times)]
        return g.emit(f"tf.tile({a.name}, {times})", a.dtype, out) if g.fits(out) else None
    if way < 0.5:
        axis = g.random.randrange(a.rank)
        return g.emit(f"tf.reverse({a.name}, [{axis}])", a.dtype, a.shape)
    if way < 0.65:
        axis = g.random.randrange(a.rank)
        return g.emit(f"tf.roll({a.name}, {g.random.randint(-3, 3)}, {axis})", a.dtype, a.shape)
    if way < 0.85:
        out = (g.random.choice([1, 2, 3]),) + a.shape
        if None in a.shape or not g.fits(out):
            return None
        return g.emit(f"tf.broadcast_to({a.name}, {list(out)})", a.dtype, out)
    if not axes:
        return None
    axis = g.random.choice(axes)
    out = a.shape[:axis] + (a.shape[axis] * 2,) + a.shape[axis + 1 :]
    return g.emit(f"tf.repeat({a.name}, 2, axis={axis})", a.dtype, out) if g.fits(out) else None


@family(3)
def scatter(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] not in (None, 0) and None not in v.shape, dtype="F")
    if a is None:
        return None
    rows = a.shape[0] + g.random.randint(0, 3)
    way = g.random.random()
    ids = [[g.random.randrange(rows)] for _ in range(a.shape[0])]
    if way < 0.5:
        return g.emit(f"tf.scatter_nd({ids}, {a.name}, {[rows, *a.shape[1:]]})", "F", (rows,) + a.shape[1:])
    base = g.pick(lambda v: v.rank == a.rank and v.shape[1:] == a.shape[1:] and v.shape[0] not in (None, 0), dtype="F")
    ids = g.random.sample(range(base.shape[0]), min(a.shape[0], base.shape[0]))
    how = g.random.choice(["tensor_scatter_nd_update", "tensor_scatter_nd_add", "tensor_scatter_nd_sub"])
    return g.emit(f"tf.{how}({base.name}, {[[i] for i in ids]}, {a.name}[:{len(ids)}])", "F", base.shape)


@family(2)
def from_indices(g):
    ids = g.pick(lambda v: v.dtype in ("int32", "int64") and v.rank < 3)
    if ids is None:
        return None
    depth = g.random.choice([1, 2, 3, 5])
    out = ids.shape + (depth,)
    return g.emit(f"tf.one_hot({ids.name}, {depth}, dtype=F)", "F", out) if g.fits(out) else None


@family(2)
def shape_values(g):
    a = g.pick(lambda v: v.rank > 0, dtype="F")
    if a is None:
        return None
    if g.random.random() < 0.4:
        return g.emit(f"tf.shape({a.name})", "int32", (a.rank,))
    axis = g.random.randrange(a.rank)
    return g.emit(
        g.random.choice(
            [
                f"{a.name} * tf.cast(tf.shape({a.name})[{axis}], F)",
                f"{a.name} + tf.cast(tf.size({a.name}), F)",
                f"tf.reshape({a.name}, tf.shape({a.name}))",
                f"tf.fill(tf.shape({a.name}), tf.reduce_sum({a.name}))",
                f"{a.name} + tf.zeros(tf.shape({a.name}), F)",
            ]
        ),
        "F",
        a.shape,
    )
