"""Encoders and decoders of lists of inputs, one [batch] or [batch, depth] tensor for each time step."""
import copy

from penstock._src.contrib.legacy_seq2seq.attention import attention_decoder
from penstock._src.contrib.legacy_seq2seq.attention import embedding_attention_decoder
from penstock._src.contrib.legacy_seq2seq.attention import embedding_attention_seq2seq
from penstock._src.contrib.legacy_seq2seq.decoder import check_projection
from penstock._src.contrib.legacy_seq2seq.decoder import cond_on_feed_previous
from penstock._src.contrib.legacy_seq2seq.decoder import embedding_rnn_decoder
from penstock._src.contrib.legacy_seq2seq.decoder import feed_previous_function
from penstock._src.contrib.legacy_seq2seq.decoder import rnn_decoder
from penstock._src.contrib.legacy_seq2seq.loss import model_with_buckets
from penstock._src.contrib.legacy_seq2seq.loss import sequence_loss
from penstock._src.contrib.legacy_seq2seq.loss import sequence_loss_by_example
from penstock._src.contrib.rnn import wrappers
from penstock._src.graph import dtypes
from penstock._src.ops.nn import embedding_ops
from penstock._src.layers.rnn import rnn
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.ops.state import variable_scope as vs

__all__ = ["attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
           "embedding_rnn_decoder", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq", "model_with_buckets",
           "one2many_rnn_seq2seq", "rnn_decoder", "sequence_loss", "sequence_loss_by_example", "tied_rnn_seq2seq"]


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=dtypes.float32, scope=None):
    """(outputs, state) of a decoder that begins with an encoder's last state; each has weights of its own."""
    with vs.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = rnn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=dtypes.float32, scope=None):
    """(outputs, state) of a decoder that begins with an encoder's last state and has the same weights."""
    with vs.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = rnn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        vs.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
                          embedding_size, output_projection=None, feed_previous=False, dtype=None, scope=None):
    """(outputs, state) of an encoder and a decoder of symbols, each with an embedding of its own.

    Inputs are int32 [batch]; `output_projection` is (weights, biases), without which outputs are projected to
    `num_decoder_symbols`. With `feed_previous`, a bool or a bool tensor, only the first decoder input is read.
    """
    with vs.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder_cell = wrappers.EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols,
                                                 embedding_size=embedding_size)
        _, state = rnn.static_rnn(encoder_cell, encoder_inputs, dtype=scope.dtype)
        if output_projection is None:
            cell = wrappers.OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feed_previous, **kwargs):
            return embedding_rnn_decoder(decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                                         output_projection=output_projection, feed_previous=feed_previous, **kwargs)

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return cond_on_feed_previous(feed_previous,
                                     lambda feed: decode(feed, update_embedding_for_previous=False), state)


def embedding_tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size,
                               num_decoder_symbols=None, output_projection=None, feed_previous=False, dtype=None,
                               scope=None):
    """(outputs, state) of an encoder and a decoder that share weights and one embedding of `num_symbols`."""
    with vs.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        check_projection(output_projection, num_symbols, dtype)
        embedding = vs.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoder_inputs, decoder_inputs = ([embedding_ops.embedding_lookup(embedding, x) for x in inputs]
                                          for inputs in (encoder_inputs, decoder_inputs))
        if output_projection is None:
            cell = wrappers.OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None
                                                    else num_decoder_symbols)

        def decode(feed_previous, update_embedding):
            loop_function = feed_previous_function(embedding, output_projection, update_embedding) \
                if feed_previous else None
            return tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=loop_function, dtype=dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return cond_on_feed_previous(feed_previous, lambda feed: decode(feed, False), cell.state_size)


def one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict, num_encoder_symbols,
                         num_decoder_symbols_dict, embedding_size, feed_previous=False, dtype=None, scope=None):
    """(outputs by name, states by name) of one encoder and several decoders of symbols.

    TypeError for what is no RNNCell, ValueError unless both dictionaries have the same names.
    """
    for what, cell in [("enc_cell", enc_cell)] + [("dec_cell", cell) for cell in dec_cells_dict.values()]:
        if not isinstance(cell, rnn_cell_impl.RNNCell):
            raise TypeError("%s is not an RNNCell: %s" % (what, type(cell)))
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    outputs, states = {}, {}
    with vs.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        enc_cell = wrappers.EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols,
                                             embedding_size=embedding_size)
        _, encoder_state = rnn.static_rnn(enc_cell, encoder_inputs, dtype=scope.dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with vs.variable_scope("one2many_decoder_" + str(name)):
                cell = wrappers.OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feed, inputs=decoder_inputs, cell=cell, symbols=symbols):
                    return embedding_rnn_decoder(inputs, encoder_state, cell, symbols, embedding_size,
                                                 feed_previous=feed)

                outputs[name], states[name] = (
                    decode(feed_previous) if isinstance(feed_previous, bool) else
                    cond_on_feed_previous(feed_previous, decode, encoder_state))
    return outputs, states
