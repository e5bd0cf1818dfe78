"""Recurrent networks, unrolled: a cell is called once for each step of a sequence of known length. Those that are loops
are in rnn_dynamic.py."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_dynamic import bidirectional_dynamic_rnn, cache_variables, dynamic_rnn, raw_rnn
from penstock._src.base import nest

__all__ = ["bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_bidirectional_rnn", "static_rnn",
           "static_state_saving_rnn"]


class _Lengths:
    """What the lengths of the rows decide: after its end a row gives zeros and keeps its state."""

    def __init__(self, lengths, cell, batch_size, fixed_batch_size, dtype, state):
        lengths = ops.convert_to_tensor(lengths, name="sequence_length")
        if lengths.shape.rank not in (None, 1):
            raise ValueError("sequence_length must be a vector of length batch_size")
        if dtype is None:
            kinds = {element.dtype for element in nest.flatten(state)}
            if len(kinds) != 1:
                raise ValueError("The state's tensors have several types; give dtype")
            dtype = kinds.pop()
        self.zero_output = nest.map_structure(
            lambda size: self._zeros(batch_size, fixed_batch_size, size, dtype), cell.output_size)
        self.lengths = math_ops.cast(lengths, dtypes.int32)
        self.least = math_ops.reduce_min(self.lengths)
        self.most = math_ops.reduce_max(self.lengths)

    @staticmethod
    def _zeros(batch_size, fixed_batch_size, size, dtype):
        zeros = array_ops.zeros(array_ops.stack(rnn_cell_impl._concat(batch_size, size)), dtype)
        zeros.set_shape(rnn_cell_impl._concat(fixed_batch_size, size, static=True))
        return zeros

    def step(self, time, state, call_cell):
        """(output, state) of a step, in which some rows, all or none may have ended."""
        old = nest.flatten(self.zero_output) + nest.flatten(state)
        ended = time >= self.lengths

        def keep(before, after):
            if before.shape.rank == 0:
                return after
            with ops.colocate_with(after):
                return array_ops.where(ended, before, after)

        def call():
            output, new_state = call_cell()
            nest.assert_same_structure(self.zero_output, output)
            nest.assert_same_structure(state, new_state)
            new = nest.flatten(output) + nest.flatten(new_state)
            return cond_lib.cond(time < self.least, lambda: new,
                                 lambda: [keep(before, after) for before, after in zip(old, new)])

        result = cond_lib.cond(time >= self.most, lambda: old, call)
        for before, after in zip(old, result):
            after.set_shape(before.shape)
        outputs = len(nest.flatten(self.zero_output))
        return (nest.pack_sequence_as(self.zero_output, result[:outputs]),
                nest.pack_sequence_as(state, result[outputs:]))


def _batch_size(inputs):
    """(batch size as a number or tensor, as a number or None), after a look at all inputs' shapes."""
    first = nest.flatten(inputs)[0]
    if first.shape.rank == 1:
        fixed = first.shape.dims[0]
    else:
        fixed = first.shape.with_rank_at_least(2).dims[0]
        for element in nest.flatten(inputs):
            shape = element.shape.with_rank_at_least(2)
            fixed = fixed.merge_with(shape.dims[0])
            for i, size in enumerate(shape.as_list()[1:]):
                if size is None:
                    raise ValueError("Input size (dimension %d of inputs) must be accessible via shape inference, but "
                                     "saw value None." % i)
    fixed = tensor_shape.dimension_value(fixed)
    return fixed or array_ops.shape(first)[0], fixed


def _check_inputs(inputs):
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Calls `cell` for each of `inputs`, a list of [batch, ...] tensors: (list of outputs, last state).

    Needs `initial_state`, or `dtype` for one of zeros. With `sequence_length`, a vector, a row's outputs are zeros
    after its end, and its last state is that at its end.
    """
    rnn_cell_impl.assert_like_rnncell("cell", cell)
    _check_inputs(inputs)
    outputs = []
    with vs.variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        batch_size, fixed_batch_size = _batch_size(inputs)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            if getattr(cell, "get_initial_state", None) is not None:
                state = cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
            else:
                state = cell.zero_state(batch_size, dtype)
        lengths = None
        if sequence_length is not None:
            lengths = _Lengths(sequence_length, cell, batch_size, fixed_batch_size, dtype, state)
        for time, element in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            if lengths is None:
                output, state = cell(element, state)
            else:
                output, state = lengths.step(time, state, lambda x=element, s=state: cell(x, s))
            outputs.append(output)
    return outputs, state


def _reversed(inputs, lengths):
    """The list in reverse; with lengths, each row reversed up to its own."""
    if lengths is None:
        return list(reversed(inputs))
    columns = []
    for column in zip(*[nest.flatten(element) for element in inputs]):
        shape = tensor_shape.unknown_shape(rank=column[0].shape.rank)
        for element in column:
            shape = shape.merge_with(element.shape)
            element.set_shape(shape)
        turned = array_ops.unstack(array_ops.reverse_sequence(array_ops.stack(column), lengths, 0, 1))
        for element in turned:
            element.set_shape(shape)
        columns.append(turned)
    return [nest.pack_sequence_as(inputs[0], list(flat)) for flat in zip(*columns)]


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """Two networks, one from the beginning and one from the end: (outputs side by side, last states of both)."""
    rnn_cell_impl.assert_like_rnncell("cell_fw", cell_fw)
    rnn_cell_impl.assert_like_rnncell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as fw_scope:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw_scope)
        with vs.variable_scope("bw") as bw_scope:
            backward, state_bw = static_rnn(cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype,
                                            sequence_length, scope=bw_scope)
    backward = _reversed(backward, sequence_length)
    flat = [array_ops.concat([fw, bw], 1) for fw, bw in zip(nest.flatten(forward), nest.flatten(backward))]
    return nest.pack_sequence_as(forward, flat), state_fw, state_bw


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """A static_rnn whose state comes from `state_saver.state(name)`, and goes to
    `state_saver.save_state(name, state)`."""
    is_tuple = nest.is_sequence(cell.state_size)
    if is_tuple != nest.is_sequence(state_name):
        raise ValueError("state_name should be the same type as cell.state_size.  state_name: %s, cell.state_size: %s" %
                         (str(state_name), str(cell.state_size)))
    if is_tuple:
        names = nest.flatten(state_name)
        if len(names) != len(nest.flatten(cell.state_size)):
            raise ValueError("#elems(state_name) != #elems(state_size): %d vs. %d" %
                             (len(names), len(nest.flatten(cell.state_size))))
        state = nest.pack_sequence_as(structure=cell.state_size,
                                      flat_sequence=[state_saver.state(name) for name in names])
    else:
        names = [state_name]
        state = state_saver.state(state_name)
    outputs, state = static_rnn(cell, inputs, initial_state=state, sequence_length=sequence_length, scope=scope)
    flat_state = nest.flatten(state) if is_tuple else [state]
    saved = [state_saver.save_state(name, part) for name, part in zip(names, flat_state)]
    with ops.control_dependencies(saved):
        outputs[-1] = nest.map_structure(array_ops.identity, outputs[-1])
        state = nest.map_structure(array_ops.identity, state)
    return outputs, state
