"""How single operations run for all iterations: each converter gives the results, stacked unless they are a Value, or
NotImplemented where it cannot tell. Elementwise ops have no rows in the tables: `elementwise` finds their converter."""
from penstock import _core
from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.parallel_for.conversion import Value, constant_value

# Like elementwise ops of one input: these run on the stack as on an element.
_UNARY = """
    Bitcast CheckNumerics Cholesky Identity LogSoftmax MatrixDeterminant MatrixDiag MatrixDiagPart MatrixInverse
    OnesLike PreventGradient Snapshot Softmax StopGradient ZerosLike
    """.split()
_REDUCTIONS = "All Any EuclideanNorm Max Mean Min Prod Sum".split()
_RANDOM = "RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt".split()


def _rank(op, i):
    return op.inputs[i].shape.ndims


def _behind(axes):
    """Axes of an element as axes of the stack; those that count from the end stay."""
    return array_ops.where_v2(axes < 0, axes, axes + 1)


def _unary(c, op, inputs):
    return c.copy(op, [inputs[0].tensor]).outputs[0]


def _broadcast(c, op, inputs):
    """Stacked operands get ones behind the first dimension, so that elements are aligned at their ends."""
    ranks = [_rank(op, i) for i in range(len(inputs))]
    if None in ranks:
        return NotImplemented
    widest, tensors = max(ranks), []
    for value, rank in zip(inputs, ranks):
        tensor = value.tensor
        if value.stacked and rank < widest:
            shape = array_ops.shape(tensor)
            tensor = array_ops.reshape(tensor, array_ops.concat([shape[:1], [1] * (widest - rank), shape[1:]], 0))
        tensors.append(tensor)
    return c.copy(op, tensors).outputs[0]


def _like(c, op, inputs):
    """Operands of one shape; a scalar that goes with any shape does not once it is stacked."""
    if len({_rank(op, i) for i in range(len(inputs))}) > 1:
        return NotImplemented
    return c.copy(op, [c.stack(value) for value in inputs]).outputs[0]


def elementwise(op_type):
    """The converter of an elementwise op, by its definition; None for other ops."""
    definition = _core.op_def(op_type)
    if definition is None or not definition.is_elementwise:
        return None
    if definition.broadcasts:
        return _broadcast
    return _unary if len(definition.inputs) == 1 and not definition.inputs[0].number_attr else _like


def _select(c, op, inputs):
    condition = c.stack(inputs[0])
    if _rank(op, 0) is None or _rank(op, 1) is None:
        return NotImplemented
    if _rank(op, 0) == 0 and _rank(op, 1) > 0:
        shape = array_ops.concat([array_ops.shape(condition), [1] * _rank(op, 1)], 0)
        condition = array_ops.reshape(condition, shape)
    elif _rank(op, 0) != _rank(op, 1):
        return NotImplemented
    return gen.select_v2(condition, c.stack(inputs[1]), c.stack(inputs[2]))


def _reduction(c, op, inputs):
    if inputs[1].stacked:
        return NotImplemented
    return c.copy(op, [inputs[0].tensor, _behind(inputs[1].tensor)]).outputs[0]


def _cumulative(c, op, inputs):
    return _reduction(c, op, inputs)


def _mat_mul(c, op, inputs):
    a, b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    x, y = inputs
    if x.stacked and not y.stacked and not a:
        # One large product.
        shape = array_ops.shape(x.tensor)
        rows = array_ops.reshape(x.tensor, [-1, shape[2]])
        product = gen.mat_mul(rows, y.tensor, transpose_b=b)
        return array_ops.reshape(product, [shape[0], shape[1], array_ops.shape(product)[1]])
    tensors = [t.tensor for t in inputs]
    for i, turned in enumerate((a, b)):
        if turned and tensors[i].dtype.is_complex:  # turned, not conjugated
            rank = 3 if inputs[i].stacked else 2
            tensors[i] = array_ops.transpose(tensors[i], [*range(rank - 2), rank - 1, rank - 2])
    plain = op.inputs[0].dtype.is_complex
    return gen.batch_mat_mul_v2(*tensors, adj_x=a and not plain, adj_y=b and not plain)


def _batch_mat_mul(c, op, inputs):
    made = _binary_ranks(op, inputs)
    if made is None:
        return NotImplemented
    return gen.batch_mat_mul_v2(*made, adj_x=op.get_attr("adj_x"), adj_y=op.get_attr("adj_y"))


def _binary_ranks(op, inputs):
    ranks = [_rank(op, 0), _rank(op, 1)]
    if None in ranks:
        return None
    tensors = []
    for value, rank in zip(inputs, ranks):
        tensor = value.tensor
        if value.stacked and rank < max(ranks):
            shape = array_ops.shape(tensor)
            tensor = array_ops.reshape(tensor, array_ops.concat([shape[:1], [1] * (max(ranks) - rank), shape[1:]], 0))
        tensors.append(tensor)
    return tensors


def _reshape(c, op, inputs):
    if inputs[1].stacked:
        return NotImplemented
    shape = array_ops.concat([math_ops.cast([c.iters], inputs[1].tensor.dtype), inputs[1].tensor], 0)
    return array_ops.reshape(inputs[0].tensor, shape)


def _expand_dims(c, op, inputs):
    if inputs[1].stacked:
        return NotImplemented
    return c.copy(op, [inputs[0].tensor, _behind(inputs[1].tensor)]).outputs[0]


def _squeeze(c, op, inputs):
    axes = op.get_attr("squeeze_dims")
    if not axes:
        if not op.inputs[0].shape.is_fully_defined():
            return NotImplemented
        axes = [i for i, size in enumerate(op.inputs[0].shape.as_list()) if size == 1]
        if not axes:
            return inputs[0].tensor
    return array_ops.squeeze(inputs[0].tensor, [axis if axis < 0 else axis + 1 for axis in axes])


def _transpose(c, op, inputs):
    if inputs[1].stacked:
        return NotImplemented
    permutation = array_ops.concat([math_ops.cast([0], inputs[1].tensor.dtype), inputs[1].tensor + 1], 0)
    return c.copy(op, [inputs[0].tensor, permutation]).outputs[0]


def _tile(c, op, inputs):
    if inputs[1].stacked:
        return NotImplemented
    return c.copy(op, [inputs[0].tensor, array_ops.concat([math_ops.cast([1], inputs[1].tensor.dtype),
                                                           inputs[1].tensor], 0)]).outputs[0]


def _concat(c, op, inputs):
    if inputs[-1].stacked:
        return NotImplemented
    return c.copy(op, [c.stack(value) for value in inputs[:-1]] + [_behind(inputs[-1].tensor)]).outputs[0]


def _pack(c, op, inputs):
    axis = op.get_attr("axis")
    return array_ops.stack([c.stack(value) for value in inputs], axis=axis if axis < 0 else axis + 1)


def _unpack(c, op, inputs):
    axis = op.get_attr("axis")
    return list(c.copy(op, [inputs[0].tensor], axis={"i": axis if axis < 0 else axis + 1}).outputs)


def _split(c, op, inputs):
    if inputs[0].stacked:
        return NotImplemented
    return list(c.copy(op, [_behind(inputs[0].tensor), inputs[1].tensor]).outputs)


def _split_v(c, op, inputs):
    if inputs[1].stacked or inputs[2].stacked:
        return NotImplemented
    return list(c.copy(op, [inputs[0].tensor, inputs[1].tensor, _behind(inputs[2].tensor)]).outputs)


def _gather(c, op, inputs):
    params, indices, axis = inputs
    batch = op.get_attr("batch_dims")
    if axis.stacked or batch < 0:
        return NotImplemented
    if not params.stacked:
        if batch or _rank(op, 0) is None:
            return NotImplemented
        known = constant_value(axis.tensor)
        if known is None:
            return NotImplemented
        known = int(known) % max(_rank(op, 0), 1)
        if known == 0 and indices.tensor is c.indices and c.takes_all_of(params.tensor):
            return params.tensor
        if known == 0:
            return array_ops.gather(params.tensor, indices.tensor)
        if _rank(op, 1) is None:
            return NotImplemented
        made = array_ops.gather(params.tensor, indices.tensor, axis=known)
        rank = _rank(op, 0) + _rank(op, 1)
        return array_ops.transpose(made, [known, *(i for i in range(rank) if i != known)])
    if not indices.stacked and batch == 0:
        return gen.gather_v2(params.tensor, indices.tensor, _behind(axis.tensor))
    return gen.gather_v2(params.tensor, c.stack(indices), _behind(axis.tensor), batch_dims=batch + 1)


def _strided_slice(c, op, inputs):
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    begin, end, strides = (value.tensor for value in inputs[1:])
    first = [math_ops.cast([n], begin.dtype) for n in (0, 0, 1)]
    masks = {name: {"i": op.get_attr(name) << 1 | (name in ("begin_mask", "end_mask"))}
             for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return c.copy(op, [inputs[0].tensor, *(array_ops.concat([a, b], 0) for a, b in zip(first, (begin, end, strides)))],
                  **masks).outputs[0]


def _slice(c, op, inputs):
    if inputs[1].stacked or inputs[2].stacked:
        return NotImplemented
    begin, size = inputs[1].tensor, inputs[2].tensor
    return gen.slice(inputs[0].tensor, array_ops.concat([math_ops.cast([0], begin.dtype), begin], 0),
                     array_ops.concat([math_ops.cast([-1], size.dtype), size], 0))


def _fill(c, op, inputs):
    if inputs[0].stacked or _rank(op, 0) is None or op.inputs[0].shape.num_elements() is None:
        return NotImplemented
    dims = inputs[0].tensor
    ones = [1] * op.inputs[0].shape.num_elements()
    return array_ops.reshape(inputs[1].tensor, [-1, *ones]) + array_ops.zeros(
        array_ops.concat([[1], math_ops.cast(dims, "int32")], 0), inputs[1].tensor.dtype) \
        if inputs[1].tensor.dtype.is_floating or inputs[1].tensor.dtype.is_integer else NotImplemented


def _broadcast_to(c, op, inputs):
    size = op.inputs[1].shape.num_elements()
    if inputs[1].stacked or _rank(op, 0) is None or size is None:
        return NotImplemented
    shape = array_ops.shape(inputs[0].tensor)
    widened = array_ops.reshape(inputs[0].tensor,
                                array_ops.concat([shape[:1], [1] * (size - _rank(op, 0)), shape[1:]], 0))
    wanted = array_ops.concat([math_ops.cast([c.iters], inputs[1].tensor.dtype), inputs[1].tensor], 0)
    return gen.broadcast_to(widened, wanted)


def _shape(c, op, inputs):
    return Value(array_ops.shape(inputs[0].tensor, out_type=op.outputs[0].dtype)[1:], False)


def _size(c, op, inputs):
    shape = array_ops.shape(inputs[0].tensor, out_type=op.outputs[0].dtype)[1:]
    return Value(math_ops.reduce_prod(shape), False)


def _rank_of(c, op, inputs):
    return Value(array_ops.rank(inputs[0].tensor) - 1, False)


def _shape_n(c, op, inputs):
    return [Value(array_ops.shape(v.tensor, out_type=t.dtype)[1:] if v.stacked else
                  array_ops.shape(v.tensor, out_type=t.dtype), False) for v, t in zip(inputs, op.outputs)]


def _bias_add(c, op, inputs):
    if op.get_attr("data_format") != b"NHWC" or _rank(op, 0) is None:
        return NotImplemented
    if not inputs[1].stacked:
        return gen.bias_add(inputs[0].tensor, inputs[1].tensor)
    bias = array_ops.reshape(inputs[1].tensor, array_ops.concat([[c.iters], [1] * (_rank(op, 0) - 1), [-1]], 0))
    return gen.add_v2(c.stack(inputs[0]), bias)


def _identity_n(c, op, inputs):
    return [Value(array_ops.identity(value.tensor), value.stacked) for value in inputs]


def _merged(c, op, inputs):
    """What works on a batch: iterations become more of it."""
    if any(value.stacked for value in inputs[1:]):
        return NotImplemented
    shape = array_ops.shape(inputs[0].tensor)
    batch = array_ops.reshape(inputs[0].tensor, array_ops.concat([[-1], shape[2:]], 0))
    made = c.copy(op, [batch] + [value.tensor for value in inputs[1:]]).outputs[0]
    return array_ops.reshape(made, array_ops.concat([shape[:2], array_ops.shape(made)[1:]], 0))


def _random(c, op, inputs):
    if inputs[0].stacked or any(value.stacked for value in inputs[1:]):
        return NotImplemented
    shape = inputs[0].tensor
    shape = array_ops.concat([math_ops.cast([c.iters], shape.dtype), shape], 0)
    return c.copy(op, [shape] + [value.tensor for value in inputs[1:]]).outputs[0]


TABLE = {
    **dict.fromkeys(_UNARY, _unary), **dict.fromkeys(_REDUCTIONS, _reduction), **dict.fromkeys(_RANDOM, _random),
    **dict.fromkeys(("Conv2D", "MaxPool", "AvgPool"), _merged),
    "ArgMax": _reduction, "ArgMin": _reduction, "BatchMatMul": _batch_mat_mul, "BatchMatMulV2": _batch_mat_mul,
    "BiasAdd": _bias_add, "BroadcastTo": _broadcast_to, "ConcatV2": _concat, "Cumprod": _cumulative,
    "Cumsum": _cumulative, "ExpandDims": _expand_dims, "Fill": _fill, "GatherV2": _gather, "IdentityN": _identity_n,
    "MatMul": _mat_mul, "Pack": _pack, "Rank": _rank_of, "Reshape": _reshape, "Select": _select, "Shape": _shape,
    "ShapeN": _shape_n, "Size": _size, "Slice": _slice, "Split": _split, "SplitV": _split_v, "Squeeze": _squeeze,
    "StridedSlice": _strided_slice, "Tile": _tile, "Transpose": _transpose, "Unpack": _unpack,
}
