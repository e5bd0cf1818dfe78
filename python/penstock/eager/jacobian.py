"""Jacobians: one gradient for each element, or in graphs one step of a loop for each."""
from penstock.framework import conversion
from penstock.framework import gen
from penstock.ops import array_ops
from penstock.util import nest


def _rows(tape, count, seeds, target, sources, unconnected_gradients):
    """For each source the gradients for all seeds, or None."""
    persistent, tape._persistent = tape._persistent, True
    try:
        rows = [nest.flatten(tape.gradient(target, sources, seeds(i), unconnected_gradients)) for i in range(count)]
    finally:
        tape._persistent = persistent
    flat = nest.flatten(sources)
    columns = list(zip(*rows)) if rows else [()] * len(flat)
    return [None if any(g is None for g in column) else [conversion.convert_to_tensor(g) for g in column]
            for column in columns]


def _finish(tape):
    if not tape._persistent:
        tape._tape = None


def _begin(tape):
    if not tape._persistent and tape._recording:
        tape._stop()
    if tape._tape is None:
        raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")


def jacobian(tape, target, sources, unconnected_gradients):
    """See GradientTape.jacobian."""
    _begin(tape)
    count = target.shape.num_elements()
    if count is None:
        raise ValueError("The shape of the target of a Jacobian must be known.")
    shape = target.shape.as_list()

    def seed(i):
        one = [0.0] * count
        one[i] = 1.0
        return array_ops.reshape(conversion.internal_convert_to_tensor(one, dtype=target.dtype), shape)

    results = []
    for source, rows in zip(nest.flatten(sources), _rows(tape, count, seed, target, sources, unconnected_gradients)):
        if rows is None or not rows and count:
            results.append(None)
            continue
        of_source = array_ops.shape(conversion.convert_to_tensor(source))
        stacked = array_ops.stack(rows) if rows else gen.zeros_like(conversion.convert_to_tensor(source))
        made = array_ops.reshape(stacked, array_ops.concat([shape, of_source], 0) if shape else of_source)
        made.set_shape(target.shape.concatenate(source.shape))
        results.append(made)
    _finish(tape)
    return nest.pack_sequence_as(sources, results) if nest.is_sequence(sources) else results[0]


def batch_jacobian(tape, target, source, unconnected_gradients):
    """See GradientTape.batch_jacobian."""
    if target.shape.rank is None or target.shape.rank < 2 and target.shape.rank != 0 or target.shape.rank == 0:
        raise ValueError("Target must have rank at least 2.")
    if source.shape.rank is None or source.shape.rank < 2:
        raise ValueError("Source must have rank at least 2.")
    if not target.shape[:1].is_compatible_with(source.shape[:1]):
        raise ValueError("Need first dimension of target shape (%s) and source shape (%s) to match." % (
            target.shape, source.shape))
    _begin(tape)
    tail, of_source = target.shape.as_list()[1:], source.shape.as_list()[1:]
    count = target.shape[1:].num_elements()
    batch = array_ops.shape(target)[:1]

    def seed(i):
        one = [0.0] * count
        one[i] = 1.0
        row = array_ops.reshape(conversion.internal_convert_to_tensor(one, dtype=target.dtype), [1] + tail)
        return array_ops.tile(row, array_ops.concat([batch, [1] * len(tail)], 0))

    rows, = _rows(tape, count, seed, target, source, unconnected_gradients)
    _finish(tape)
    full = array_ops.concat([batch, tail, of_source], 0)
    if rows is None:
        return None
    if not rows:
        return array_ops.zeros(full, dtype=target.dtype)
    made = array_ops.reshape(array_ops.stack(rows, axis=1), full)
    made.set_shape(target.shape.concatenate(source.shape[1:]))
    return made
