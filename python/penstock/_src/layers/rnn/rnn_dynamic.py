"""Recurrent networks as loops: dynamic_rnn, bidirectional_dynamic_rnn, raw_rnn."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.graph import control_flow_util
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.control_flow import tensor_array_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import nest

_concat = rnn_cell_impl._concat


def transpose_batch_time(x):
    """The first two dimensions exchanged."""
    shape = x.get_shape()
    if shape.rank is not None and shape.rank < 2:
        return x
    result = array_ops.transpose(x, array_ops.concat(([1, 0], math_ops.range(2, array_ops.rank(x))), axis=0))
    if shape.rank is not None:
        result.set_shape(tensor_shape.TensorShape([shape.dims[1].value, shape.dims[0].value]).concatenate(shape[2:]))
    return result


def _batch_size(flat_input):
    """The second dimension of time-major inputs, as a number if it is known."""
    for x in flat_input:
        if x.shape.rank is None:
            continue
        if x.shape.rank < 2:
            raise ValueError("Expected input tensor %s to have rank at least 2" % x)
        size = x.shape.dims[1].value
        if size is not None:
            return size
    return array_ops.shape(flat_input[0])[1]


def _state_dtype(dtype, state):
    if dtype is not None:
        return dtype
    if not nest.is_sequence(state):
        return state.dtype
    kinds = [element.dtype for element in nest.flatten(state)]
    if not kinds:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(kind != kinds[0] for kind in kinds):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative "
                         "dtype.")
    return kinds[0]


def _as_shape(size):
    return tensor_shape.as_shape(tensor_util.constant_value(size)) if isinstance(size, ops.Tensor) else size


def cache_variables(scope):
    """Reads variables once for all steps, unless that would be inside of a loop."""
    if ops.executing_eagerly():
        return
    context = ops.get_default_graph()._get_control_flow_context()
    if control_flow_util.GetContainingWhileContext(context) is None and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def _initial_state(cell, batch_size, dtype):
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _kept(ended, before, after):
    """`after`, but `before` in the rows that have ended."""
    if isinstance(before, tensor_array_ops.TensorArray) or before.shape.rank == 0:
        return after
    with ops.colocate_with(after):
        return array_ops.where(ended, before, after)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    """Calls `cell` for each step of `inputs`, [batch, time, ...] (or [time, batch, ...]): (outputs, last state).

    Needs `initial_state`, or `dtype` for one of zeros. With `sequence_length`, a vector, a row's outputs are zeros
    after its end, and its last state is that at its end.
    """
    rnn_cell_impl.assert_like_rnncell("cell", cell)
    with vs.variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        flat_input = nest.flatten(inputs)
        if not time_major:
            flat_input = [ops.convert_to_tensor(x) for x in flat_input]
            flat_input = tuple(transpose_batch_time(x) for x in flat_input)
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            if sequence_length.get_shape().rank not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size, but saw shape: %s" %
                                 sequence_length.get_shape())
            sequence_length = array_ops.identity(sequence_length, name="sequence_length")
        batch_size = _batch_size(flat_input)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            state = _initial_state(cell, batch_size, dtype)
        if sequence_length is not None and not ops.executing_eagerly():
            with ops.control_dependencies([_assert_shape(sequence_length, [batch_size])]):
                sequence_length = array_ops.identity(sequence_length, name="CheckSeqLen")
        inputs = nest.pack_sequence_as(structure=inputs, flat_sequence=flat_input)
        outputs, state = _loop(cell, inputs, state, parallel_iterations or 32, swap_memory, sequence_length, dtype)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _assert_shape(x, shape):
    actual = array_ops.shape(x)
    expected = array_ops.stack(shape)
    return control_flow_ops.Assert(
        math_ops.reduce_all(math_ops.equal(actual, expected)),
        ["Expected shape for Tensor %s is " % getattr(x, "name", ""), expected, " but saw shape: ", actual])


def _check_sizes(flat_input):
    """The shapes of time-major inputs, which must fit together."""
    shapes = tuple(x.get_shape().with_rank_at_least(3) for x in flat_input)
    steps, batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if shape.dims[0].value != steps:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if shape.dims[1].value != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return shapes, steps, batch


def _loop(cell, inputs, state, parallel_iterations, swap_memory, lengths, dtype):
    """The loop over time-major inputs."""
    flat_input = nest.flatten(inputs)
    sizes = nest.flatten(cell.output_size)
    steps = array_ops.shape(flat_input[0])[0]
    batch_size = _batch_size(flat_input)
    shapes, known_steps, known_batch = _check_sizes(flat_input)
    zeros = tuple(array_ops.zeros(array_ops.stack(_concat(batch_size, size)), _state_dtype(dtype, state))
                  for size in sizes)
    zero_output = nest.pack_sequence_as(structure=cell.output_size, flat_sequence=zeros)
    if lengths is not None:
        math_ops.reduce_min(lengths)  # built as TensorFlow builds it; nothing reads it
        longest = math_ops.reduce_max(lengths)
    else:
        longest = steps
    time = array_ops.constant(0, dtype=dtypes.int32, name="time")
    with ops.name_scope("dynamic_rnn") as base_name:
        pass

    def array(name, element_shape, kind):
        return tensor_array_ops.TensorArray(dtype=kind, size=steps, element_shape=element_shape,
                                            tensor_array_name=base_name + name)

    output_arrays = tuple(
        array("output_%d" % i, tensor_shape.TensorShape([known_batch]).concatenate(_as_shape(size)),
              _state_dtype(dtype, state)) for i, size in enumerate(sizes))
    sources = tuple(array("input_%d" % i, x.shape[1:], x.dtype) for i, x in enumerate(flat_input))
    sources = tuple(source.unstack(x) for source, x in zip(sources, flat_input))

    def step(time, output_arrays, state):
        element = tuple(source.read(time) for source in sources)
        for x, shape in zip(element, shapes):
            x.set_shape(shape[1:])
        element = nest.pack_sequence_as(structure=inputs, flat_sequence=element)
        if lengths is None:
            output, new_state = cell(element, state)
        else:
            output, new_state = _step_with_lengths(time, lengths, zero_output, state, lambda: cell(element, state))
        written = tuple(target.write(time, x) for target, x in zip(output_arrays, nest.flatten(output)))
        return time + 1, written, new_state

    bound = gen.minimum(steps, gen.maximum(1, longest))
    _, output_arrays, state = while_loop(
        lambda time, *_: time < bound, step, (time, output_arrays, state), parallel_iterations=parallel_iterations,
        maximum_iterations=steps, swap_memory=swap_memory)
    outputs = tuple(target.stack() for target in output_arrays)
    for output, size in zip(outputs, sizes):
        output.set_shape(_concat([known_steps, known_batch], size, static=True))
    return nest.pack_sequence_as(structure=cell.output_size, flat_sequence=outputs), state


def _step_with_lengths(time, lengths, zero_output, state, call_cell):
    """(output, state) of a step in which some rows may have ended."""
    flat_state, flat_zeros = nest.flatten(state), nest.flatten(zero_output)
    ended = time >= lengths
    output, new_state = call_cell()
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, new_state)
    outputs = [_kept(ended, zero, new) for zero, new in zip(flat_zeros, nest.flatten(output))]
    states = [_kept(ended, old, new) for old, new in zip(flat_state, nest.flatten(new_state))]
    for new, old in zip(outputs + states, flat_zeros + flat_state):
        if not isinstance(new, tensor_array_ops.TensorArray):
            new.set_shape(old.get_shape())
    return (nest.pack_sequence_as(structure=zero_output, flat_sequence=outputs),
            nest.pack_sequence_as(structure=state, flat_sequence=states))


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None,
                              initial_state_bw=None, dtype=None, parallel_iterations=None, swap_memory=False,
                              time_major=False, scope=None):
    """Two networks, one from the beginning and one from the end: ((outputs of both), (last states of both))."""
    rnn_cell_impl.assert_like_rnncell("cell_fw", cell_fw)
    rnn_cell_impl.assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def turned(x):
        if sequence_length is None:
            return array_ops.reverse(x, axis=[time_axis])
        return array_ops.reverse_sequence(input=x, seq_lengths=sequence_length, seq_axis=time_axis,
                                          batch_axis=batch_axis)

    how = dict(sequence_length=sequence_length, dtype=dtype, parallel_iterations=parallel_iterations,
               swap_memory=swap_memory, time_major=time_major)
    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(cell=cell_fw, inputs=inputs, initial_state=initial_state_fw,
                                              scope=fw_scope, **how)
        with vs.variable_scope("bw") as bw_scope:
            backward, state_bw = dynamic_rnn(cell=cell_bw, inputs=nest.map_structure(turned, inputs),
                                             initial_state=initial_state_bw, scope=bw_scope, **how)
    return (output_fw, nest.map_structure(turned, backward)), (state_fw, state_bw)


def _emitted(emit_structure, cell, flat_state):
    """(structure, sizes, types) of what each step of a raw_rnn emits."""
    if emit_structure is None:
        sizes = nest.flatten(cell.output_size)
        return cell.output_size, sizes, [flat_state[0].dtype] * len(sizes)
    flat = nest.flatten(emit_structure)
    return (emit_structure, [x.shape if x.shape.is_fully_defined() else array_ops.shape(x) for x in flat],
            [x.dtype for x in flat])


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """A network in which `loop_fn(time, output, state, loop_state)` says what happens between steps: it returns (rows
    that have ended, next input, next state, what to emit, next loop state). (TensorArrays of what was emitted, last
    state, last loop state)."""
    rnn_cell_impl.assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with vs.variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        time = constant_op.constant(0, dtype=dtypes.int32)
        finished, next_input, state, emit_structure, first_loop_state = loop_fn(time, None, None, None)
        flat_input = nest.flatten(next_input)
        loop_state = first_loop_state if first_loop_state is not None else constant_op.constant(0, dtype=dtypes.int32)
        known_batch = tensor_shape.Dimension(None)
        for x in flat_input:
            known_batch = known_batch.merge_with(tensor_shape.dimension_at_index(x.get_shape(), 0))
        known_batch = tensor_shape.dimension_value(known_batch)
        batch_size = array_ops.shape(flat_input[0])[0] if known_batch is None else known_batch
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [ops.convert_to_tensor(x) for x in nest.flatten(state)]
        state = nest.pack_sequence_as(structure=state, flat_sequence=flat_state)
        emit_structure, sizes, kinds = _emitted(emit_structure, cell, flat_state)
        targets = [tensor_array_ops.TensorArray(
            dtype=kind, dynamic_size=True, size=0, name="rnn_output_%d" % i,
            element_shape=tensor_shape.TensorShape([known_batch]).concatenate(_as_shape(size)))
            for i, (kind, size) in enumerate(zip(kinds, sizes))]
        targets = nest.pack_sequence_as(structure=emit_structure, flat_sequence=targets)
        zeros = nest.pack_sequence_as(
            structure=emit_structure,
            flat_sequence=[array_ops.zeros(_concat(batch_size, size), kind) for size, kind in zip(sizes, kinds)])

        def condition(time, finished, *_):
            return gen.logical_not(math_ops.reduce_all(finished))

        def body(time, finished, current_input, targets, state, loop_state):
            output, cell_state = cell(current_input, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            next_time = time + 1
            now_finished, next_input, next_state, emitted, next_loop_state = loop_fn(next_time, output, cell_state,
                                                                                     loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(current_input, next_input)
            nest.assert_same_structure(targets, emitted)
            if next_loop_state is not None:
                loop_state = next_loop_state

            def kept(before, after):
                return nest.map_structure(lambda old, new: _kept(finished, old, new), before, after)

            emitted = kept(zeros, emitted)
            next_state = kept(state, next_state)
            targets = nest.map_structure(lambda target, x: target.write(time, x), targets, emitted)
            return next_time, gen.logical_or(finished, now_finished), next_input, targets, next_state, loop_state

        returned = while_loop(condition, body, loop_vars=[time, finished, next_input, targets, state, loop_state],
                              parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory)
        targets, state, loop_state = returned[-3:]
        return targets, state, None if first_loop_state is None else loop_state
