"""Reductions, scans, normalisations along an axis, sorting."""

from . import family

REDUCE = ["sum", "sum", "mean", "mean", "max", "min", "logsumexp", "std", "variance", "euclidean_norm", "prod"]


def axes(g, rank):
    count = g.random.choice([1, 1, 1, 2, rank])
    chosen = sorted(g.random.sample(range(rank), min(count, rank)))
    return chosen, [a - rank if g.random.random() < 0.3 else a for a in chosen]


def without(shape, chosen, keep):
    return tuple(1 if i in chosen else d for i, d in enumerate(shape) if keep or i not in chosen)


@family(10)
def reduce(g):
    a = g.pick(lambda v: v.rank > 0, dtype=g.random.choices(["F", "int32", "int64", "C"], [12, 1, 1, 1])[0])
    if a is None:
        return None
    chosen, axis = axes(g, a.rank)
    keep = g.random.random() < 0.4
    shape = without(a.shape, chosen, keep)
    arguments = f"axis={axis if len(axis) > 1 or g.random.random() < 0.5 else axis[0]}" + (
        ", keepdims=True" if keep else ""
    )
    if len(chosen) == a.rank and not keep and g.random.random() < 0.5:
        arguments = ""
    how = g.random.choice(REDUCE)
    source = a.name
    if a.dtype != "F":
        how = g.random.choice(["sum", "sum", "max", "min"]) if a.dtype != "C" else g.random.choice(["sum", "mean"])
    elif how == "prod":
        source = f"noise(tf.cos({a.name}))"
    elif how in ("std", "euclidean_norm", "variance") and g.coarse:
        how = "sum"
    return g.emit(f"tf.math.reduce_{how}({source}{', ' + arguments if arguments else ''})", a.dtype, shape)


@family(3)
def reduce_bool(g):
    a = g.pick(lambda v: v.rank > 0, dtype="bool")
    if a is None:
        return None
    chosen, axis = axes(g, a.rank)
    return g.emit(
        f"tf.reduce_{g.random.choice(['any', 'all'])}({a.name}, axis={axis})", "bool", without(a.shape, chosen, False)
    )


@family(4)
def scan(g):
    a = g.pick(lambda v: v.rank > 0, dtype=g.random.choice(["F", "F", "F", "int32"]))
    if a is None:
        return None
    axis = g.random.randrange(a.rank)
    flags = g.random.choice(["", ", exclusive=True", ", reverse=True", ", exclusive=True, reverse=True"])
    if a.dtype != "F":
        return g.emit(f"tf.cumsum({a.name}, axis={axis}{flags})", a.dtype, a.shape)
    how = g.random.choice(
        ["tf.cumsum({0}", "tf.cumsum({0}", "tf.math.cumprod(noise(tf.cos({0}))", "tf.math.cumulative_logsumexp({0}"]
    )
    if g.coarse:
        how = "tf.cumsum({0}"
    return g.emit(f"{how.format(a.name)}, axis={axis}{flags})", "F", a.shape)


@family(6)
def normalize(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[-1] not in (0, None), dtype="F")
    if a is None:
        return None
    how = g.random.choice(
        [
            "tf.nn.softmax({0})",
            "tf.nn.log_softmax({0})",
            "{0} - tf.reduce_mean({0}, axis=-1, keepdims=True)",
            "{0} / (tf.reduce_sum(tf.abs({0}), axis=-1, keepdims=True) + 1)",
            "tf.nn.l2_loss({0}) * {0}",
            "tf.exp({0} - tf.reduce_max({0}, axis=-1, keepdims=True))",
            "tf.math.l2_normalize({0} + 2, axis=-1)",
            "{0} * tf.math.rsqrt(tf.reduce_mean(tf.square({0}), axis=-1, keepdims=True) + 0.1)",
            "tf.nn.batch_normalization({0}, *tf.nn.moments({0}, [{1}]), None, None, 0.1)",
            "tf.nn.softmax({0}, axis={1})",
        ]
    )
    axis = g.random.choice([i for i in range(a.rank) if a.shape[i] not in (0, None)])
    if "moments" in how:
        axis = a.rank - 1 if a.rank == 1 else 0
        if a.rank > 2 or a.shape[0] in (0, None):
            return None
    return g.emit(how.format(a.name, axis), "F", a.shape)


@family(2)
def arg_extreme(g):
    a = g.pick(lambda v: v.rank > 0 and 0 not in v.shape, dtype="F")
    if a is None or g.special or g.coarse:
        return None
    axis = g.random.choice([i for i in range(a.rank) if a.shape[i] is not None] or [None])
    if axis is None:
        return None
    dtype = g.random.choice(["int32", "int64"])
    return g.emit(
        f"tf.math.arg{g.random.choice(['max', 'min'])}({a.name}, axis={axis}, output_type=tf.{dtype})",
        dtype,
        without(a.shape, [axis], False),
    )


@family(2)
def sort(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[-1] not in (0, None), dtype="F")
    if a is None or g.special:
        return None
    if g.random.random() < 0.5:
        return g.emit(
            f"tf.sort({a.name}, axis=-1, direction='{g.random.choice(['ASCENDING', 'DESCENDING'])}')", "F", a.shape
        )
    k = g.random.randint(1, a.shape[-1])
    return g.emit(f"tf.math.top_k({a.name}, k={k})[0]", "F", a.shape[:-1] + (k,))


@family(2)
def segments(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] not in (0, None), dtype="F")
    if a is None:
        return None
    count = g.random.randint(1, a.shape[0])
    ids = [g.random.randrange(count) for _ in range(a.shape[0])]
    if g.random.random() < 0.5:
        ids = sorted(ids)
        how = g.random.choice(["segment_sum", "segment_mean"])
        shape = (ids[-1] + 1,) + a.shape[1:]
        return g.emit(f"tf.math.{how}({a.name}, {ids})", "F", shape)
    how = g.random.choice(["unsorted_segment_sum", "unsorted_segment_mean"])
    return g.emit(f"tf.math.{how}({a.name}, {ids}, {count})", "F", (count,) + a.shape[1:])
