"""Summaries named after their tensors."""
from penstock._src.graph import ops
from penstock._src.ops.lookup import logging_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.summary import summary


def _name(tensor, name=None, prefix=None, postfix=None):
    name = name or tensor.op.name
    name = prefix + "/" + name if prefix else name
    return name + "/" + postfix if postfix else name


def _printed(summarize, tensor, name, print_summary):
    op = summarize(name, tensor, collections=[] if print_summary else None)
    if print_summary:
        op = logging_ops.Print(op, [tensor], name)
        ops.add_to_collection(ops.GraphKeys.SUMMARIES, op)
    return op


def add_histogram_summary(tensor, name=None, prefix=None):
    """The histogram of a tensor."""
    return summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    """A tensor as images."""
    return _printed(summary.image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    """The value of a scalar; printed each time it is made, if asked."""
    return _printed(summary.scalar, tensor, _name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    """The share of zeros among the elements of a tensor."""
    name = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(nn_impl.zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """The histograms of several tensors."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """Several tensors as images."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    """The values of several scalars."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """The shares of zeros of several tensors."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
