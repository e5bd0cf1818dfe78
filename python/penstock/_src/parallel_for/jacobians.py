"""Jacobians: one gradient is built, or run and recorded, and what depends on what flows into it is computed for all
rows at once."""
from penstock import _core
from penstock import proto
from penstock._src.gradient import backprop
from penstock._src.graph import conversion
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.parallel_for.conversion import NotConvertible
from penstock._src.base import nest

_FRAMES = frozenset(("Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond"))


_FEW = 100  # rows that are computed one after the other sooner than all at once


class _InFrames(Exception):
    """What is to be computed for all rows lies in a loop or conditional."""


class _Unknown(Exception):
    """What is to be computed for all rows is not known op for op."""


def _apart(gradients, count, seed):
    """For each source the gradients for all seeds, stacked, or None."""
    rows = [nest.flatten(gradients(seed(i))) for i in range(count)]
    if not rows:
        return [None if g is None else conversion.convert_to_tensor(g)[None][:0] for g in nest.flatten(gradients(None))]
    return [None if any(g is None for g in column) else array_ops.stack([conversion.convert_to_tensor(g)
                                                                         for g in column])
            for column in zip(*rows)]


def _at_once(gradients, target, count, seed, use_pfor, parallel_iterations):
    """As _apart, in graphs. A gradient is linear in what flows into its target: it is built for one seed, and what
    depends on that is run for all."""
    from penstock._src.parallel_for import control_flow_ops
    one = gen.zeros_like(target)
    built = [None if g is None else conversion.convert_to_tensor(g) for g in nest.flatten(gradients(one))]
    tensors = [g for g in built if g is not None]
    between = _between(one, tensors)
    if not tensors:
        return built

    def row(i):
        graph, made = ops.get_default_graph(), {one._key: seed(i)}
        for op in between:
            attrs = {name: value for name, value in op.node_def.attr.items() if name != "_class"}
            copy = graph.create_op(op.type, [made.get(t._key, t) for t in op.inputs], name=op.name.rsplit("/", 1)[-1],
                                   attrs=attrs)
            made.update(zip([t._key for t in op.outputs], copy.outputs))
        return [made.get(g._key, g) for g in tensors]

    if use_pfor:
        stacked = iter(control_flow_ops.pfor(row, count, parallel_iterations=parallel_iterations))
    else:
        stacked = iter(control_flow_ops.for_loop(row, [g.dtype for g in tensors], count,
                                                 parallel_iterations=parallel_iterations))
    return [None if g is None else next(stacked) for g in built]


def _replayed(gradients, target, count, seed, parallel_iterations):
    """As _at_once, of eager values. _Unknown: a function of Python's or a call of a graph's function is in between."""
    from penstock._src.parallel_for import control_flow_ops
    one, others, tape = gen.zeros_like(target), _core.tape_stop(), _core.Tape()
    tape.push()
    try:
        tape.watch(one)
        built = [None if g is None else conversion.convert_to_tensor(g) for g in nest.flatten(gradients(one))]
    finally:
        tape.pop()
        _core.tape_resume(others)
    tensors = [g for g in built if g is not None]
    steps = _needed_for(tensors, tape.recorded())

    def row(i):
        graph, made = ops.get_default_graph(), {one._eager_id: seed(i)}
        for node, inputs, outputs in steps:
            op = graph.create_op(node.op, [made.get(t._eager_id, t) for t in inputs], attrs=dict(node.attr))
            made.update(zip([t._eager_id for t in outputs], op.outputs))
        return [made.get(t._eager_id, t) for t in tensors]

    stacked = iter(control_flow_ops.pfor(row, count, parallel_iterations=parallel_iterations) if tensors else ())
    return [None if g is None else next(stacked) for g in built]


def _needed_for(tensors, recorded):
    """What was recorded of the way to some tensors: (NodeDef, inputs, outputs) in order."""
    needed, steps = {t._eager_id for t in tensors}, []
    for node, inputs, outputs in reversed(recorded):
        if all(t._eager_id not in needed for t in outputs):
            continue
        node = None if node is None else proto.message("tensorflow.NodeDef").FromString(node)
        if node is None or any(value.WhichOneof("value") == "func" for value in node.attr.values()):
            raise _Unknown
        needed.update(t._eager_id for t in inputs)
        steps.append((node, inputs, outputs))
    return steps[::-1]


def _between(source, tensors):
    """The operations by which tensors depend on a source, in the order in which they were built."""
    depends, stack = {source.op._node: True}, [t.op for t in tensors]
    while stack:
        op = stack[-1]
        inputs = [t.op for t in op.inputs] if op._node not in depends else []
        missing = [i for i in inputs if i._node not in depends]
        if missing and op.type in _FRAMES:
            raise _InFrames
        if missing:
            stack += missing
            continue
        stack.pop()
        if op._node not in depends:
            depends[op._node] = op if any(depends[i._node] for i in inputs) else None
    depends.pop(source.op._node)
    return [depends[node] for node in sorted(depends) if depends[node] is not None]


def _rows(tape, target, sources, unconnected_gradients, count, seed, use_pfor, parallel_iterations):
    """For each source the gradients for seeds 0 to count - 1, stacked along a new first dimension, or None."""
    if tape._tape is None:
        raise backprop.used_up()
    if not tape._persistent and tape._recording:
        tape._stop()

    def gradients(flowing):
        return tape.gradient(target, sources, flowing, unconnected_gradients)

    persistent, tape._persistent = tape._persistent, True
    try:
        if target._is_eager:
            if use_pfor and count > _FEW:
                try:
                    return _replayed(gradients, target, count, seed, parallel_iterations)
                except (_Unknown, NotConvertible):
                    pass
            return _apart(gradients, count, seed)
        try:
            return _at_once(gradients, target, count, seed, use_pfor, parallel_iterations)
        except _InFrames:
            if not isinstance(count, int):
                raise ValueError("The shape of the target of a Jacobian through loops and conditionals of version 1 "
                                 "must be known.") from None
            return _apart(gradients, count, seed)
    finally:
        tape._persistent = persistent
        if not persistent:
            tape._tape = None


def _count(shape, tensor):
    """The number of elements, known or computed."""
    known = shape.num_elements()
    return array_ops.size(tensor) if known is None else known


def jacobian(tape, target, sources, unconnected_gradients, use_pfor, parallel_iterations):
    """See GradientTape.jacobian."""
    shape, count = array_ops.shape(target), _count(target.shape, target)

    def seed(i):
        return array_ops.reshape(array_ops.one_hot(i, count, dtype=target.dtype), shape)

    flat = nest.flatten(sources)
    results = _rows(tape, target, sources, unconnected_gradients, count, seed, use_pfor, parallel_iterations)
    for i, made in enumerate(results):
        if made is not None:
            made = array_ops.reshape(made, array_ops.concat([shape, array_ops.shape(made)[1:]], 0))
            made.set_shape(target.shape.concatenate(flat[i].shape))
            results[i] = made
    return nest.pack_sequence_as(sources, results) if nest.is_sequence(sources) else results[0]


def batch_jacobian(tape, target, source, unconnected_gradients, use_pfor, parallel_iterations):
    """See GradientTape.batch_jacobian."""
    if parallel_iterations is not None and not tape._persistent:
        raise RuntimeError("GradientTape must be created with persistent=True to compute the batch_jacobian with "
                           "parallel_iterations.")
    if target.shape.rank is None or target.shape.rank < 2:
        raise ValueError(f"Argument `target` must have rank at least 2. Received: {target.shape}.")
    if source.shape.rank is None or source.shape.rank < 2:
        raise ValueError(f"Argument `source` must have rank at least 2. Received: {source.shape}.")
    if not target.shape[:1].is_compatible_with(source.shape[:1]):
        raise ValueError("Need first dimension of target shape (%s) and source shape (%s) to match." % (
            target.shape, source.shape))
    shape = array_ops.shape(target)
    count = _count(target.shape[1:], target[:1])

    def seed(i):
        row = array_ops.reshape(array_ops.one_hot(i, count, dtype=target.dtype),
                                array_ops.concat([[1], shape[1:]], 0))
        rows = gen.tile(row, array_ops.concat([shape[:1], array_ops.ones_like(shape[1:])], 0))
        rows.set_shape(target.shape)
        return rows

    made, = _rows(tape, target, [source], unconnected_gradients, count, seed, use_pfor, parallel_iterations)
    full = array_ops.concat([shape, array_ops.shape(source)[1:]], 0)
    if made is None:
        return array_ops.zeros(full, dtype=target.dtype)
    # [elements of a row, batch, dimensions of the source]
    made = array_ops.reshape(made, array_ops.concat([[count], array_ops.shape(source)], 0))
    order = [1, 0, *range(2, source.shape.rank + 1)]
    made = array_ops.reshape(array_ops.transpose(made, order), full)
    made.set_shape(target.shape.concatenate(source.shape[1:]))
    return made
