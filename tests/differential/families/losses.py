"""Losses, counting, selections of rows whose number depends on values."""

from . import family
from .elementwise import pair


@family(3)
def loss(g):
    a = g.pick(lambda v: v.rank > 1 and v.shape[-1] not in (0, None), dtype="F")
    b = a and g.pick(dtype="F", shape=a.shape)
    if a is None:
        return None
    ids = g.pick(lambda v: v.dtype in ("int32", "int64"), shape=a.shape[:-1])
    if ids is not None:
        labels = f"tf.math.floormod({ids.name}, {a.shape[-1]})"
        return g.emit(
            f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels={labels}, logits={a.name})", "F", a.shape[:-1]
        )
    # Labels are statements themselves, so that their rounding is known; version 1 does not differentiate by them.
    if g.random.random() < 0.5:
        b = g.emit(f"tf.stop_gradient(tf.sigmoid({b.name}))", "F", b.shape)
        return g.emit(f"tf.nn.sigmoid_cross_entropy_with_logits(labels={b.name}, logits={a.name})", "F", a.shape)
    b = g.emit(f"tf.stop_gradient(tf.nn.softmax({b.name}))", "F", b.shape)
    return g.emit(f"tf.nn.softmax_cross_entropy_with_logits(labels={b.name}, logits={a.name})", "F", a.shape[:-1])


@family(5)
def chosen_rows(g):
    if g.coarse or g.special:
        return None
    a = g.pick(lambda v: v.rank > 0, dtype="F")
    mask = a and g.pick(dtype="bool", shape=a.shape[:1])
    if a is None:
        return None
    if mask is None:
        ids = g.pick(dtype="int32", shape=a.shape[:1])
        if ids is None:
            return None
        first, second = f"tf.dynamic_partition({a.name}, tf.math.floormod({ids.name}, 2), 2)", 1
        return g.emit(f"tf.reduce_sum({first}[{second}], axis=0)", "F", a.shape[1:])
    way = g.random.random()
    if way < 0.5:
        return g.emit(f"tf.reduce_sum(tf.boolean_mask({a.name}, {mask.name}), axis=0)", "F", a.shape[1:])
    return g.emit(f"tf.reduce_sum(tf.gather({a.name}, tf.where({mask.name})[:, 0]), axis=0)", "F", a.shape[1:])


@family(2)
def count(g):
    ids = g.pick(dtype="int32")
    if ids is None:
        return None
    size = g.random.choice([2, 3, 6])
    if g.random.random() < 0.5:
        weight = g.pick(dtype="F", shape=ids.shape)
        if weight is not None and g.float_type in ("float32", "float64"):
            values = f"tf.reshape(tf.math.floormod({ids.name}, {size}), [-1]), tf.reshape({weight.name}, [-1])"
            return g.emit(f"tf.compat.v1.bincount({values}, minlength={size}, maxlength={size})", "F", (size,))
    found = pair(g, "F", same=True)
    return found and g.emit(f"tf.math.count_nonzero({found[0].name} > {found[1].name}, dtype=tf.int32)", "int32", ())


@family(2)
def sequence(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[0] is not None, dtype="F")
    if a is None:
        return None
    size = a.shape[0]
    shape = [size] + [1] * (a.rank - 1)
    text = g.random.choice(
        [
            f"tf.cast(tf.range({size}), F)",
            f"tf.cast(tf.range(1, {size} + 1) ** 2, F)",
            f"tf.cast(tf.linspace(0., 1., {size}), F)" if size else f"tf.zeros([{size}], F)",
        ]
    )
    return g.emit(f"{a.name} * tf.reshape({text}, {shape})", "F", a.shape)


@family(8)
def sequence_mask(g):
    a = g.pick(lambda v: v.rank > 1 and v.shape[1] not in (None, 0), dtype="F")
    ids = a and g.pick(lambda v: v.dtype in ("int32", "int64"), shape=a.shape[:1])
    if not ids:
        return None
    rest = "".join("[:, :, tf.newaxis]" for _ in range(1)) if a.rank == 3 else ""
    if a.rank > 3:
        return None
    return g.emit(f"{a.name} * tf.sequence_mask({ids.name}, {a.shape[1]}, F){rest}", "F", a.shape)
