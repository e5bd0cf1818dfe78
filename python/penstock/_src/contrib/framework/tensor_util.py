"""Tensors summed, and checked for their types and shapes."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.metrics import confusion_matrix
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops


def reduce_sum_n(tensors, name=None):
    """The sum of all elements of all tensors. ValueError without any."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with ops.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [math_ops.reduce_sum(tensor, name="%s/sum" % tensor.op.name) for tensor in tensors]
        return sums[0] if len(sums) == 1 else math_ops.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """(predictions, labels), the one with one dimension more squeezed if that has size 1."""
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def assert_scalar_int(tensor, name=None):
    """The tensor. ValueError unless it is an integer scalar."""
    with ops.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = ops.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError("Expected integer type for %s, received type: %s." % (tensor.name, tensor.dtype))
        return check_ops.assert_scalar(tensor, name=scope)


def _assert_shape(expected_shape, tensor):
    with ops.name_scope("assert_shape", values=[tensor]) as scope:
        actual = array_ops.shape(tensor, name="actual")
        with ops.name_scope("is_shape", values=[tensor]):
            same_rank = math_ops.equal(array_ops.size(expected_shape), array_ops.rank(tensor))
            fits = gen.logical_or(math_ops.equal(expected_shape, -1), math_ops.equal(expected_shape, actual))
            is_shape = gen.logical_and(same_rank, math_ops.reduce_all(fits))
        return control_flow_ops.Assert(
            is_shape, ["Wrong shape for %s [expected] [actual]." % tensor.name, expected_shape, actual], name=scope)


def with_shape(expected_shape, tensor):
    """The tensor, of that shape: known now, or checked at run. ValueError if it has another; -1 fits any size."""
    if isinstance(tensor, sparse_tensor.SparseTensor):
        raise ValueError("SparseTensor not supported.")
    dynamic = tensor_util.is_tensor(expected_shape)
    if dynamic:
        if expected_shape.dtype.base_dtype != dtypes.int32:
            raise ValueError("Invalid dtype %s for shape %s expected of tensor %s." %
                             (expected_shape.dtype, expected_shape, tensor.name))
    else:
        sizes = tensor_shape.TensorShape([None if size == -1 else size for size in expected_shape])
        expected_shape = [-1 if size is None else size for size in sizes.as_list()]
    if tensor.get_shape().is_fully_defined() and not dynamic and tensor.get_shape().is_compatible_with(sizes):
        return tensor
    with ops.name_scope("%s/" % tensor.op.name, values=[tensor]):
        if not dynamic and not expected_shape and tensor.get_shape().is_compatible_with([1]):
            return array_ops.reshape(tensor, [])
        if not dynamic and tensor.get_shape().is_fully_defined():
            raise ValueError("Invalid shape for tensor %s, expected %s, got %s." %
                             (tensor.name, expected_shape, tensor.get_shape()))
        with ops.control_dependencies([_assert_shape(expected_shape, tensor)]):
            checked = array_ops.identity(tensor)
        if not dynamic:
            checked.set_shape(sizes)
        return checked


def with_same_shape(expected_tensor, tensor):
    """The tensor, of the shape of another."""
    with ops.name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(shape.as_list() if shape.is_fully_defined() else
                          array_ops.shape(expected_tensor, name="expected_shape"), tensor)
