"""Printing tensors: tf.Print and tf.print."""
import logging
import os
import pprint
import random
import sys

from penstock._src.graph import dtypes, gen, sparse_tensor, tensor_util
from penstock._src.base import nest

__all__ = ["Print", "print_v2"]



def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """`input_`, of which running prints `data` (the first `first_n` times)."""
    given = {"message": message, "first_n": first_n, "summarize": summarize}
    return gen.print(input_, data, name=name, **{key: value for key, value in given.items() if value is not None})


def _stream_name(stream):
    """The attribute of PrintV2 for a stream, a logging level or function, or a file://..."""
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream is sys.stdout or stream is sys.stderr:
        return "stdout" if stream is sys.stdout else "stderr"
    for level, names in (("info", ("info",)), ("warning", ("warning", "warn")), ("error", ("error",))):
        if isinstance(stream, int) and stream == getattr(logging, level.upper()):
            return f"log({level})"
        if callable(stream) and getattr(stream, "__name__", "") in names:
            return f"log({level})"
    raise ValueError(f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
                     "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form "
                     "of 'file://<filepath>'.")


def _is_sparse(x):
    return isinstance(x, sparse_tensor.SparseTensor)


def _is_tensor(x):
    return tensor_util.is_tensor(x) or _is_sparse(x)


def _format(template, tensors, mark, summarize, name):
    if not any(hasattr(x, "nested_row_splits") for x in tensors):
        return gen.string_format(tensors, template=template, placeholder=mark, summarize=summarize, name=name)
    from penstock._src.ops.ragged import ragged_string_ops  # which is built on this module
    return ragged_string_ops.string_format(template, tensors, mark, summarize, name)


def _unused_mark(inputs):
    """A placeholder that no text among the inputs contains."""
    texts = " ".join(pprint.pformat(x) for x in nest.map_structure(lambda x: "" if _is_tensor(x) else x, inputs))
    mark, digits = "{}", random.Random(5)
    while mark in texts:
        mark += str(digits.randint(0, 9))
    return mark


def print_v2(*inputs, **kwargs):
    """An operation that prints the inputs, as `print` would, whenever it runs."""
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    only = inputs[0] if len(inputs) == 1 else None
    if only is not None and tensor_util.is_tensor(only) and not _is_sparse(only) and only.shape.ndims == 0 \
            and only.dtype == dtypes.string:
        text = only
    else:
        mark = _unused_mark(inputs)
        tensors, lines = [], []
        for value in inputs:
            marks = []
            for part in nest.flatten(value):
                if _is_sparse(part):
                    tensors += [part.indices, part.values, part.dense_shape]
                    marks.append(f"SparseTensor(indices={mark}, values={mark}, shape={mark})")
                elif _is_tensor(part):
                    tensors.append(part)
                    marks.append(mark)
                else:
                    marks.append(part)
            lines.append(value if isinstance(value, str) else pprint.pformat(nest.pack_sequence_as(value, marks)))
        template = separator.join(lines).replace(f"'{mark}'", mark)
        text = _format(template, tensors, mark, summarize, f"{name}_format" if name else None)
    return gen.print_v2(text, output_stream=stream, end=end, name=name)
