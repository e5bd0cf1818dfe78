"""Floating-point operations of nodes whose shapes are known: the statistic "flops"."""
import math

from penstock._src.function import graph_util
from penstock._src.graph import registry


def _shape(graph, name):
    shape = graph_util.tensor_shape_from_node_def_name(graph, name)
    shape.assert_is_fully_defined()
    return shape.as_list()


def _elements(graph, name):
    return math.prod(_shape(graph, name))


def _register(op_types, count):
    """Makes `count(graph, node)` the flops of each type."""

    def stats(graph, node):
        return registry.OpStats("flops", count(graph, node))

    for op_type in op_types.split():
        registry.RegisterStatistics(op_type, "flops")(stats)


def _of_input(each):
    return lambda graph, node: each * _elements(graph, node.input[0])


def _of_output(each):
    return lambda graph, node: each * _elements(graph, node.name)


def _reduction(finalize):
    """One operation for each element that is joined to another, `finalize` for each result."""

    def count(graph, node):
        results = _elements(graph, node.name)
        return _elements(graph, node.input[0]) + results * (finalize - 1)

    return count


def _add_n(graph, node):
    return _elements(graph, node.input[0]) * (len(node.input) - 1) if node.input else 0


def _product(summed_if_transposed, summed, transposed):
    def count(graph, node):
        a = _shape(graph, node.input[0])
        inner = a[summed_if_transposed] if node.attr[transposed].b else a[summed]
        return 2 * inner * _elements(graph, node.name)

    return count


def _convolution(filter_dims):
    """Two for each product of an input and one of the first `filter_dims` dimensions of the filter."""

    def count(graph, node):
        _shape(graph, node.input[0])
        return 2 * math.prod(_shape(graph, node.input[1])[:filter_dims]) * _elements(graph, node.name)

    return count


def _require_nhwc(node):
    if node.attr["data_format"].s != b"NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


def _convolution_gradient(filter_name):
    """Of the input (the filter is an input of the node) or of the filter (it is the output)."""

    def count(graph, node):
        _require_nhwc(node)
        image = _shape(graph, node.name if filter_name == "input" else node.input[0])
        filters = _elements(graph, node.input[1] if filter_name == "input" else node.name)
        strides = node.attr["strides"].list.i
        return 2 * math.prod(image) * filters / (image[-1] * strides[1] * strides[2])

    return count


def _window(node):
    _require_nhwc(node)
    return math.prod(node.attr["ksize"].list.i)


_register("AssignAdd AssignSub Log Neg Reciprocal Square", _of_input(1))
_register("Rsqrt", _of_input(2))
_register("Softmax", _of_input(5))
_register("BiasAdd", _of_input(1))
_register("L2Loss", lambda graph, node: 3 * _elements(graph, node.input[0]) - 1)
_register("""Add AddV2 Equal Greater GreaterEqual Less LessEqual Maximum Minimum Mul NotEqual Pow RealDiv Sub""",
          _of_output(1))
_register("SquaredDifference", _of_output(2))
_register("RsqrtGrad", _of_output(4))
_register("ArgMax ArgMin BiasAddGrad Sum", _reduction(0))
_register("Mean", _reduction(1))
_register("AddN", _add_n)
_register("MatMul", _product(0, 1, "transpose_a"))
_register("BatchMatMul BatchMatMulV2 BatchMatMulV3", _product(-2, -1, "adj_x"))
_register("Conv2D", _convolution(3))
_register("Conv3D", _convolution(4))
_register("DepthwiseConv2dNative Dilation2D", _convolution(2))
_register("Conv2DBackpropInput", _convolution_gradient("input"))
_register("Conv2DBackpropFilter", _convolution_gradient("output"))
_register("AvgPool MaxPool", lambda graph, node: _window(node) * _elements(graph, node.name))
_register("AvgPoolGrad", lambda graph, node: 2 * _window(node) * _elements(graph, node.input[1]))
_register("MaxPoolGrad", lambda graph, node: (_window(node) + 1) * _elements(graph, node.input[1]))
