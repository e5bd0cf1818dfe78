"""tf.map_fn."""
from penstock._src.graph import composite_spec
from penstock._src.graph import composite_tensor
from penstock._src.graph import constant_op
from penstock._src.graph import dispatch
from penstock._src.graph import extension_type
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_spec
from penstock._src.base import tf2
from penstock._src.graph import type_spec
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.functional_ops import Packing, cached_variables, common_length
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import hooks
from penstock._src.base import nest

_ragged = hooks.Hook("ragged.map_fn")
_converted, _status = hooks.Hook("autograph.convert"), hooks.Hook("autograph.status")


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """fn(x) for each x of `elems` along their first dimension, along a new first dimension. `dtype`: types of what `fn`
    returns, where they are not those of `elems`; `fn_output_signature` is its newer name and may hold specs."""
    if fn_output_signature is not None:
        dtype = _types_of(fn_output_signature)
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if tf2.enabled():
        fn = _converted(fn, _status())
    if isinstance(elems, sparse_tensor.SparseTensor):
        if tf2.enabled():
            return map_fn_v2(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)
        raise TypeError("To perform a map on the values of a sparse tensor use either SparseTensor(input.indices, "
                        "fn(input.values), input.dense_shape) or SparseTensor(input.indices, map_fn(fn, "
                        "input.values), input.dense_shape)")
    if "ragged" in dispatch.handlers:
        ragged = _ragged.get()
        if ragged.takes_part(elems, dtype):
            return ragged.map_fn(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)
    if not parallel_iterations:
        parallel_iterations = 1 if ops.executing_eagerly() else 10
    inputs = Packing(elems)
    outputs = inputs if dtype is None else Packing(dtype)
    flat = inputs.flat(elems)
    if not flat:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. "
                         f"Got {elems}, which does not contain any Tensors.")
    with ops.name_scope(name, "map", flat), cached_variables():
        flat = [ops.convert_to_tensor(elem, name="elem") for elem in flat]
        dtype = dtype or inputs.packed([elem.dtype for elem in flat])
        if flat[0].shape.ndims == 0:
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar" if not tf2.enabled() else
                             "Elements in elems must be 1+ dimensional Tensors, not scalars")
        n = tensor_shape.dimension_value(common_length(flat)) or array_ops.shape(flat[0])[0]
        sources = [tensor_array_ops.TensorArray(dtype=elem.dtype, size=n, dynamic_size=False, infer_shape=True)
                   for elem in flat]
        sources = [source.unstack(elem) for source, elem in zip(sources, flat)]
        i = constant_op.constant(0)
        results = [tensor_array_ops.TensorArray(dtype=kind, size=n, dynamic_size=False, infer_shape=infer_shape)
                   for kind in outputs.flat(dtype)]

        def body(i, results):
            out = fn(inputs.packed([source.read(i) for source in sources]))
            nest.assert_same_structure(dtype or elems, out)
            return i + 1, [result.write(i, x) for result, x in zip(results, outputs.flat(out))]

        _, results = while_loop(lambda i, results: i < n, body, (i, results), parallel_iterations=parallel_iterations,
                                back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n)
        stacked = [result.stack() for result in results]
        length = common_length(flat)
        for x in stacked:
            x.set_shape(tensor_shape.TensorShape(length).concatenate(x.get_shape()[1:]))
        return outputs.packed(stacked)


def _types_of(signature):
    return nest.map_structure(lambda spec: spec.dtype if isinstance(spec, tensor_spec.TensorSpec) else spec, signature)


def _is_batchable(value):
    """Whether a value, or a spec of one, goes through map_fn by its parts: sparse ones, a program's own types."""
    return isinstance(value, (extension_type.BatchableExtensionType, extension_type.ExtensionTypeSpec,
                              sparse_tensor.SparseTensor, composite_spec.SparseTensorSpec))


def _map_of_parts(fn, elems, signature, *arguments):
    """map_fn of structures among whose leaves are values of extension types: over the tensors that they are made of."""

    def row(elem):
        return type_spec.type_spec_from_value(elem if isinstance(elem, composite_tensor.CompositeTensor)
                                              else ops.convert_to_tensor(elem))._unbatch()

    def result(kind):
        return kind if isinstance(kind, type_spec.TypeSpec) else tensor_spec.TensorSpec(None, kind)

    def tensors(specs, values, method):
        leaves = nest.flatten_up_to(specs, values)
        return [t for spec, value in zip(nest.flatten(specs), leaves) for t in getattr(spec, method)(value)]

    def values(specs, flat):
        flat = iter(flat)
        return nest.map_structure(
            lambda spec: spec._from_compatible_tensor_list([next(flat) for _ in spec._flat_tensor_specs]), specs)

    rows = nest.map_structure(row, elems)
    results = rows if signature is None else nest.map_structure(result, signature)
    given = tensors(nest.map_structure(lambda spec: spec._batch(None), rows), elems, "_to_batched_tensor_list")
    types = [spec.dtype for each in nest.flatten(results) for spec in each._flat_tensor_specs]
    made = map_fn(lambda flat: tensors(results, fn(values(rows, flat)), "_to_tensor_list"), given, types, *arguments)
    count = tensor_shape.dimension_value(common_length(given))
    return values(nest.map_structure(lambda spec: spec._batch(count), results), made)


def map_fn_v2(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
              name=None, fn_output_signature=None):
    """`map_fn`, whose results of ragged elements are ragged."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    fn = _converted(fn, _status())
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(map(_is_batchable, nest.flatten([elems, signature]))):
        arguments = parallel_iterations, back_prop, swap_memory, infer_shape, name
        return _map_of_parts(fn, elems, signature, *arguments)
    if fn_output_signature is not None:
        dtype = _types_of(fn_output_signature)
    if dtype is None and "ragged" in dispatch.handlers:
        dtype = _ragged.get().of_rows(elems)
    return map_fn(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)
