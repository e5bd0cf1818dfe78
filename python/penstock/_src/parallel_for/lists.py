"""Converters of TensorList ops: the lists of all iterations are one, each of whose elements is stacked."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.parallel_for.conversion import NotConvertible, Value


def stacked_list(c, handle):
    """The list of all iterations where each has the elements of the list `handle`."""
    known = ops.get_resource_handle_data(handle)
    if not known or len(known) != 1:
        raise NotConvertible("A list of which nothing is known is not supported in a parallel loop")
    elements = gen.tensor_list_stack(handle, -1, dtypes.as_dtype(known[0][0]))
    return _list_of(c, c.stack(Value(elements, False)), gen.tensor_list_element_shape(handle, dtypes.int32))


def tell_stacked(handle):
    """Tells the tensor of a graph, of which is known what elements each iteration has, that it is for all of them."""
    known = ops.get_resource_handle_data(handle)
    if known:
        handle.graph._core.set_handle_data(*handle._key, [
            (kind, shape if shape is None else [-1, *shape]) for kind, shape in known])


def _stacked(c, value, of):
    """A list as that of all iterations; `of`: the type of its elements and their shape, as the operation knows them."""
    if value.stacked:
        return value.tensor
    kind, shape = of
    elements = gen.tensor_list_stack(value.tensor, shape, kind)
    return _list_of(c, c.stack(Value(elements, False)), shape)


def _all_of(c, shape):
    """The shape of stacked elements, if each is of this shape; -1: of any."""
    shape = ops.convert_to_tensor(shape)
    if shape.shape.ndims == 0:
        return shape
    if shape.shape.ndims is None:
        return ops.convert_to_tensor(-1, dtype=shape.dtype)
    return array_ops.concat([math_ops.cast([c.iters], shape.dtype), shape], 0)


def _turned(tensor):
    """The first two dimensions in the other order."""
    return array_ops.transpose(tensor, array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(tensor))], 0))


def _list_of(c, rows, shape):
    """The list of all iterations whose elements are the rows of each iteration's tensor."""
    return gen.tensor_list_from_tensor(_turned(rows), _all_of(c, shape))


def _rows(c, handle, shape, kind, count=-1):
    """The elements of a list of all iterations as each iteration's rows."""
    return _turned(gen.tensor_list_stack(handle, _all_of(c, shape), kind, num_elements=count))


def _if_shared(*places):
    """A converter that needs some of its inputs to be the same in all iterations."""
    def decorate(convert):
        def converter(c, op, inputs):
            if any(inputs[i].stacked for i in places):
                return NotImplemented
            return convert(c, op, inputs)
        return converter
    return decorate


@_if_shared(0, 1)
def _made(c, op, inputs):
    return c.copy(op, [_all_of(c, inputs[0].tensor), inputs[1].tensor]).outputs[0]


@_if_shared(1)
def _from_tensor(c, op, inputs):
    return _list_of(c, c.stack(inputs[0]), inputs[1].tensor)


@_if_shared(2)
def _get_item(c, op, inputs):
    handle, index, shape = inputs
    kind = op.get_attr("element_dtype")
    if not index.stacked:
        return gen.tensor_list_get_item(handle.tensor, index.tensor, _all_of(c, shape.tensor), kind)
    if not handle.stacked:
        return array_ops.gather(gen.tensor_list_stack(handle.tensor, shape.tensor, kind), index.tensor)
    return array_ops.gather(_rows(c, handle.tensor, shape.tensor, kind), index.tensor, axis=1, batch_dims=1)


def _set_item(c, op, inputs):
    handle, index, item = inputs
    kind, shape = op.get_attr("element_dtype"), array_ops.shape(c.stack(item))[1:]
    whole = _stacked(c, handle, (kind, shape))
    if not index.stacked:
        return c.copy(op, [whole, index.tensor, c.stack(item)]).outputs[0]
    places = array_ops.stack([c.indices, index.tensor], axis=1)
    return _list_of(c, gen.tensor_scatter_update(_rows(c, whole, shape, kind), places, c.stack(item)), shape)


def _push_back(c, op, inputs):
    item = c.stack(inputs[1])
    return c.copy(op, [_stacked(c, inputs[0], (op.get_attr("element_dtype"), array_ops.shape(item)[1:])),
                       item]).outputs[0]


@_if_shared(1)
def _pop_back(c, op, inputs):
    return list(c.copy(op, [inputs[0].tensor, _all_of(c, inputs[1].tensor)]).outputs)


@_if_shared(1)
def _stack(c, op, inputs):
    return _rows(c, inputs[0].tensor, inputs[1].tensor, op.get_attr("element_dtype"), op.get_attr("num_elements"))


@_if_shared(1, 2)
def _gather(c, op, inputs):
    handle, indices, shape = (value.tensor for value in inputs)
    return _turned(c.copy(op, [handle, indices, _all_of(c, shape)]).outputs[0])


@_if_shared(1, 2)
def _concat(c, op, inputs):
    """Of elements that are equally long, as those of all iterations cannot be otherwise where they are stacked."""
    rows = _rows(c, inputs[0].tensor, -1, op.get_attr("element_dtype"))  # [iterations, elements, length, ...]
    shape = array_ops.shape(rows)
    joined = array_ops.reshape(rows, array_ops.concat([shape[:1], [shape[1] * shape[2]], shape[3:]], 0))
    lengths = array_ops.fill([shape[1]], math_ops.cast(shape[2], op.outputs[1].dtype))
    return [joined, Value(lengths, False)]


@_if_shared(2)
def _scatter_into(c, op, inputs):
    handle, tensor, indices = inputs
    rows = c.stack(tensor)
    whole = _stacked(c, handle, (op.get_attr("element_dtype"), array_ops.shape(rows)[2:]))
    return c.copy(op, [whole, _turned(rows), indices.tensor]).outputs[0]


@_if_shared(1, 2, 3)
def _scatter(c, op, inputs):
    rows, indices, shape, count = (value.tensor for value in inputs)
    return c.copy(op, [_turned(rows), indices, _all_of(c, shape), count]).outputs[0]


@_if_shared(1)
def _resized(c, op, inputs):
    return c.copy(op, [value.tensor for value in inputs]).outputs[0]


def _length(c, op, inputs):
    return Value(gen.tensor_list_length(inputs[0].tensor), False)


def _element_shape(c, op, inputs):
    made = c.copy(op, [inputs[0].tensor]).outputs[0]
    if made.shape.ndims is None:
        return NotImplemented
    return Value(made if made.shape.ndims == 0 else made[1:], False)


# Lists that are made in the body are those of all iterations, even while they do not depend on the iteration.
MADE = frozenset(("EmptyTensorList", "TensorListReserve"))
TABLE = {
    **dict.fromkeys(MADE, _made), "TensorListConcatV2": _concat, "TensorListElementShape": _element_shape,
    "TensorListFromTensor": _from_tensor, "TensorListGather": _gather, "TensorListGetItem": _get_item,
    "TensorListLength": _length, "TensorListPopBack": _pop_back, "TensorListPushBack": _push_back,
    "TensorListResize": _resized, "TensorListScatterIntoExistingList": _scatter_into,
    "TensorListScatterV2": _scatter, "TensorListSetItem": _set_item, "TensorListStack": _stack,
}
