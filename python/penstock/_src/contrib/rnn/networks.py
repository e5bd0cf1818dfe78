"""Stacked bidirectional networks, and cells that take whole sequences."""
import abc

from penstock._src.core_ops import array_ops
from penstock._src.layers.rnn import rnn
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_dynamic import transpose_batch_time  # noqa: F401


def best_effort_input_batch_size(flat_input):
    """The batch size of time-major inputs: a number if it is known, else a tensor."""
    for value in flat_input:
        shape = value.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Expected input tensor {value.name} to have rank at least 2")
        if shape.as_list()[1] is not None:
            return shape.as_list()[1]
    return array_ops.shape(flat_input[0])[1]


def _check_layers(cells_fw, cells_bw, states):
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for name, given in zip(("fw", "bw"), states):
        if given is not None and (not isinstance(given, list) or len(given) != len(cells_fw)):
            raise ValueError(f"initial_states_{name} must be a list of state tensors (one per layer).")
    return zip(cells_fw, cells_bw, *(given or [None] * len(cells_fw) for given in states))


def stack_bidirectional_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                            sequence_length=None, scope=None):
    """Layers of bidirectional networks, unrolled: each takes the outputs of both directions of the one before.

    Returns (outputs, last states forward, last states backward).
    """
    layers = _check_layers(cells_fw, cells_bw, (initial_states_fw, initial_states_bw))
    states = []
    with vs.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward, state_fw, state_bw) in enumerate(layers):
            with vs.variable_scope("cell_%d" % i) as cell_scope:
                inputs, *last = rnn.static_bidirectional_rnn(
                    forward, backward, inputs, initial_state_fw=state_fw, initial_state_bw=state_bw,
                    sequence_length=sequence_length, dtype=dtype, scope=cell_scope)
            states.append(last)
    return (inputs, *(tuple(column) for column in zip(*states)))


def stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None,
                                    dtype=None, sequence_length=None, parallel_iterations=None, time_major=False,
                                    scope=None, swap_memory=False):
    """As stack_bidirectional_rnn, in loops: inputs and outputs are one tensor."""
    layers = _check_layers(cells_fw, cells_bw, (initial_states_fw, initial_states_bw))
    states = []
    with vs.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward, state_fw, state_bw) in enumerate(layers):
            with vs.variable_scope("cell_%d" % i):
                outputs, last = rnn.bidirectional_dynamic_rnn(
                    forward, backward, inputs, initial_state_fw=state_fw, initial_state_bw=state_bw,
                    sequence_length=sequence_length, parallel_iterations=parallel_iterations, dtype=dtype,
                    swap_memory=swap_memory, time_major=time_major)
                inputs = array_ops.concat(outputs, 2)
            states.append(last)
    return (inputs, *(tuple(column) for column in zip(*states)))


class FusedRNNCell(metaclass=abc.ABCMeta):
    """Takes a whole time-major sequence: (outputs, last state)."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """Runs over the sequence."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell, run over the sequence."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell, self._dynamic = cell, use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        is_list = isinstance(inputs, list)
        common = dict(initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope)
        if self._dynamic:
            outputs, state = rnn.dynamic_rnn(self._cell, array_ops.stack(inputs) if is_list else inputs,
                                             time_major=True, **common)
            return array_ops.unstack(outputs) if is_list else outputs, state
        outputs, state = rnn.static_rnn(self._cell, inputs if is_list else array_ops.unstack(inputs), **common)
        return outputs if is_list else array_ops.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that runs from the end."""

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reversed(value, lengths):
        if isinstance(value, list):
            return list(reversed(value))
        if lengths is None:
            return array_ops.reverse_v2(value, [0])
        return array_ops.reverse_sequence(value, lengths, 0, 1)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        outputs, state = self._cell(self._reversed(inputs, sequence_length), initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        return self._reversed(outputs, sequence_length), state
