"""foldl, foldr and scan: loops over the first dimension of tensors that carry a value along."""
import contextlib

from penstock._src.graph import constant_op
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import hooks
from penstock._src.base import nest

_variable_scope = hooks.Hook("variable_scope")


@contextlib.contextmanager
def cached_variables():
    """Context manager under which variables are read once, not in each iteration."""
    scope = None if ops.executing_eagerly() else _variable_scope.get().get_variable_scope()
    if scope is None or scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    yield
    scope.set_caching_device(None)


class Packing:
    """A structure as a flat list, and back."""

    def __init__(self, like):
        self._like = like
        self._is_sequence = nest.is_sequence(like)

    def flat(self, value):
        return nest.flatten(value) if self._is_sequence else [value]

    def packed(self, flat):
        return nest.pack_sequence_as(self._like, flat) if self._is_sequence else flat[0]


def common_length(tensors):
    """The first dimension that all tensors have, as far as known."""
    result = tensor_shape.Dimension(None)
    for tensor in tensors:
        result = result.merge_with(tensor.get_shape().with_rank_at_least(1).dims[0]
                                   if tensor.get_shape().ndims is not None else None)
    return result


def _fold(fn, elems, initializer, name, reverse, options):
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with ops.name_scope(name, "foldr" if reverse else "foldl", [elems]), cached_variables():
        flat = [ops.convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        n = tensor_shape.dimension_value(flat[0].shape[0]) or array_ops.shape(flat[0])[0]
        arrays = nest.map_structure(
            lambda elem: tensor_array_ops.TensorArray(dtype=elem.dtype, size=n, dynamic_size=False,
                                                      infer_shape=True).unstack(elem), elems)
        if reverse:
            start = n if initializer is not None else n - 1
            if initializer is None:
                initializer = nest.map_structure(lambda array: array.read(start), arrays)

            def body(i, a):
                i -= 1
                return [i, fn(a, nest.map_structure(lambda array: array.read(i), arrays))]

            def condition(i, a):
                return i > 0
        else:
            first = 0
            if initializer is None:
                initializer = nest.map_structure(lambda array: array.read(0), arrays)
                first = 1
            start = constant_op.constant(first)

            def body(i, a):
                a = fn(a, nest.map_structure(lambda array: array.read(i), arrays))
                return [i + 1, a]

            def condition(i, a):
                return i < n

        return while_loop(condition, body, [start, initializer], maximum_iterations=n, **options)[1]


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """a = fn(a, x) for each x of `elems` along their first dimension, beginning with `initializer` or the first x."""
    return _fold(fn, elems, initializer, name, False,
                 dict(parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory))


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """As foldl, from the last element to the first."""
    return _fold(fn, elems, initializer, name, True,
                 dict(parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory))


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All values that foldl goes through, along a new first dimension; with `reverse`, from the last element on."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    inputs = Packing(elems)
    outputs = inputs if initializer is None else Packing(initializer)
    flat = inputs.flat(elems)
    with ops.name_scope(name, "scan", flat), cached_variables():
        flat = [ops.convert_to_tensor(elem, name="elem") for elem in flat]
        n = tensor_shape.dimension_value(flat[0].shape[0])
        if n is None:
            n = array_ops.shape(flat[0])[0]
        sources = [tensor_array_ops.TensorArray(dtype=elem.dtype, size=n, dynamic_size=False,
                                                element_shape=elem.shape[1:], infer_shape=True) for elem in flat]
        sources = [source.unstack(elem) for source, elem in zip(sources, flat)]
        first = n - 1 if reverse else 0
        if initializer is None:
            state = [source.read(first) for source in sources]
        else:
            state = [ops.convert_to_tensor(x) for x in outputs.flat(initializer)]
        results = [tensor_array_ops.TensorArray(dtype=x.dtype, size=n, element_shape=x.shape if infer_shape else None,
                                                dynamic_size=False, infer_shape=infer_shape) for x in state]
        i = 0
        if initializer is None:
            results = [result.write(first, x) for result, x in zip(results, state)]
            i = 1

        def body(i, state, results):
            out = fn(outputs.packed(state), inputs.packed([source.read(i) for source in sources]))
            nest.assert_same_structure(elems if initializer is None else initializer, out)
            out = outputs.flat(out)
            results = [result.write(i, x) for result, x in zip(results, out)]
            return (i - 1 if reverse else i + 1), out, results

        if reverse:
            i = n - 1 - i
        _, _, results = while_loop(
            (lambda i, state, results: i >= 0) if reverse else (lambda i, state, results: i < n), body,
            (i, state, results), parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n)
        stacked = [result.stack() for result in results]
        length = common_length(flat)
        for x in stacked:
            x.set_shape(tensor_shape.TensorShape(length).concatenate(x.get_shape()[1:]))
        return outputs.packed(stacked)


# Version 2's names of these, whose defaults are the same.
foldl_v2, foldr_v2, scan_v2 = foldl, foldr, scan
