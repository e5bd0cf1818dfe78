"""Strings."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, sparse_tensor, tensor_util
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops import array_ops, math_ops

__all__ = [
    "reduce_join", "reduce_join_v2", "regex_full_match", "regex_replace", "string_format", "string_length",
    "string_length_v2", "string_split", "string_split_v2", "string_to_hash_bucket", "string_to_hash_bucket_v1",
    "string_to_number", "string_to_number_v1", "substr", "substr_deprecated", "substr_v2",
]



def regex_full_match(input, pattern, name=None):
    """Whether the whole string matches."""
    if isinstance(pattern, (bytes, str)):
        return gen.static_regex_full_match(input, pattern=pattern, name=name)
    return gen.regex_full_match(input, pattern, name=name)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Replaces what matches, everywhere or the first time."""
    if isinstance(pattern, (bytes, str)) and isinstance(rewrite, (bytes, str)):
        return gen.static_regex_replace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global,
                                        name=name)
    return gen.regex_replace(input, pattern, rewrite, replace_global=replace_global, name=name)


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with a summary of a tensor at each placeholder."""
    inputs = [inputs] if tensor_util.is_tensor(inputs) else inputs
    count = template.count(placeholder)
    if count != len(inputs):
        raise ValueError(f"{count} placeholder(s) in template does not match {len(inputs)} tensor(s) provided as input")
    return gen.string_format(inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)


def _split(op, source, separator, **how):
    separator = ops.convert_to_tensor(separator, dtype=dtypes.string)
    source = ops.convert_to_tensor(source, dtype=dtypes.string)
    indices, values, shape = op(source, separator, **how)
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return sparse_tensor.SparseTensor(indices, values, shape)


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """The parts of each string, cut at any of the characters, as rows of a SparseTensor."""
    separator = pick("sep", sep, "delimiter", delimiter)
    if result_type != "SparseTensor":
        raise ValueError(f"result_type must be 'SparseTensor', not {result_type!r}")
    with ops.name_scope(name, "StringSplit", [source]):
        return _split(gen.string_split, source, " " if separator is None else separator, skip_empty=skip_empty)


def string_split_v2(source, sep=None, maxsplit=-1):
    """The parts of each string, cut at the separator or at runs of white space, as rows of a SparseTensor."""
    return _split(gen.string_split_v2, source, "" if sep is None else sep, maxsplit=maxsplit)


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Joins the strings along the axes, or all."""
    keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
    return reduce_join_v2(inputs, pick("axis", axis, "reduction_indices", reduction_indices), bool(keepdims), separator,
                          name)


def reduce_join_v2(inputs, axis=None, keepdims=False, separator="", name=None):
    """Joins the strings along the axes, or all."""
    with ops.name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = ops.convert_to_tensor(inputs)
        if axis is None:
            ndims = inputs.get_shape().ndims
            if ndims is None:
                axis = math_ops.range(array_ops.rank(inputs) - 1, -1, -1)
            else:
                axis = constant_op.constant(np.arange(ndims - 1, -1, -1), dtype=dtypes.int32)
        return gen.reduce_join(inputs, axis, keep_dims=keepdims, separator=separator, name=name)


def string_length(input, name=None, unit="BYTE"):
    """The length in bytes or characters."""
    return gen.string_length(input, unit=unit, name=name)


def string_length_v2(input, unit="BYTE", name=None):
    """The length in bytes or characters."""
    return string_length(input, name, unit)


def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes or characters from `pos` on."""
    return gen.substr(input, pos, len, unit=unit, name=name)


substr_deprecated = substr


def substr_v2(input, pos, len, unit="BYTE", name=None):
    """`len` bytes or characters from `pos` on."""
    return substr(input, pos, len, name, unit)


def string_to_number(input, out_type=dtypes.float32, name=None):
    """The number that each string spells."""
    return gen.string_to_number(input, out_type=out_type, name=name)


def string_to_number_v1(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The number that each string spells."""
    return string_to_number(pick("input", input, "string_tensor", string_tensor), out_type, name)


def string_to_hash_bucket(input, num_buckets, name=None):
    """The hash of each string, modulo the number of buckets."""
    return gen.string_to_hash_bucket(input, num_buckets, name=name)


def string_to_hash_bucket_v1(string_tensor=None, num_buckets=None, name=None, input=None):
    """The hash of each string, modulo the number of buckets."""
    return string_to_hash_bucket(pick("input", input, "string_tensor", string_tensor), num_buckets, name)
