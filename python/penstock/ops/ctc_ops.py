"""Connectionist temporal classification, where an op exists."""
from penstock.framework import gen, sparse_tensor
from penstock.ops import array_ops
from penstock.ops.arguments import pick

__all__ = ["ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "ctc_loss"]


def ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    """The negative log likelihood of label sequences, given logits for each time; the last class is the blank."""
    if not isinstance(labels, sparse_tensor.SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = pick("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    loss, _ = gen.ctc_loss(inputs, labels.indices, labels.values, sequence_length,
                           preprocess_collapse_repeated=preprocess_collapse_repeated,
                           ctc_merge_repeated=ctc_merge_repeated,
                           ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)
    return loss


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """([the best class at each time as SparseTensor], negative sum of its logits)."""
    indices, values, shape, scores = gen.ctc_greedy_decoder(inputs, sequence_length, merge_repeated=merge_repeated)
    return [sparse_tensor.SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """(the best paths as SparseTensors, their log probabilities)."""
    indices, values, shapes, scores = gen.ctc_beam_search_decoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated)
    return [sparse_tensor.SparseTensor(*path) for path in zip(indices, values, shapes)], scores


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """(the best paths as SparseTensors, their log probabilities); repeated classes are kept."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)
