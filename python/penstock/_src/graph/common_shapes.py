"""Static shape rules that Python code asks for."""
from penstock._src.graph import tensor_shape


def is_broadcast_compatible(shape_x, shape_y):
    """Whether the shapes can be broadcast together, or might be when more is known."""
    if shape_x.rank is None or shape_y.rank is None:
        return False
    return _broadcast(shape_x, shape_y) is not None


def _broadcast(shape_x, shape_y):
    """The dimensions of the broadcast shape, or None if the two do not fit."""
    x, y = list(reversed(shape_x.as_list())), list(reversed(shape_y.as_list()))
    size = max(len(x), len(y))
    x += [1] * (size - len(x))
    y += [1] * (size - len(y))
    result = []
    for a, b in zip(x, y):
        if a == 1 or b == 1:
            result.append(b if a == 1 else a)
        elif a is None or b is None:
            result.append(b if a is None else a)
        elif a == b:
            result.append(a)
        else:
            return None
    return result[::-1]


def broadcast_shape(shape_x, shape_y):
    """The static shape of two tensors broadcast together. ValueError if they do not fit."""
    if shape_x.rank is None or shape_y.rank is None:
        return tensor_shape.unknown_shape()
    dims = _broadcast(shape_x, shape_y)
    if dims is None:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}")
    return tensor_shape.TensorShape(dims)


def rank(tensor):
    """The static rank of a tensor, or None."""
    return tensor.shape.rank


def has_fully_defined_shape(tensor):
    """Whether the tensor's static shape is fully defined."""
    return tensor.shape.is_fully_defined()


def scalar_shape(unused_op):
    """The shapes of an operation whose output is a scalar."""
    return [tensor_shape.TensorShape([])]


def unknown_shape(op):
    """The shapes of an operation of which nothing is known."""
    return [tensor_shape.unknown_shape() for _ in op.outputs]


def unchanged_shape(op):
    """The shapes of an operation whose output is like its input."""
    return [op.inputs[0].get_shape()]
