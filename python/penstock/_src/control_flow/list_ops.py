"""Lists of tensors as values: thin functions over the TensorList ops."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape



def _build_element_shape(shape):
    """A shape as the ops take it: -1 where nothing is known."""
    if isinstance(shape, ops.Tensor):
        return shape
    if isinstance(shape, tensor_shape.TensorShape):
        shape = shape.as_list() if shape.ndims is not None else None
    if shape is None:
        return -1
    if not isinstance(shape, int) and len(shape) == 0:
        return ops.convert_to_tensor([], dtype=dtypes.int32)
    if isinstance(shape, int):
        return shape
    return [-1 if size is None or (isinstance(size, tensor_shape.Dimension) and size.value is None) else
            size.value if isinstance(size, tensor_shape.Dimension) else size for size in shape]


def empty_tensor_list(element_shape, element_dtype, max_num_elements=None, name=None):
    """A list without elements."""
    return gen.empty_tensor_list(element_shape=_build_element_shape(element_shape), element_dtype=element_dtype,
                                 max_num_elements=-1 if max_num_elements is None else max_num_elements, name=name)


def tensor_list_reserve(element_shape, num_elements, element_dtype, name=None):
    """A list of elements that are not set yet."""
    return gen.tensor_list_reserve(element_shape=_build_element_shape(element_shape), num_elements=num_elements,
                                   element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(tensor, element_shape, name=None):
    """The rows of a tensor as a list."""
    return gen.tensor_list_from_tensor(tensor=tensor, element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_get_item(input_handle, index, element_dtype, element_shape=None, name=None):
    """One element."""
    return gen.tensor_list_get_item(input_handle=input_handle, index=index, element_dtype=element_dtype,
                                    element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_set_item(input_handle, index, item, resize_if_index_out_of_bounds=False, name=None):
    """The list with another element in one place."""
    from penstock._src.graph import control_flow_util
    if control_flow_util.EnableControlFlowV2(ops.get_default_graph()):
        return gen.tensor_list_set_item(input_handle=input_handle, index=index, item=item,
                                        resize_if_index_out_of_bounds=resize_if_index_out_of_bounds, name=name)
    if resize_if_index_out_of_bounds:
        from penstock._src.control_flow.cond import cond
        unchanged = input_handle
        input_handle = cond(index >= gen.tensor_list_length(input_handle),
                            lambda: gen.tensor_list_resize(unchanged, index + 1), lambda: unchanged)
    return gen.tensor_list_set_item(input_handle=input_handle, index=index, item=item, name=name)


def tensor_list_pop_back(input_handle, element_dtype, name=None):
    """(the list without its last element, that element)."""
    return gen.tensor_list_pop_back(input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name)


def tensor_list_gather(input_handle, indices, element_dtype, element_shape=None, name=None):
    """Some elements, along a new first dimension."""
    return gen.tensor_list_gather(input_handle=input_handle, indices=indices, element_dtype=element_dtype,
                                  element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_scatter(tensor, indices, element_shape=None, input_handle=None, name=None):
    """A list, or `input_handle`, with the rows of a tensor as elements `indices`."""
    if input_handle is not None:
        return gen.tensor_list_scatter_into_existing_list(input_handle=input_handle, tensor=tensor, indices=indices,
                                                          name=name)
    return gen.tensor_list_scatter_v2(tensor=tensor, indices=indices, num_elements=-1,
                                      element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_stack(input_handle, element_dtype, num_elements=-1, element_shape=None, name=None):
    """All elements, along a new first dimension."""
    return gen.tensor_list_stack(input_handle=input_handle, element_shape=_build_element_shape(element_shape),
                                 element_dtype=element_dtype, num_elements=-1 if num_elements is None else num_elements,
                                 name=name)


def tensor_list_concat(input_handle, element_dtype, element_shape=None, name=None):
    """All elements, joined along their first dimension."""
    return gen.tensor_list_concat_v2(input_handle=input_handle, element_dtype=element_dtype,
                                     element_shape=_build_element_shape(element_shape),
                                     leading_dims=ops.convert_to_tensor([], dtype=dtypes.int64), name=name)[0]


def tensor_list_split(tensor, element_shape, lengths, name=None):
    """A list of pieces of a tensor, of these lengths."""
    return gen.tensor_list_split(tensor=tensor, element_shape=_build_element_shape(element_shape), lengths=lengths,
                                 name=name)
