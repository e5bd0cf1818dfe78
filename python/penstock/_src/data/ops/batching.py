"""Datasets that put elements together, and take them apart."""
import numpy as np

from penstock._src.data.ops import debug_mode
from penstock._src.data.ops.dataset_ops import (
    DatasetSpec, UnaryDataset, flat_structure, get_legacy_output_classes, get_legacy_output_shapes,
    get_legacy_output_types, named)
from penstock._src.data.ops.simple import _RestructuredDataset
from penstock._src.data.util import convert, nest, structure
from penstock._src.graph import config, constant_op, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.graph.composite_spec import SparseTensorSpec
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor
from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec


class _Structured(UnaryDataset):
    """A unary dataset with a spec of its own."""

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def batched_structure(element_spec, batch_size, drop_remainder):
    """The spec of batches: of a known size if nothing is left over."""
    size = tensor_util.constant_value(batch_size) if tensor_util.constant_value(drop_remainder) else None
    return nest.map_structure(lambda spec: spec._batch(size), element_spec)


def batch(dataset, batch_size, drop_remainder, num_parallel_calls, deterministic, name=None):
    """See Dataset.batch."""
    if num_parallel_calls is None or debug_mode.enabled():
        return BatchDataset(dataset, batch_size, drop_remainder, name)
    return ParallelBatchDataset(dataset, batch_size, drop_remainder, num_parallel_calls, deterministic, name)


class BatchDataset(_Structured):
    """Several elements as one."""

    def __init__(self, input_dataset, batch_size, drop_remainder, name=None):
        batch_size = ops.convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        self._structure = batched_structure(input_dataset.element_spec, batch_size, drop_remainder)
        super().__init__(input_dataset, gen.batch_dataset_v2(
            input_dataset._variant_tensor, batch_size=batch_size, drop_remainder=drop_remainder,
            **flat_structure(self._structure, name)))


def determinism(deterministic):
    """The attribute of ops that may give elements in another order."""
    if config.is_op_determinism_enabled():
        return "true"
    return "default" if deterministic is None else "true" if deterministic else "false"


class ParallelBatchDataset(_Structured):
    """Several elements as one, several at a time."""

    def __init__(self, input_dataset, batch_size, drop_remainder, num_parallel_calls, deterministic, name=None):
        batch_size = ops.convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        calls = ops.convert_to_tensor(num_parallel_calls, dtype=dtypes.int64, name="num_parallel_calls")
        self._structure = batched_structure(input_dataset.element_spec, batch_size, drop_remainder)
        super().__init__(input_dataset, gen.parallel_batch_dataset(
            input_dataset._variant_tensor, batch_size=batch_size, num_parallel_calls=calls,
            drop_remainder=drop_remainder, deterministic=determinism(deterministic),
            **flat_structure(self._structure, name)))


def ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype, name=None):
    """Each element becomes a ragged tensor before elements are put together."""
    def ragged_spec(spec):
        if not isinstance(spec, TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
            return spec
        last_unknown = max(axis for axis, size in enumerate(spec.shape.as_list()) if size is None)
        return RaggedTensorSpec(spec.shape, spec.dtype, last_unknown, row_splits_dtype)

    specs = nest.map_structure(ragged_spec, dataset.element_spec)
    if any(a is not b for a, b in zip(nest.flatten(specs), nest.flatten(dataset.element_spec))):
        def encoded(spec, part):
            if not isinstance(spec, RaggedTensorSpec):
                return part
            if spec.ragged_rank > 0 and not isinstance(part, RaggedTensor):
                part = RaggedTensor.from_tensor(part, ragged_rank=spec.ragged_rank, row_splits_dtype=row_splits_dtype)
            return spec._to_tensor_list(part)[0]

        def encode(*element):
            element = element[0] if len(element) == 1 and not isinstance(dataset.element_spec, tuple) else element
            return nest.pack_sequence_as(specs, [
                encoded(spec, part) for spec, part in zip(nest.flatten(specs), nest.flatten(element))])
        dataset = _RestructuredDataset(dataset.map(encode), specs)
    return BatchDataset(dataset, batch_size, drop_remainder, name)


class DenseToSparseBatchDataset(_Structured):
    """Several elements as the rows of a sparse tensor. TypeError unless elements are single tensors."""

    def __init__(self, input_dataset, batch_size, row_shape, name=None):
        types = get_legacy_output_types(input_dataset)
        if not isinstance(types, dtypes.DType):
            raise TypeError("DenseToSparseDataset requires an input whose elements have a single component, whereas "
                            f"the input has {types!r}.")
        self._structure = SparseTensorSpec(tensor_shape.TensorShape([None]).concatenate(row_shape), types)
        super().__init__(input_dataset, gen.dense_to_sparse_batch_dataset(
            input_dataset._variant_tensor, batch_size, row_shape=convert.partial_shape_to_tensor(row_shape),
            **flat_structure(self._structure)))


# Padding


def _fits(padded, shape):
    """Whether tensors of a shape can be padded to another one."""
    if padded.dims is None or shape.dims is None:
        return True
    return len(padded.dims) == len(shape.dims) and all(
        a.value is None or b.value is None or a.value >= b.value for a, b in zip(padded.dims, shape.dims))


def _padded_shape_to_tensor(padded_shape, input_shape):
    """A shape as a vector of int64, -1 for what is unknown. ValueError, TypeError: it does not fit, or is no shape."""
    try:
        shape = tensor_shape.as_shape(padded_shape)
        made = ops.convert_to_tensor([-1 if d is None else d for d in shape.as_list()], dtype=dtypes.int64)
    except (TypeError, ValueError):
        made = ops.internal_convert_to_tensor(padded_shape, preferred_dtype=dtypes.int64)
        kind = "`tf.int64` vector tensor" if tf2.enabled() else "1-D tensor of tf.int64 values"
        wanted = f"Padded shape {padded_shape} must be a {kind}, but its "
        if made.shape.rank not in (None, 1):
            raise ValueError(f"{wanted}shape was {made.shape}.") from None
        if made.dtype != dtypes.int64:
            raise TypeError(f"{wanted}element type was {made.dtype.name}.") from None
        shape = tensor_util.constant_value_as_shape(made)
    if not _fits(shape, input_shape):
        which = (f"shape {input_shape} of the corresponding input component" if tf2.enabled() else
                 f"corresponding input component shape {input_shape}")
        raise ValueError(f"The padded shape {shape} is not compatible with the {which}.")
    return made


def _padding_value_to_tensor(value, output_type):
    """ValueError, TypeError: it is no scalar, or of another type."""
    value = ops.convert_to_tensor(value, name="padding_value")
    if not value.shape.is_compatible_with(tensor_shape.TensorShape([])):
        raise ValueError(f"Invalid `padding_values`. Padding value should be a scalar, but is not: {value}")
    if value.dtype != output_type:
        raise TypeError(f"Invalid `padding_values`. Padding value tensor ({value}) does not match output type: "
                        f"{output_type}")
    return value


def _zero(dtype):
    if dtype.base_dtype == dtypes.string:
        return ""
    if dtype.base_dtype == dtypes.variant:
        raise TypeError("Unable to create padding for field of type 'variant'.")
    if dtype.base_dtype == dtypes.bfloat16:
        return constant_op.constant(0, dtypes.bfloat16)
    return np.zeros_like(dtype.as_numpy_dtype())


def _padding_values(dataset, values):
    """One for each part; a single one may serve all, and None stands for zero, also of several parts."""
    types = get_legacy_output_types(dataset)
    zeros = nest.map_structure(_zero, types)
    if values is None:
        return zeros
    if not nest.is_sequence(values) and nest.is_sequence(types):
        return nest.map_structure(lambda _: values, types)
    return nest.map_structure_up_to(values, lambda value, zero: zero if value is None else value, values, zeros)


class PaddedBatchDataset(_Structured):
    """Several elements, padded to one size, as one."""

    def __init__(self, input_dataset, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False,
                 name=None):
        for spec in nest.flatten(input_dataset.element_spec):
            if isinstance(spec, DatasetSpec):
                raise TypeError("`padded_batch` is not supported for datasets of datasets")
            if not isinstance(spec, TensorSpec):
                raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type "
                                "spec of elements in the input dataset is not a subclass of TensorSpec: "
                                f"`{spec}`.")
        batch_size = ops.convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        shapes, types = get_legacy_output_shapes(input_dataset), get_legacy_output_types(input_dataset)
        if padded_shapes is None:
            padded_shapes = shapes
            for i, shape in enumerate(nest.flatten(shapes)):
                if shape.rank is None:
                    raise ValueError(f"You must provide `padded_shapes` argument because component {i} has unknown "
                                     "rank.")
        values = _padding_values(input_dataset, padding_values)
        padded = [_padded_shape_to_tensor(wanted, shape) for shape, wanted in zip(
            nest.flatten(shapes), nest.flatten_up_to(shapes, padded_shapes))]
        values = nest.flatten(nest.map_structure_up_to(shapes, _padding_value_to_tensor, values, types))
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        dropped = tensor_util.constant_value(drop_remainder)
        rows = tensor_shape.TensorShape([tensor_util.constant_value(batch_size) if dropped else None])
        self._structure = structure.convert_legacy_structure(
            types, nest.pack_sequence_as(shapes, [rows.concatenate(tensor_util.constant_value_as_shape(s))
                                                  for s in padded]), get_legacy_output_classes(input_dataset))
        super().__init__(input_dataset, gen.padded_batch_dataset_v2(
            input_dataset._variant_tensor, batch_size=batch_size, padded_shapes=padded, padding_values=values,
            drop_remainder=drop_remainder, output_shapes=structure.get_flat_tensor_shapes(self._structure),
            **named(name)))


# Taking apart


def unbatch(dataset, name=None):
    """See Dataset.unbatch."""
    return UnbatchDataset(_as_rows(dataset), name)


def _as_rows(dataset):
    """The same dataset with sparse and ragged components as tensors that have a row for each of theirs. ValueError:
    scalars."""
    spec = dataset.element_spec
    if tf2.enabled() and any(isinstance(part, TensorSpec) and part.shape.rank == 0 for part in nest.flatten(spec)):
        raise ValueError("Cannot unbatch an input with scalar components.")

    def normalize(arg, *rest):
        return structure.to_batched_tensor_list(spec, (arg,) + rest if rest or type(spec) is tuple else arg)

    return _RestructuredDataset(dataset.map(normalize), spec)


class UnbatchDataset(_Structured):
    """The rows of elements. ValueError: scalars, or parts with different numbers of rows."""

    def __init__(self, input_dataset, name=None):
        shapes = input_dataset._flat_shapes
        if any(shape.ndims == 0 for shape in shapes):
            raise ValueError("Cannot unbatch an input with scalar components.")
        rows = tensor_shape.Dimension(None)
        for shape in shapes:
            if shape.ndims is not None:
                try:
                    rows = rows.merge_with(tensor_shape.dimension_value(shape[0]))
                except ValueError:
                    raise ValueError(
                        "`unbatch()` is only supported for datasets of elements whose components have a matching "
                        f"leading dimension. Encountered both {rows} and {shape[0]}." if tf2.enabled() else
                        "Cannot unbatch an input whose components have different batch sizes.") from None
        self._structure = nest.map_structure(lambda spec: spec._unbatch(), input_dataset.element_spec)
        super().__init__(input_dataset, gen.unbatch_dataset(input_dataset._variant_tensor,
                                                            **flat_structure(self._structure, name)))


class RebatchDataset(_Structured):
    """Batches of other sizes, in turn."""

    def __init__(self, input_dataset, batch_sizes, drop_remainder=False, name=None):
        batch_sizes = ops.convert_to_tensor(batch_sizes, dtype=dtypes.int64, name="batch_sizes")
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        size = _size_of_all(batch_sizes, drop_remainder, input_dataset.element_spec)
        self._structure = nest.map_structure(lambda spec: spec._unbatch()._batch(size), input_dataset.element_spec)
        plain = all(isinstance(spec, TensorSpec) for spec in nest.flatten(input_dataset.element_spec))
        rows = input_dataset if plain else _as_rows(input_dataset)
        super().__init__(rows, gen.rebatch_dataset_v2(
            rows._variant_tensor, batch_sizes=batch_sizes, drop_remainder=drop_remainder,
            **flat_structure(self._structure)))


def _size_of_all(batch_sizes, drop_remainder, element_spec):
    """The size of each new batch, or None: there are several, or a rest may be smaller. ValueError: a component has no
    rows, or components have different numbers of them."""
    shapes = [spec._to_legacy_output_shapes() for spec in nest.flatten(element_spec)]
    shapes = [shape for shape in shapes if isinstance(shape, tensor_shape.TensorShape)]
    if any(shape.rank == 0 for shape in shapes):
        raise ValueError("Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar "
                         "elements. Fix the issue by adding the `batch` transformation to the dataset.")
    sizes = tensor_util.constant_value(batch_sizes)
    if sizes is None or len(set(np.ravel(sizes))) != 1:
        return None
    if np.ndim(sizes) > 1:
        raise ValueError("Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. Received "
                         f"`batch_sizes` of rank {np.ndim(sizes)}.")
    size = int(np.ravel(sizes)[0])
    if tensor_util.constant_value(drop_remainder):
        return size
    rows = {tensor_shape.dimension_value(shape[0]) if shape.rank else None for shape in shapes} - {None}
    if len(rows) > 1:
        raise ValueError(f"Invalid `input_dataset.` The batch dimensions of its components are {sorted(rows)}.")
    return size if rows and size > 0 and rows.pop() % size == 0 else None


class WindowDataset(_Structured):
    """Datasets of some elements each."""

    def __init__(self, input_dataset, size, shift, stride, drop_remainder, name=None):
        numbers = [ops.convert_to_tensor(value, dtype=dtypes.int64, name=word)
                   for value, word in ((size, "size"), (shift, "shift"), (stride, "stride"))]
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        self._structure = nest.map_structure(DatasetSpec, input_dataset.element_spec)
        super().__init__(input_dataset, gen.window_dataset(
            input_dataset._variant_tensor, *numbers, drop_remainder, **flat_structure(self._structure, name)))
