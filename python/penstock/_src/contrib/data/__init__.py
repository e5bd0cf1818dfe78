"""The used part of tf.contrib.data: what tf.data.experimental has, and three names of its own."""
from penstock._src.data.ops.batching import BatchDataset, PaddedBatchDataset
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset, get_legacy_output_classes, \
    get_legacy_output_shapes, get_legacy_output_types
from penstock._src.data.ops.mapping import MapDataset
from penstock._src.data.util import nest, structure
from penstock._src.graph import ops, tensor_shape
from penstock._src.base import deprecation


@deprecation.deprecated(None, "Use `tf.data.Dataset.batch(..., drop_remainder=True)`.")
def batch_and_drop_remainder(batch_size):
    """For Dataset.apply: batches without what is left over."""
    return lambda dataset: BatchDataset(dataset, batch_size, drop_remainder=True)


@deprecation.deprecated(None, "Use `tf.data.Dataset.padded_batch(..., drop_remainder=True)`.")
def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """For Dataset.apply: padded batches without what is left over."""
    return lambda dataset: PaddedBatchDataset(dataset, batch_size, padded_shapes, padding_values, drop_remainder=True)


@deprecation.deprecated(None, "Use `tf.data.Dataset.map()` with `tf.Tensor.set_shape`.")
def assert_element_shape(expected_shapes):
    """For Dataset.apply: says which shapes the elements have. ValueError: they are known to have others."""
    def apply(dataset):
        spec = dataset.element_spec
        shapes, classes = get_legacy_output_shapes(dataset), get_legacy_output_classes(dataset)
        nest.assert_same_structure(shapes, expected_shapes)
        merged = nest.pack_sequence_as(shapes, [
            tensor_shape.as_shape(wanted).merge_with(known) if known is not None else wanted
            for known, wanted in zip(nest.flatten(shapes), nest.flatten(expected_shapes))])

        def check(*element):
            element = element if isinstance(spec, tuple) else element[0]
            return nest.pack_sequence_as(spec, [
                _with_shape(part, shape) for part, shape in zip(nest.flatten(element), nest.flatten(merged))])

        return _Described(MapDataset(dataset, check), structure.convert_legacy_structure(
            get_legacy_output_types(dataset), merged, classes))
    return apply


def _with_shape(part, shape):
    if isinstance(part, ops.Tensor):
        from penstock._src.control_flow import check_ops
        return check_ops.ensure_shape(part, shape)
    return part


class _Described(UnaryUnchangedStructureDataset):
    def __init__(self, dataset, element_spec):
        self._structure = element_spec
        super().__init__(dataset, dataset._variant_tensor)

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")
