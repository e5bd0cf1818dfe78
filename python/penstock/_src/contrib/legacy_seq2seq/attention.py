"""Decoders that attend to an encoder's outputs."""
import copy

from penstock._src.contrib.legacy_seq2seq.decoder import check_projection
from penstock._src.contrib.legacy_seq2seq.decoder import cond_on_feed_previous
from penstock._src.contrib.legacy_seq2seq.decoder import feed_previous_function
from penstock._src.contrib.rnn import wrappers
from penstock._src.contrib.rnn.linear import Linear
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation, nn_conv
from penstock._src.layers.rnn import rnn
from penstock._src.ops.state import variable_scope as vs
from penstock._src.base import nest


def attention_decoder(decoder_inputs, initial_state, attention_states, cell, output_size=None, num_heads=1,
                      loop_function=None, dtype=None, scope=None, initial_state_attention=False):
    """(outputs, state) of a cell whose inputs and outputs are joined with what it attends to.

    `attention_states` is [batch, length, depth], with its depth known. Each of `num_heads` weighs its rows by
    softmax(v * tanh(W rows + U state)). `loop_function` as for `rnn_decoder`. With `initial_state_attention` the first
    step attends by the initial state, else to nothing. ValueError without inputs, heads or known depths.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    depth = tensor_shape.dimension_value(attention_states.shape[2])
    if depth is None:
        raise ValueError("Shape[2] of attention_states must be known: %s" % attention_states.shape)
    output_size = cell.output_size if output_size is None else output_size
    with vs.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = array_ops.shape(decoder_inputs[0])[0]
        length = tensor_shape.dimension_value(attention_states.shape[1])
        if length is None:
            length = array_ops.shape(attention_states)[1]
        hidden = array_ops.reshape(attention_states, [-1, length, 1, depth])
        features, v = [], []
        for head in range(num_heads):
            k = vs.get_variable("AttnW_%d" % head, [1, 1, depth, depth], dtype=dtype)
            features.append(nn_conv.conv2d(hidden, k, [1, 1, 1, 1], "SAME"))
            v.append(vs.get_variable("AttnV_%d" % head, [depth], dtype=dtype))

        def attention(query):
            reads = []
            if nest.is_sequence(query):
                query = array_ops.concat(nest.flatten(query), 1)
            for head in range(num_heads):
                with vs.variable_scope("Attention_%d" % head):
                    y = array_ops.reshape(Linear(query, depth, True)(query), [-1, 1, 1, depth])
                    score = math_ops.reduce_sum(
                        v[head] * math_ops.tanh(features[head] + math_ops.cast(y, dtype)), [2, 3])
                    weights = math_ops.cast(nn_activation.softmax(math_ops.cast(score, dtype=dtypes.float32)), dtype)
                    read = math_ops.reduce_sum(array_ops.reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
                    reads.append(array_ops.reshape(read, [-1, depth]))
            return reads

        state, outputs, prev = initial_state, [], None
        shape = array_ops.stack([batch_size, depth])
        reads = [array_ops.zeros(shape, dtype=dtype) for _ in range(num_heads)]
        for read in reads:
            read.set_shape([None, depth])
        if initial_state_attention:
            reads = attention(initial_state)
        for i, inp in enumerate(decoder_inputs):
            if i > 0:
                vs.get_variable_scope().reuse_variables()
            if loop_function is not None and prev is not None:
                with vs.variable_scope("loop_function", reuse=True):
                    inp = loop_function(prev, i)
            input_size = tensor_shape.dimension_value(inp.shape.with_rank(2)[1])
            if input_size is None:
                raise ValueError("Could not infer input size from input: %s" % inp.name)
            inputs = [math_ops.cast(x, dtype) for x in [inp] + reads]
            output, state = cell(Linear(inputs, input_size, True)(inputs), state)
            if i == 0 and initial_state_attention:  # the weights exist already
                with vs.variable_scope(vs.get_variable_scope(), reuse=True):
                    reads = attention(state)
            else:
                reads = attention(state)
            with vs.variable_scope("AttnOutputProjection"):
                inputs = [math_ops.cast(output, dtype)] + reads
                output = Linear(inputs, output_size, True)(inputs)
            outputs.append(output)
            prev = output
    return outputs, state


def embedding_attention_decoder(decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size,
                                num_heads=1, output_size=None, output_projection=None, feed_previous=False,
                                update_embedding_for_previous=True, dtype=None, scope=None,
                                initial_state_attention=False):
    """(outputs, state) of `attention_decoder` for symbols, int32 [batch]; `feed_previous` reads only the first."""
    output_size = cell.output_size if output_size is None else output_size
    check_projection(output_projection, num_symbols, dtype)
    with vs.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = vs.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = feed_previous_function(embedding, output_projection, update_embedding_for_previous) \
            if feed_previous else None
        embedded = [embedding_ops.embedding_lookup(embedding, i) for i in decoder_inputs]
        return attention_decoder(embedded, initial_state, attention_states, cell, output_size=output_size,
                                 num_heads=num_heads, loop_function=loop_function,
                                 initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
                                embedding_size, num_heads=1, output_projection=None, feed_previous=False, dtype=None,
                                scope=None, initial_state_attention=False):
    """(outputs, state) of an encoder of symbols and a decoder of symbols that attends to the encoder's outputs."""
    with vs.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder_cell = wrappers.EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols,
                                                 embedding_size=embedding_size)
        encoder_outputs, state = rnn.static_rnn(encoder_cell, encoder_inputs, dtype=scope.dtype)
        attention_states = array_ops.concat(
            [array_ops.reshape(e, [-1, 1, cell.output_size]) for e in encoder_outputs], 1)
        output_size = None
        if output_projection is None:
            cell = wrappers.OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feed_previous, **kwargs):
            return embedding_attention_decoder(
                decoder_inputs, state, attention_states, cell, num_decoder_symbols, embedding_size,
                num_heads=num_heads, output_size=output_size, output_projection=output_projection,
                feed_previous=feed_previous, initial_state_attention=initial_state_attention, **kwargs)

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return cond_on_feed_previous(feed_previous,
                                     lambda feed: decode(feed, update_embedding_for_previous=False), state)
