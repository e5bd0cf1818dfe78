"""Sparse tensors among the parts of an element, in the form in which datasets hold them."""
from penstock._src.data.util import nest
from penstock._src.graph import dtypes, ops, sparse_tensor, tensor_shape
from penstock._src.ops.sparse import sparse_ops


def any_sparse(classes):
    """Whether one of them is SparseTensor."""
    return any(c is sparse_tensor.SparseTensor for c in nest.flatten(classes))


def _replaced(structure, classes, value):
    return nest.pack_sequence_as(structure, [value if c is sparse_tensor.SparseTensor else part for part, c in zip(
        nest.flatten(structure), nest.flatten(classes))])


def as_dense_shapes(shapes, classes):
    """The shapes, unknown ones for sparse tensors."""
    return _replaced(shapes, classes, tensor_shape.unknown_shape())


def as_dense_types(types, classes):
    """The types, variants for sparse tensors."""
    return _replaced(types, classes, dtypes.variant)


def deserialize_sparse_tensors(tensors, types, shapes, classes):
    """The tensors, with sparse ones made of variants."""
    parts = zip(*map(nest.flatten, (tensors, types, shapes, classes)))
    return nest.pack_sequence_as(types, [
        sparse_ops.deserialize_sparse(tensor, dtype=dtype, rank=shape.ndims) if c is sparse_tensor.SparseTensor
        else tensor for tensor, dtype, shape, c in parts])


def get_classes(tensors):
    """SparseTensor or Tensor for each."""
    return nest.map_structure(lambda tensor: sparse_tensor.SparseTensor if isinstance(
        tensor, sparse_tensor.SparseTensor) else ops.Tensor, tensors)


def serialize_sparse_tensors(tensors):
    """The tensors, with variants for sparse ones."""
    return nest.map_structure(lambda tensor: sparse_ops.serialize_sparse(tensor, out_type=dtypes.variant)
                              if isinstance(tensor, sparse_tensor.SparseTensor) else tensor, tensors)


def serialize_many_sparse_tensors(tensors):
    """The tensors, with rows of variants for batches of sparse ones."""
    return nest.map_structure(lambda tensor: sparse_ops.serialize_many_sparse(tensor, out_type=dtypes.variant)
                              if sparse_tensor.is_sparse(tensor) else tensor, tensors)
