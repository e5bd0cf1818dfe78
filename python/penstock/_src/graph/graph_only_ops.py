"""Nodes for graphs, whatever mode the program runs in."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape


def graph_zeros_like(tensor):
    """A node ZerosLike in the default graph."""
    graph = ops.get_default_graph()
    tensor = ops.convert_to_tensor(tensor, name="x")
    return graph._new_op("ZerosLike", [tensor], "zeros_like_x", {"T": tensor.dtype._base}).outputs[0]


def graph_placeholder(dtype, shape, name=None):
    """A node Placeholder in the default graph."""
    attrs = {"dtype": dtypes.as_dtype(dtype)._base, "shape": tensor_shape.as_shape(shape)._to_core()}
    return ops.get_default_graph()._new_op("Placeholder", [], name or "Placeholder", attrs).outputs[0]
