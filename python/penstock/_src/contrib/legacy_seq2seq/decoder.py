"""Decoders without attention, and what all decoders share."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import cond
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope as vs
from penstock._src.base import nest


def feed_previous_function(embedding, output_projection=None, update_embedding=True):
    """A loop function: the embedding of the symbol that the output before makes likeliest."""
    def loop_function(prev, _):
        if output_projection is not None:
            prev = nn_activation.xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = embedding_ops.embedding_lookup(embedding, math_ops.argmax(prev, 1))
        return embedded if update_embedding else gen.stop_gradient(embedded)

    return loop_function


def check_projection(output_projection, num_symbols, dtype):
    """ValueError unless the projection, (weights, biases) or None, gives logits of the symbols."""
    if output_projection is not None:
        for part, shape in zip(output_projection, ([None, num_symbols], [num_symbols])):
            ops.convert_to_tensor(part, dtype=dtype).shape.assert_is_compatible_with(shape)


def cond_on_feed_previous(feed_previous, decode, state):
    """(outputs, state) of decode(True) or decode(False), by a bool tensor; the state has the structure of `state`."""
    def branch(feed):
        with vs.variable_scope(vs.get_variable_scope(), reuse=None if feed else True):
            outputs, final = decode(feed)
            return outputs + nest.flatten(final)

    results = cond.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    length = len(results) - len(nest.flatten(state))
    return results[:length], nest.pack_sequence_as(state, results[length:])


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """(outputs, state) of a cell that reads one input after the other.

    With `loop_function(output, i)`, input i is made of the output before it, from the second on.
    """
    with vs.variable_scope(scope or "rnn_decoder"):
        state, outputs, prev = initial_state, [], None
        for i, inp in enumerate(decoder_inputs):
            if loop_function is not None and prev is not None:
                with vs.variable_scope("loop_function", reuse=True):
                    inp = loop_function(prev, i)
            if i > 0:
                vs.get_variable_scope().reuse_variables()
            output, state = cell(inp, state)
            outputs.append(output)
            prev = output
    return outputs, state


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None,
                          feed_previous=False, update_embedding_for_previous=True, scope=None):
    """(outputs, state) of `rnn_decoder` for symbols, int32 [batch]; `feed_previous` reads only the first of them."""
    with vs.variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = vs.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = feed_previous_function(embedding, output_projection, update_embedding_for_previous) \
            if feed_previous else None
        # Looked up as the decoder goes along, in its variable scope.
        embedded = (embedding_ops.embedding_lookup(embedding, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)
