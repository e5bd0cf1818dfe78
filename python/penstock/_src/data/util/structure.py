"""The specs of elements of datasets, and elements as flat lists of tensors."""
import numpy as np

from penstock._src.data.util import nest
from penstock._src.graph import composite_tensor, ops, sparse_tensor, type_spec
from penstock._src.graph import type_spec_registry
from penstock._src.graph.composite_spec import SparseTensorSpec
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.control_flow import tensor_array_ops, tensor_array_spec
from penstock._src.ops.ragged import ragged_tensor
from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from penstock.proto import dataset_metadata_pb2


def _spec_of(value):
    """The spec of a value that needs no conversion, or None."""
    if isinstance(value, (ops.Tensor, composite_tensor.CompositeTensor)) or type(value) is np.ndarray \
            or type_spec.has_converter(value):
        return type_spec.type_spec_from_value(value)
    if isinstance(value, list) and value:
        specs = [_spec_of(part) for part in value]
        if isinstance(specs[0], type_spec.BatchableTypeSpec):
            try:
                merged = specs[0]
                for spec in specs[1:]:
                    merged = merged.most_specific_compatible_type(spec)
                return merged._batch(len(specs))
            except (AttributeError, TypeError, ValueError):  # no spec, or none for all
                return None
    return None


def type_spec_from_value(element, use_fallback=True):
    """The spec of an element. With `use_fallback`, also of what becomes a tensor. TypeError if it has none."""
    spec = _spec_of(element)
    if spec is not None:
        return spec
    if element is None:
        return NoneTensorSpec()
    if nest.is_sequence(element):
        return nest.nest._sequence_like(element, [type_spec_from_value(part) for part in nest.nest._values(element)])
    if use_fallback:
        try:
            return type_spec_from_value(ops.convert_to_tensor(element))
        except (TypeError, ValueError):
            pass
    raise TypeError(f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}")


def normalize_element(element, element_signature=None):
    """An element with tensors for all that can become one, of the types of the signature if there is one."""
    parts = nest.flatten(element)
    wanted = [None] * len(parts) if element_signature is None else nest.flatten(element_signature)
    made = []
    with ops.name_scope("normalize_element"):
        for i, (part, spec) in enumerate(zip(parts, wanted)):
            if part is not None:
                part = _normalized(part, f"component_{i}", spec)
            made.append(part)
    return nest.pack_sequence_as(element, made)


def _normalized(part, name, wanted):
    try:
        spec = wanted or type_spec_from_value(part, use_fallback=False)
    except TypeError:
        return ops.convert_to_tensor(part, name=name)
    if isinstance(spec, SparseTensorSpec):
        return sparse_tensor.SparseTensor.from_value(part)
    if isinstance(spec, RaggedTensorSpec):
        return ragged_tensor.convert_to_tensor_or_ragged_tensor(part, name=name)
    if isinstance(part, composite_tensor.CompositeTensor) or type_spec.has_converter(part) or spec._is_opaque:
        return part
    return ops.convert_to_tensor(part, name=name, dtype=getattr(wanted, "dtype", None))


def convert_legacy_structure(output_types, output_shapes, output_classes):
    """The spec of elements of these types, shapes and classes. TypeError for a class of which there is none."""
    made = []
    for dtype, shape, kind in zip(*map(nest.flatten, (output_types, output_shapes, output_classes))):
        if isinstance(kind, type_spec.TypeSpec):
            made.append(kind)
        elif issubclass(kind, sparse_tensor.SparseTensor):
            made.append(SparseTensorSpec(shape, dtype))
        elif issubclass(kind, ops.Tensor):
            made.append(TensorSpec(shape, dtype))
        elif issubclass(kind, tensor_array_ops.TensorArray):
            made.append(tensor_array_spec.TensorArraySpec._from_legacy_structure(dtype, shape))
        else:
            raise TypeError(f"Could not build a structure for output class {kind!r}")
    return nest.pack_sequence_as(output_classes, made)


def legacy_types(spec):
    """What version 1 calls the types of elements of a spec."""
    return nest.map_structure(lambda part: part._to_legacy_output_types(), spec)


def legacy_shapes(spec):
    """What version 1 calls their shapes."""
    return nest.map_structure(lambda part: part._to_legacy_output_shapes(), spec)


def legacy_classes(spec):
    """What version 1 calls their classes."""
    return nest.map_structure(lambda part: part._to_legacy_output_classes(), spec)


# Flat lists


def get_flat_tensor_specs(element_spec):
    """The specs of the tensors that datasets hold an element as."""
    return [flat for spec in nest.flatten(element_spec) for flat in spec._flat_tensor_specs]


def get_flat_tensor_shapes(element_spec):
    """Their shapes."""
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec):
    """Their types."""
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]


def _decoded(method, element_spec, tensor_list):
    specs = nest.flatten(element_spec)
    counts = [len(spec._flat_tensor_specs) for spec in specs]
    if sum(counts) != len(tensor_list):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensor_list)}.")
    made, at = [], 0
    for spec, count in zip(specs, counts):
        made.append(getattr(spec, method)(list(tensor_list[at:at + count])))
        at += count
    return nest.pack_sequence_as(element_spec, made)


def from_compatible_tensor_list(element_spec, tensor_list):
    """The element of a flat list of tensors that are known to fit. ValueError if their number is wrong."""
    return _decoded("_from_compatible_tensor_list", element_spec, tensor_list)


def from_tensor_list(element_spec, tensor_list):
    """The element of a flat list of tensors. ValueError if they do not fit."""
    return _decoded("_from_tensor_list", element_spec, tensor_list)


def _encoded(method, element_spec, element):
    nest.assert_same_structure(element_spec, element)
    return [tensor for spec, part in zip(nest.flatten(element_spec), nest.flatten(element))
            for tensor in getattr(spec, method)(part)]


def to_tensor_list(element_spec, element):
    """The flat list of tensors of an element. ValueError, TypeError if it is not of the spec."""
    return _encoded("_to_tensor_list", element_spec, element)


def to_batched_tensor_list(element_spec, element):
    """The flat list of tensors of a batch of elements, each with the batch as its first dimension."""
    return _encoded("_to_batched_tensor_list", element_spec, element)


# Comparing


def are_compatible(spec1, spec2):
    """Whether elements of each may be elements of the other."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) and b.is_compatible_with(a)
               for a, b in zip(nest.flatten(spec1), nest.flatten(spec2)))


@type_spec_registry.register("tf.NoneTensorSpec")
class NoneTensorSpec(type_spec.BatchableTypeSpec):
    """Of None, which no tensor stands for."""

    __slots__ = ()
    value_type = property(lambda self: type(None), doc="The class of None.")

    def _serialize(self):
        return ()

    @property
    def _component_specs(self):
        return []

    def _to_components(self, value):
        return []

    def _from_components(self, components):
        return None

    def _to_tensor_list(self, value):
        return []

    def is_compatible_with(self, spec_or_value):
        """Whether it is None, or its spec."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def _batch(self, batch_size):
        return NoneTensorSpec()

    def _unbatch(self):
        return NoneTensorSpec()

    def _to_legacy_output_classes(self):
        return self


# Names that version 1 has for specs.


def tensor_structure(dtype, shape):
    """TensorSpec(shape, dtype)."""
    return TensorSpec(shape, dtype)


def sparse_tensor_structure(dtype, shape):
    """SparseTensorSpec(shape, dtype)."""
    return SparseTensorSpec(shape, dtype)


def ragged_tensor_structure(dtype, shape, ragged_rank):
    """RaggedTensorSpec(shape, dtype, ragged_rank)."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def flat_structure(element_spec, name=None):
    """The attributes with which an op names what its elements consist of, and `named(name)`."""
    return {"output_shapes": get_flat_tensor_shapes(element_spec),
            "output_types": get_flat_tensor_types(element_spec), **named(name)}


def named(name):
    """The attribute of a transformation that the program names; errors of its function tell it. ValueError unless it
    is an identifier."""
    if not name:
        return {}
    if not name.isidentifier():
        raise ValueError("Invalid `name`. The argument `name` needs to be a valid identifier. Value is considered a "
                         "valid identifier if it only contains alphanumeric characters (a-z), (A-Z), and (0-9), or "
                         "underscores (_). A valid identifier cannot start with a number, or contain any spaces.")
    return {"metadata": dataset_metadata_pb2.Metadata(name=name.encode()).SerializeToString()}


def get_structure(dataset_or_iterator):
    """The spec of an element of a dataset or iterator. TypeError if it is neither."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError("`dataset_or_iterator` must be a Dataset or Iterator object, but got "
                        f"{type(dataset_or_iterator)}.") from None


def get_legacy_output_classes(dataset_or_iterator):
    """The classes of an element's parts."""
    return legacy_classes(get_structure(dataset_or_iterator))


def get_legacy_output_shapes(dataset_or_iterator):
    """The shapes of an element's parts."""
    return legacy_shapes(get_structure(dataset_or_iterator))


def get_legacy_output_types(dataset_or_iterator):
    """The types of an element's parts."""
    return legacy_types(get_structure(dataset_or_iterator))
