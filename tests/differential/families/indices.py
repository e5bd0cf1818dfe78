"""Operations steered by indices: gathering, scattering, segments, partitions, searches."""

import math

from . import family
from .elementwise import broadcast, pair


def rows(g, **wanted):
    """A value with a known number of rows, at least one."""
    return g.pick(lambda v: v.rank > 0 and v.shape[0] not in (None, 0), **wanted)


def covering(g, count, size):
    """`size` numbers below `count`, each of which occurs."""
    ids = list(range(count)) + [g.random.randrange(count) for _ in range(size - count)]
    g.random.shuffle(ids)
    return ids


@family(3)
def gather_nd(g):
    a = g.pick(lambda v: v.rank > 1 and None not in v.shape and 0 not in v.shape)
    if a is None:
        return None
    batch = g.random.choice([0, 0, 1])
    depth = g.random.randint(1, a.rank - batch)
    lead = [a.shape[0]] * batch + [g.random.randint(0, 4) for _ in range(g.random.choice([1, 1, 2]))]
    out = (*lead, *a.shape[batch + depth :])
    if not g.fits(out):
        return None
    row = lambda: [g.random.randrange(d) for d in a.shape[batch : batch + depth]]
    indices = [row() for _ in range(math.prod(lead))]
    made = f"tf.reshape(tf.constant({indices}, tf.int32), {[*lead, depth]})"
    return g.emit(f"tf.gather_nd({a.name}, {made}, batch_dims={batch})", a.dtype, out)


@family(3)
def gather_batches(g):
    """One index or several for each row of the value."""
    a = g.pick(lambda v: v.rank > 1 and v.shape[1] not in (None, 0))
    ids = a and g.pick(lambda v: v.dtype in ("int32", "int64") and v.rank > 0 and v.shape[0] == a.shape[0])
    if ids is not None and ids.rank < 3:
        out = a.shape[:1] + ids.shape[1:] + a.shape[2:]
        made = f"tf.math.floormod({ids.name}, {a.shape[1]})"
    elif a is not None and a.shape[0] is not None:
        many = g.random.randint(1, 4)
        indices = [[g.random.randrange(a.shape[1]) for _ in range(many)] for _ in range(a.shape[0])]
        out = (a.shape[0], many) + a.shape[2:]
        made = f"tf.reshape(tf.constant({indices}, tf.int64), {[a.shape[0], many]})"
    else:
        return None
    return g.emit(f"tf.gather({a.name}, {made}, batch_dims=1)", a.dtype, out) if g.fits(out) else None


@family(3)
def scatter_elements(g):
    a = rows(g, dtype=g.random.choice(["F", "F", "F", "int32"]))
    if a is None or None in a.shape:
        return None
    depth = g.random.randint(1, a.rank)
    if 0 in a.shape[:depth]:
        return None
    count = g.random.randint(1, 5)
    how = g.random.choice(["add", "sub", "max", "min", "update"])
    if how == "add" or how == "sub":
        indices = [[g.random.randrange(d) for d in a.shape[:depth]] for _ in range(count)]
    else:  # Each place once: the gradients of equal extremes, and which update is last, are not defined.
        indices = sorted({tuple(g.random.randrange(d) for d in a.shape[:depth]) for _ in range(count)})
        indices = [list(i) for i in indices]
        g.random.shuffle(indices)
    made = f"tf.gather_nd(tf.reverse({a.name}, [0]), {indices})"
    if a.dtype == "F" and how in ("max", "min"):
        made = f"tf.cos({made})"
    return g.emit(f"tf.tensor_scatter_nd_{how}({a.name}, {indices}, {made})", a.dtype, a.shape)


@family(3)
def segment_extremes(g):
    a = rows(g, dtype=g.random.choice(["F", "F", "F", "int32"]))
    if a is None:
        return None
    count = g.random.randint(1, a.shape[0])
    ids = covering(g, count, a.shape[0])
    shape = (count,) + a.shape[1:]
    kinds = ["max", "min", "sum"] if a.dtype != "F" else ["max", "min", "prod", "sqrt_n"]
    how = g.random.choice(kinds)
    source = f"tf.cos({a.name})" if how == "prod" else a.name
    if g.random.random() < 0.4 and how != "sqrt_n":
        return g.emit(f"tf.math.segment_{how}({source}, {sorted(ids)})", a.dtype, shape)
    return g.emit(f"tf.math.unsorted_segment_{how}({source}, {ids}, {count})", a.dtype, shape)


@family(2)
def segments_by_value(g):
    """Segments chosen by a value, some of which are empty, some ids negative."""
    ids = g.pick(lambda v: v.dtype in ("int32", "int64") and v.rank > 0)
    a = ids and g.pick(lambda v: v.rank >= ids.rank and v.shape[: ids.rank] == ids.shape, dtype="F")
    if not a:
        return None
    count = g.random.choice([1, 2, 4, 11])
    shape = (count,) + a.shape[ids.rank :]
    how = g.random.choice(["sum", "mean", "sqrt_n"])
    segments = f"tf.math.floormod({ids.name}, {count + 1}) - 1"
    if not g.fits(shape):
        return None
    return g.emit(f"tf.math.unsorted_segment_{how}({a.name}, {segments}, {count})", "F", shape)


@family(2)
def sparse_segments(g):
    a = rows(g, dtype="F")
    if a is None or g.coarse:
        return None
    size = g.random.randint(1, 9)
    picked = [g.random.randrange(a.shape[0]) for _ in range(size)]
    ids = sorted(g.random.randrange(4) for _ in range(size))
    count = ids[-1] + 1 + g.random.choice([0, 0, 2])
    how = g.random.choice(["sum", "mean", "sqrt_n"])
    more = f", num_segments={count}" if count > ids[-1] + 1 else ""
    return g.emit(f"tf.sparse.segment_{how}({a.name}, {picked}, {ids}{more})", "F", (count,) + a.shape[1:])


@family(2)
def stitch(g):
    a = rows(g)
    if a is None:
        return None
    n = a.shape[0]
    order = list(range(n))
    g.random.shuffle(order)
    k = g.random.randint(0, n)
    ids = f"[tf.constant({order[:k]}, tf.int32), tf.constant({order[k:]}, tf.int32)]"
    how = g.random.choice(["dynamic_stitch", "raw_ops.ParallelDynamicStitch"])
    if how == "dynamic_stitch":
        return g.emit(f"tf.dynamic_stitch({ids}, [{a.name}[:{k}], {a.name}[{k}:]])", a.dtype, a.shape)
    return g.emit(f"tf.{how}(indices={ids}, data=[{a.name}[:{k}], {a.name}[{k}:]])", a.dtype, a.shape)


@family(2)
def reverse_sequence(g):
    a = g.pick(lambda v: v.rank > 1 and v.shape[0] not in (None, 0) and v.shape[1] is not None)
    if a is None:
        return None
    lengths = [g.random.randint(0, a.shape[1]) for _ in range(a.shape[0])]
    return g.emit(f"tf.reverse_sequence({a.name}, {lengths}, seq_axis=1, batch_axis=0)", a.dtype, a.shape)


@family(2)
def one_hot(g):
    ids = g.pick(lambda v: v.dtype in ("int32", "int64") and v.rank < 3)
    if ids is None:
        return None
    depth, axis = g.random.choice([0, 1, 2, 3, 17]), g.random.randint(0, ids.rank)
    out = ids.shape[:axis] + (depth,) + ids.shape[axis:]
    if not g.fits(out):
        return None
    dtype, on, off = g.random.choice([("F", "F", "1.5, -0.5"), ("int64", "tf.int64", "3, -1"), ("bool", "tf.bool", "")])
    values = ", ".join(f"tf.constant({x}, {on})" for x in off.split(", ")) if off else "True, False"
    return g.emit(f"tf.one_hot({ids.name}, {depth}, {values}, axis={axis}, dtype={on})", dtype, out)


@family(2)
def order(g):
    dtype = g.random.choice(["F", "F", "int32", "int64"])
    a = g.pick(lambda v: v.rank > 0 and v.shape[-1] not in (None, 0), dtype=dtype)
    if a is None or g.special or (g.coarse and a.dtype == "F"):
        return None
    way = g.random.random()
    direction = g.random.choice(["ASCENDING", "DESCENDING"])
    if way < 0.3:
        return g.emit(f"tf.argsort({a.name}, axis=-1, direction='{direction}', stable=True)", "int32", a.shape)
    if way < 0.5:
        axis = g.random.choice([i for i, d in enumerate(a.shape) if d is not None])
        return g.emit(f"tf.sort({a.name}, axis={axis}, direction='{direction}')", a.dtype, a.shape)
    if way < 0.75:
        k = g.random.randint(1, a.shape[-1])
        return g.emit(f"tf.math.top_k({a.name}, k={k})[1]", "int32", a.shape[:-1] + (k,))
    if a.dtype == "int64":
        return None
    n = g.random.randrange(a.shape[-1])
    reverse = g.random.random() < 0.5
    return g.emit(f"tf.raw_ops.NthElement(input={a.name}, n={n}, reverse={reverse})", a.dtype, a.shape[:-1])


@family(2)
def search(g):
    found = pair(g, "F", same=True)
    if found is None or g.coarse or g.special or found[0].shape != found[1].shape or not found[2]:
        return None
    _, b, shape = found
    if shape[-1] == 0 or None in shape:
        return None
    side = g.random.choice(["left", "right"])
    # Whole numbers among halves: rounding elsewhere does not make them equal.
    sizes = ", ".join(str(n) for n in shape)
    among = f"tf.sort(tf.floor(4 * weights({g.random.randrange(1000)}, {sizes})) + 0.5)"
    return g.emit(f"tf.searchsorted({among}, tf.round({b.name}), side='{side}')", "int32", shape)


@family(5)
def unique(g):
    a = g.pick(lambda v: v.dtype not in ("F", "C", "bool") and v.rank == 1)
    if a is None:
        return None
    way = g.random.random()
    if way < 0.5:
        return g.emit(f"tf.unique({a.name})[1]", "int32", a.shape)
    if way < 0.8:
        return g.emit(f"tf.reduce_sum(tf.unique_with_counts({a.name})[2])", "int32", ())
    return g.emit(f"tf.size(tf.unique({a.name})[0])", "int32", ())


@family(6)
def where_broadcast(g):
    c = g.pick(dtype="bool")
    found = c and pair(g, g.random.choice(["F", "F", "int32"]))
    if not found:
        return None
    shape = broadcast(found[2], c.shape)
    if shape is None or not g.fits(shape):
        return None
    text = f"tf.raw_ops.SelectV2(condition={c.name}, t={found[0].name}, e={found[1].name})"
    return g.emit(text, found[0].dtype, shape)
