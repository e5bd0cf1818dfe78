"""Sparse tensors: conversion, joining and cutting. Reductions, products and the like stand in sparse_math."""
import numbers
from collections import abc

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, sparse_tensor, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.sparse.sparse_math import *  # noqa: F401,F403
from penstock._src.ops.sparse.sparse_math import as_sparse

SparseTensor = sparse_tensor.SparseTensor


# From and to dense


def from_dense(tensor, name=None):
    """The elements that are not zero, or the strings that are not empty."""
    with ops.name_scope(name, "dense_to_sparse"):
        tensor = ops.convert_to_tensor(tensor)
        zero = constant_op.constant("" if tensor.dtype == dtypes.string else 0, tensor.dtype)
        indices = array_ops.where_v2(gen.not_equal(tensor, zero))
        values = array_ops.gather_nd(tensor, indices)
        return SparseTensor(indices, values, array_ops.shape(tensor, out_type=dtypes.int64))


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """A dense tensor that holds the values at the indices and `default_value` elsewhere."""
    return gen.sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value,
                               validate_indices=validate_indices, name=name)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor; `default_value` (zero) where there is no value."""
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sp_input.dtype)
    return gen.sparse_to_dense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value,
                               validate_indices=validate_indices, name=name)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """A dense boolean tensor that is true where an id is in the row."""
    sp_input = as_sparse(sp_input)
    with ops.name_scope(name, "SparseToIndicator", [sp_input]) as name:
        count = array_ops.shape(sp_input.indices)[0]
        marks = array_ops.fill(array_ops.expand_dims(count, 0), True)
        marked = sparse_merge(sp_input, SparseTensor(sp_input.indices, marks, sp_input.dense_shape), vocab_size, name)
        return sparse_tensor_to_dense(marked, default_value=False, validate_indices=False, name=name)


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal."""
    with ops.name_scope(name, default_name="eye", values=[num_rows, num_columns]):
        num_rows = _as_int64(num_rows, "num_rows")
        num_columns = num_rows if num_columns is None else _as_int64(num_columns, "num_columns")
        count = gen.minimum(num_rows, num_columns)
        places = math_ops.range(count, dtype=dtypes.int64)
        return SparseTensor(array_ops.stack([places, places], axis=1), array_ops.ones(count, dtype=dtype),
                            [num_rows, num_columns])


def _as_int64(value, name):
    if isinstance(value, (int, np.integer)):
        return ops.convert_to_tensor(value, name=name, dtype=dtypes.int64)
    if not isinstance(value, ops.Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype == dtypes.int64 else math_ops.cast(value, dtypes.int64)


# Shape


def sparse_reorder(sp_input, name=None):
    """The same tensor with its values in row-major order."""
    sp_input = as_sparse(sp_input)
    indices, values = gen.sparse_reorder(sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    known = sp_input.get_shape()
    shape = known.as_list() if known.is_fully_defined() else array_ops.identity(sp_input.dense_shape)
    result = SparseTensor(indices, values, shape)
    result.set_shape(known)
    return result


def sparse_reshape(sp_input, shape, name=None):
    """The same values in row-major order under another shape; one dimension may be -1."""
    sp_input = as_sparse(sp_input)
    shape = math_ops.cast(shape, dtype=dtypes.int64)
    with ops.name_scope(name, "SparseReshape", [sp_input]) as name:
        indices, new_shape = gen.sparse_reshape(sp_input.indices, sp_input.dense_shape, shape, name=name)
        wanted = tensor_util.constant_value_as_shape(shape)
        if wanted.ndims is not None and sp_input.get_shape().is_fully_defined():
            static = _reshaped(sp_input.get_shape(), wanted.as_list(), tensor_util.constant_value(shape))
            if static is not None:
                new_shape = constant_op.constant(static, dtype=dtypes.int64)
        return SparseTensor(indices, array_ops.identity(sp_input.values), new_shape)


def _reshaped(old, wanted, given):
    """The new shape if it is known; ValueError if the number of elements differs."""
    if given is not None and sum(d == -1 for d in given) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    if sum(dim is None for dim in wanted) > 1:
        return None
    count = int(np.prod(old.as_list()))
    rest = int(np.prod([dim for dim in wanted if dim is not None]))
    result = [count // rest if dim is None else dim for dim in wanted] if rest else [dim or 0 for dim in wanted]
    if int(np.prod(result)) != count:
        raise ValueError(f"Cannot reshape a tensor with {count} elements to shape {wanted} ({int(np.prod(result))} "
                         "elements).")
    return result


def sparse_transpose(sp_input, perm=None, name=None):
    """Dimension i of the result is dimension perm[i]; without `perm` the order is reversed."""
    with ops.name_scope(name, "SparseTranspose", [sp_input]) as name:
        if perm is None and tf2.enabled() and sp_input.get_shape().ndims is not None:
            perm = np.arange(sp_input.get_shape().ndims)[::-1]
        elif perm is None:
            rank = array_ops.rank(sp_input)
            perm = rank - 1 - math_ops.range(0, rank, 1)
        indices = array_ops.transpose(array_ops.gather(array_ops.transpose(sp_input.indices), perm))
        order = tensor_util.constant_value(ops.convert_to_tensor(perm))
        if order is not None and sp_input.get_shape().is_fully_defined():
            old = sp_input.get_shape().as_list()
            shape = [old[p] for p in order]
        else:
            shape = array_ops.gather(sp_input.dense_shape, perm)
        turned = SparseTensor(indices, sp_input.values, shape)
        if order is not None and sp_input.get_shape().ndims is not None:
            known = sp_input.get_shape().as_list()
            turned.set_shape([known[p] for p in order])
        return sparse_reorder(turned)


def sparse_expand_dims(sp_input, axis=None, name=None):
    """Inserts a dimension of size 1 at `axis` (-1)."""
    axis = -1 if axis is None else axis
    with ops.name_scope(name, default_name="expand_dims", values=[sp_input]):
        rank = tensor_shape.dimension_value(sp_input.dense_shape.get_shape()[0])
        rank = array_ops.size(sp_input.dense_shape) if rank is None else rank
        if isinstance(axis, (int, np.integer)):
            axis = ops.convert_to_tensor(axis, name="axis", dtype=dtypes.int32)
        elif not isinstance(axis, ops.Tensor):
            raise TypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
        axis = array_ops.where_v2(axis >= 0, axis, axis + rank + 1)
        zeros = array_ops.zeros([array_ops.shape(sp_input.indices)[0], 1], dtype=dtypes.int64)
        before = array_ops.slice(sp_input.indices, [0, 0], [-1, axis])
        after = array_ops.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = array_ops.concat([before, zeros, after], axis=1)
        before = array_ops.slice(sp_input.dense_shape, [0], [axis])
        after = array_ops.slice(sp_input.dense_shape, [axis], [-1])
        one = ops.convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        return SparseTensor(indices, sp_input.values, array_ops.concat([before, one, after], axis=0))


def sparse_reset_shape(sp_input, new_shape=None):
    """The same values in a larger shape, or in the smallest that holds them."""
    sp_input = as_sparse(sp_input)
    indices = array_ops.identity(sp_input.indices)
    values = array_ops.identity(sp_input.values)
    old = array_ops.identity(sp_input.dense_shape)
    if new_shape is None:
        last = math_ops.reduce_max(indices, axis=0)
        shape = gen.maximum(constant_op.constant(0, dtype=dtypes.int64), gen.add(last, array_ops.ones_like(old)))
        return SparseTensor(indices, values, shape)
    shape = ops.convert_to_tensor(new_shape)
    shape.get_shape().assert_has_rank(1)
    shape = math_ops.cast(shape, dtypes.int64)
    if shape.get_shape().ndims is not None:
        shape.get_shape().dims[0].merge_with(old.get_shape().dims[0])
    known = tensor_util.constant_value(shape)
    if known is not None and sp_input.get_shape().is_fully_defined():
        current = np.array(sp_input.get_shape().as_list())
        if not np.all(current <= known):
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                             f"({known}), sp_input.shape ({current}).")
        return SparseTensor(indices, values, known)
    same_rank = check_ops.assert_equal(array_ops.shape(old), array_ops.shape(shape))
    shape = control_flow_ops.with_dependencies([same_rank], shape)
    shape = control_flow_ops.with_dependencies([check_ops.assert_less_equal(old, shape)], shape)
    return SparseTensor(indices, values, shape)


# Joining and cutting


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None):
    """Joins along a dimension; the others must agree, or grow to the greatest if asked to."""
    if expand_nonconcat_dims is not None:
        if expand_nonconcat_dim:
            raise ValueError("Cannot specify both 'expand_nonconcat_dim' and 'expand_nonconcat_dims'")
        expand_nonconcat_dim = expand_nonconcat_dims
    return sparse_concat_v2(pick("axis", axis, "concat_dim", concat_dim), sp_inputs, expand_nonconcat_dim, name)


def sparse_concat_v2(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Joins along a dimension; the others must agree, or grow to the greatest if asked to."""
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    sp_inputs = [as_sparse(x) for x in sp_inputs]
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    shapes = [x.dense_shape for x in sp_inputs]
    if expand_nonconcat_dims:
        greatest = math_ops.reduce_max(array_ops.concat([array_ops.reshape(s, [1, -1]) for s in shapes], 0), 0)
        last = axis == -1
        shapes = [array_ops.concat([greatest[:axis], s[-1:] if last else s[axis:axis + 1],
                                    [] if last else greatest[axis + 1:]], 0) for s in shapes]
    indices, values, shape = gen.sparse_concat([x.indices for x in sp_inputs], [x.values for x in sp_inputs], shapes,
                                               axis, name=name)
    known = [tensor_util.constant_value(s) for s in shapes]
    if all(s is not None for s in known):
        static = np.array(known[0])
        static[axis] = sum(s[axis] for s in known)
        shape = ops.convert_to_tensor(static)
    return SparseTensor(indices, values, shape)


class KeywordRequired:
    """Stands where arguments must not be given by position."""

    def __repr__(self):
        return "KeywordRequired()"


def sparse_split(keyword_required=KeywordRequired(), sp_input=None, num_split=None, axis=None, name=None,
                 split_dim=None):
    """Cuts along `axis` into parts of equal size (the first may be one larger)."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    axis = pick("axis", axis, "split_dim", split_dim)
    for label, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{label} is required")
    sp_input = as_sparse(sp_input)
    parts = gen.sparse_split(axis, sp_input.indices, sp_input.values, sp_input.dense_shape, num_split, name=name)
    return [SparseTensor(*part) for part in zip(*parts)]


def sparse_split_v2(sp_input=None, num_split=None, axis=None, name=None):
    """Cuts along `axis` into parts of equal size (the first may be one larger)."""
    return sparse_split(sp_input=sp_input, num_split=num_split, axis=axis, name=name)


def sparse_slice(sp_input, start, size, name=None):
    """The block of shape `size` that starts at `start`."""
    sp_input = as_sparse(sp_input)
    start = ops.convert_to_tensor(start, dtypes.int64)
    size = ops.convert_to_tensor(size, dtypes.int64)
    with ops.name_scope(name, "SparseSlice", [sp_input]) as name:
        return SparseTensor(*gen.sparse_slice(sp_input.indices, sp_input.values, sp_input.dense_shape, start, size,
                                              name=name))


def sparse_retain(sp_input, to_retain):
    """Only the values for which `to_retain` is true."""
    sp_input = as_sparse(sp_input)
    to_retain = ops.convert_to_tensor(to_retain)
    to_retain.get_shape().assert_has_rank(1)
    if sp_input.values.get_shape().dims is not None:
        sp_input.values.get_shape().dims[0].merge_with(tensor_shape.dimension_at_index(to_retain.get_shape(), 0))
    places = array_ops.reshape(array_ops.where_v2(to_retain), [-1])
    indices = array_ops.gather(sp_input.indices, places)
    values = array_ops.gather(sp_input.values, places)
    return SparseTensor(indices, values, array_ops.identity(sp_input.dense_shape))


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(the tensor with `default_value` in the first column of rows without values, which rows these were)."""
    sp_input = as_sparse(sp_input)
    with ops.name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = ops.convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        indices, values, empty, _ = gen.sparse_fill_empty_rows(sp_input.indices, sp_input.values, sp_input.dense_shape,
                                                               default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Values at the places that ids name: the last dimension of the ids becomes one of the vocabulary's size."""
    if isinstance(sp_ids, (SparseTensor, sparse_tensor.SparseTensorValue)):
        sp_ids = [sp_ids]
        if not isinstance(vocab_size, (ops.Tensor, numbers.Integral)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        vocab_size = [vocab_size]
    else:
        if not isinstance(sp_ids, abc.Iterable):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
        if not isinstance(vocab_size, abc.Iterable):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
        for dim in vocab_size:
            if not isinstance(dim, (ops.Tensor, numbers.Integral)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(dim)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with ops.name_scope(name, "SparseMerge", [sp_ids, sp_values]):
        sp_ids = [as_sparse(ids) for ids in sp_ids]
        sp_values = as_sparse(sp_values)
        columns = []
        for ids in sp_ids:
            values = ids.values if ids.dtype == dtypes.int64 else math_ops.cast(ids.values, dtypes.int64)
            columns.append(array_ops.expand_dims(values, axis=1))
        vocab_size = [math_ops.cast(x, dtypes.int64) for x in vocab_size]
        indices = array_ops.concat([sp_ids[0].indices[:, :-1]] + columns, 1)
        shape = array_ops.concat([sp_ids[0].dense_shape[:-1], vocab_size], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        result = sparse_reorder(result)
        return SparseTensor(result.indices, result.values, shape)


# Serialisation


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """Three strings that hold the tensor's parts."""
    sp_input = as_sparse(sp_input)
    return gen.serialize_sparse(sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name)


def serialize_sparse_v2(sp_input, out_type=dtypes.string, name=None):
    """Three strings that hold the tensor's parts."""
    return serialize_sparse(sp_input, name, out_type)


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """Three strings for each slice along dimension 0."""
    sp_input = as_sparse(sp_input)
    return gen.serialize_many_sparse(sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type,
                                     name=name)


def serialize_many_sparse_v2(sp_input, out_type=dtypes.string, name=None):
    """Three strings for each slice along dimension 0."""
    return serialize_many_sparse(sp_input, name, out_type)


def _deserialize(op, serialized, dtype, rank, name):
    indices, values, shape = op(serialized, dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The inverse of serialize_sparse."""
    return _deserialize(gen.deserialize_sparse, serialized_sparse, dtype, rank, name)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The inverse of serialize_many_sparse."""
    return _deserialize(gen.deserialize_many_sparse, serialized_sparse, dtype, rank, name)


def _add_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    """The number of a sparse tensor in a table."""
    sp_input = as_sparse(sp_input)
    return gen.add_sparse_to_tensors_map(sp_input.indices, sp_input.values, sp_input.dense_shape,
                                         container=container or "", shared_name=shared_name or "", name=name)


def _add_many_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    """The numbers of a sparse tensor's rows in a table."""
    sp_input = as_sparse(sp_input)
    return gen.add_many_sparse_to_tensors_map(sp_input.indices, sp_input.values, sp_input.dense_shape,
                                              container=container or "", shared_name=shared_name or "", name=name)


def _take_many_sparse_from_tensors_map(sparse_map_op, sparse_handles, rank=None, name=None):
    """The sparse tensors with these numbers in the table of an operation, side by side."""
    if not isinstance(sparse_map_op, ops.Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError("sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, found "
                        f"`{sparse_map_op.type}`.")
    with ops.colocate_with(sparse_map_op):
        shared_name = sparse_map_op.get_attr("shared_name").decode() or sparse_map_op.name
        indices, values, shape = gen.take_many_sparse_from_tensors_map(
            sparse_handles, dtype=sparse_map_op.get_attr("T"), container=sparse_map_op.get_attr("container").decode(),
            shared_name=shared_name, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return sparse_tensor.SparseTensor(indices, values, shape)
