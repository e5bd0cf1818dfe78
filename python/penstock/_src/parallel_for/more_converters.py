"""Further converters: what works on a batch of matrices or images, and what gradients are made of."""
import string

from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.parallel_for import calls
from penstock._src.parallel_for import converters
from penstock._src.parallel_for import lists
from penstock._src.parallel_for.conversion import Value, constant_value
from penstock._src.parallel_for.converters import _behind, _rank

_RANDOM = "RandomGamma RandomPoissonV2".split()  # of a shape and parameters
# Their first inputs are batches of vectors or matrices; the number says how many, the others serve for all.
_BATCHES = {
    1: """AdjustContrastv2 AdjustHue AdjustSaturation BatchMatrixBandPart
          EnsureShape FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LogMatrixDeterminant
          MatrixBandPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 Qr RFFT RFFT2D RFFT3D
          SelfAdjointEigV2 Svd TopK TopKV2""".split(),
    2: "Cross MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve".split(),
}
# The first dimension of their first inputs is a batch, of which iterations can be more; all outputs have it too.
_IMAGES = {
    1: "AvgPool3D Conv3D DepthToSpace DepthwiseConv2dNative MaxPool3D MaxPoolV2 Multinomial SpaceToDepth".split(),
    2: "LowerBound UpperBound SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits".split(),
    3: "MaxPool3DGrad MaxPoolGrad MaxPoolGradV2".split(),
}
_SIZED = "AvgPoolGrad AvgPool3DGrad Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput".split()


def _batch(count):
    def convert(c, op, inputs):
        if any(value.stacked for value in inputs[count:]):
            return NotImplemented
        if op.type == "EnsureShape":
            return inputs[0].tensor
        made = c.copy(op, [c.stack(v) for v in inputs[:count]] + [v.tensor for v in inputs[count:]]).outputs
        # What is left out, as eigenvectors may be, is one empty vector however many matrices there are.
        return [Value(t, t.shape.as_list() != [0]) if t.shape.ndims == 1 else t for t in made]
    return convert


def _flattened(tensor):
    """Iterations and batch as one dimension."""
    return array_ops.reshape(tensor, array_ops.concat([[-1], array_ops.shape(tensor)[2:]], 0))


def _split_again(c, tensor):
    return array_ops.reshape(tensor, array_ops.concat([[c.iters, -1], array_ops.shape(tensor)[1:]], 0))


def _images(count):
    def convert(c, op, inputs):
        if any(value.stacked for value in inputs[count:]):
            return NotImplemented
        made = c.copy(op, [_flattened(c.stack(v)) for v in inputs[:count]] + [v.tensor for v in inputs[count:]])
        return [_split_again(c, t) for t in made.outputs]
    return convert


def _sized(c, op, inputs):
    """The first input says how large the result is, the last is a batch."""
    *before, last = inputs
    if any(value.stacked for value in before):
        return NotImplemented
    size = before[0].tensor
    size = array_ops.concat([size[:1] * c.iters, size[1:]], 0)
    made = c.copy(op, [size, *(v.tensor for v in before[1:]), _flattened(last.tensor)])
    return _split_again(c, made.outputs[0])


def _one_hot(c, op, inputs):
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    axis = op.get_attr("axis")
    return c.copy(op, [value.tensor for value in inputs], axis={"i": axis if axis < 0 else axis + 1}).outputs[0]


def _pad(c, op, inputs):
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    paddings = inputs[1].tensor
    paddings = array_ops.concat([array_ops.zeros([1, 2], paddings.dtype), paddings], 0)
    return c.copy(op, [inputs[0].tensor, paddings, *(v.tensor for v in inputs[2:])]).outputs[0]


def _along_axes(c, op, inputs):
    """The last input has axes."""
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    return c.copy(op, [*(v.tensor for v in inputs[:-1]), _behind(inputs[-1].tensor)]).outputs[0]


def _strided_slice_grad(c, op, inputs):
    if any(value.stacked for value in inputs[:-1]):
        return NotImplemented
    size, begin, end, strides = (value.tensor for value in inputs[:-1])
    first = [math_ops.cast([n], begin.dtype) for n in (0, 0, 1)]
    masks = {name: {"i": op.get_attr(name) << 1 | (name in ("begin_mask", "end_mask"))}
             for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    size = array_ops.concat([math_ops.cast([c.iters], size.dtype), size], 0)
    return c.copy(op, [size, *(array_ops.concat([a, b], 0) for a, b in zip(first, (begin, end, strides))),
                       inputs[-1].tensor], **masks).outputs[0]


def _bias_add_grad(c, op, inputs):
    rank = _rank(op, 0)
    if rank is None:
        return NotImplemented
    kept = rank if op.get_attr("data_format") == b"NHWC" else 2
    return math_ops.reduce_sum(inputs[0].tensor, [i for i in range(1, rank + 1) if i != kept])


def _unsorted_segments(c, op, inputs):
    """Each iteration has segments of its own; negative numbers stay what they are."""
    data, ids, count = inputs
    if count.stacked:
        return NotImplemented
    data, ids, count = c.stack(data), c.stack(ids), count.tensor
    shape = array_ops.concat([[-1], array_ops.ones_like(array_ops.shape(ids)[1:])], 0)
    offsets = array_ops.reshape(math_ops.cast(c.indices, ids.dtype), shape) * math_ops.cast(count, ids.dtype)
    made = c.copy(op, [data, array_ops.where_v2(ids < 0, ids, ids + offsets), count * math_ops.cast(
        c.iters, count.dtype)]).outputs[0]
    return _split_again(c, made)


def _gather_nd(c, op, inputs):
    params, indices = inputs
    if not params.stacked:
        return c.copy(op, [params.tensor, indices.tensor]).outputs[0]
    if _rank(op, 1) is None:
        return NotImplemented
    indices = c.stack(indices)
    shape = array_ops.concat([array_ops.shape(indices)[:-1], [1]], 0)
    first = array_ops.reshape(math_ops.cast(c.indices, indices.dtype), [-1] + [1] * _rank(op, 1))
    return gen.gather_nd(params.tensor, array_ops.concat([gen.broadcast_to(first, shape), indices], -1))


def _scatter_nd(c, op, inputs):
    """Each iteration writes into a tensor of its own."""
    if _rank(op, 1) is None:
        return NotImplemented
    tensor, indices, updates = (c.stack(value) for value in inputs)
    shape = array_ops.concat([array_ops.shape(indices)[:-1], [1]], 0)
    first = array_ops.reshape(math_ops.cast(c.indices, indices.dtype), [-1] + [1] * _rank(op, 1))
    return c.copy(op, [tensor, array_ops.concat([gen.broadcast_to(first, shape), indices], -1),
                       updates]).outputs[0]


def _slice(c, op, inputs):
    """Where only the begin depends on the iteration, rows are taken along one axis after the other."""
    value, begin, size = inputs
    known = None if size.stacked else constant_value(size.tensor)
    if not begin.stacked or known is None or (known < 0).any():
        return converters.TABLE["Slice"](c, op, inputs)
    made = c.stack(value)
    for axis, count in enumerate(known):
        rows = begin.tensor[:, axis:axis + 1] + math_ops.range(math_ops.cast(int(count), begin.tensor.dtype))
        made = array_ops.gather(made, rows, axis=axis + 1, batch_dims=1)
    return made


def _einsum(c, op, inputs):
    """A further label in front is that of the iterations."""
    equation = op.get_attr("equation").decode()
    label = next(x for x in string.ascii_letters if x not in equation)
    terms, result = equation.split("->")
    terms = [label + term if value.stacked else term for term, value in zip(terms.split(","), inputs)]
    return c.copy(op, [value.tensor for value in inputs],
                  equation={"s": f"{','.join(terms)}->{label}{result}".encode()}).outputs[0]


def _space_and_batch(c, op, inputs):
    """Iterations are a further axis that is not cut, behind the batch."""
    value, block, edges = inputs
    if block.stacked or edges.stacked or _rank(op, 0) is None:
        return NotImplemented
    order = [1, 0, *range(2, _rank(op, 0) + 1)]
    block = array_ops.concat([math_ops.cast([1], block.tensor.dtype), block.tensor], 0)
    edges = array_ops.concat([array_ops.zeros([1, 2], edges.tensor.dtype), edges.tensor], 0)
    return array_ops.transpose(c.copy(op, [array_ops.transpose(value.tensor, order), block, edges]).outputs[0], order)


def _clip(c, op, inputs):
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    return _unary_with(c, op, inputs)


def _unary_with(c, op, inputs):
    return c.copy(op, [value.tensor for value in inputs]).outputs[0]


def _diagonal(c, op, inputs):
    """The matrix of a vector, or a matrix' diagonal; other ranks are not turned into batches."""
    if _rank(op, 0) != (1 if op.type == "Diag" else 2):
        return NotImplemented
    return (gen.matrix_diag if op.type == "Diag" else gen.matrix_diag_part)(inputs[0].tensor)


TABLE = {
    **calls.TABLE, **converters.TABLE, **lists.TABLE,
    **dict.fromkeys(_SIZED, _sized),
    **{name: _batch(count) for count, names in _BATCHES.items() for name in names},
    **{name: _images(count) for count, names in _IMAGES.items() for name in names},
    **dict.fromkeys(("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"),
                    _unsorted_segments),
    **dict.fromkeys(("MirrorPad", "MirrorPadGrad", "Pad", "PadV2"), _pad),
    **dict.fromkeys(("ReverseV2", "Roll"), _along_axes), **dict.fromkeys(("Diag", "DiagPart"), _diagonal),
    **dict.fromkeys(("TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub",
                     "TensorScatterUpdate"), _scatter_nd),
    **dict.fromkeys(_RANDOM, converters.TABLE["RandomUniform"]),
    **dict.fromkeys(("BatchToSpaceND", "SpaceToBatchND"), _space_and_batch),
    "BiasAddGrad": _bias_add_grad, "ClipByValue": _clip, "ConjugateTranspose": converters.TABLE["Transpose"],
    "Einsum": _einsum, "GatherNd": _gather_nd, "OneHot": _one_hot, "Slice": _slice,
    "StridedSliceGrad": _strided_slice_grad,
}


def converter(op_type):
    """The converter of an op, or None."""
    return TABLE.get(op_type) or converters.elementwise(op_type)
