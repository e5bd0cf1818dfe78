"""Summaries of tensors by what they are."""
import functools
import re

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import graph_keys
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary

__all__ = ["summarize_activation", "summarize_activations", "summarize_biases", "summarize_collection",
           "summarize_tensor", "summarize_tensors", "summarize_variables", "summarize_weights"]


def _share(condition, tag):
    return summary.scalar(tag, math_ops.reduce_mean(math_ops.cast(condition, dtypes.float32)))


def summarize_tensor(tensor, tag=None):
    """A scalar's value, or the histogram of another tensor; None for strings and bools."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    summarize = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return summarize(tag or "%s_summary" % tensor.op.name, tensor)


def summarize_activation(op):
    """The histogram of an activation; of Relu, Relu6 and Softplus the share of inputs below 0 too, of Relu6 above 6."""
    name, kind = op.op.name, op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        below = op.op.inputs[0]
        _share(gen.less(below, math_ops.cast(0.0, below.dtype)), "%s/zeros" % name)
    if kind == "Relu6":
        above = op.op.inputs[0]
        _share(gen.greater(above, math_ops.cast(6.0, above.dtype)), "%s/sixes" % name)
    return summary.histogram("%s/activation" % name, op)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """The summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """The summaries of a collection, of names that match a regular expression if one is given."""
    return summarize_tensors([tensor for tensor in ops.get_collection(collection)
                              if name_filter is None or re.match(name_filter, tensor.op.name)], summarizer)


summarize_variables = functools.partial(summarize_collection, graph_keys.GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, graph_keys.GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, graph_keys.GraphKeys.BIASES)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """The summaries of the collection ACTIVATIONS."""
    return summarize_collection(graph_keys.GraphKeys.ACTIVATIONS, name_filter, summarizer)
