"""Pipelines divided among workers and devices."""
from penstock._src.data.ops.dataset_ops import (  # noqa: F401
    SHARD_HINT, DatasetSource, DatasetV1Adapter, DatasetV2, UnaryDataset, UnaryUnchangedStructureDataset,
    flat_structure, get_legacy_output_classes, get_legacy_output_shapes, get_legacy_output_types)
from penstock._src.data.ops.options import AutoShardPolicy, ExternalStatePolicy
from penstock._src.data.util import nest, structure
from penstock._src.graph import gen, ops, tensor_shape
from penstock._src.base import tf2


class _AutoShardDataset(UnaryUnchangedStructureDataset):
    """The part of a pipeline that one of several workers computes, by the policy that its options name."""

    def __init__(self, input_dataset, num_workers, index, num_replicas=None):
        options = input_dataset.options().experimental_distribute
        policy = options.auto_shard_policy if options.auto_shard else AutoShardPolicy.OFF
        super().__init__(input_dataset, gen.auto_shard_dataset(
            input_dataset._variant_tensor, num_workers=num_workers, index=index, auto_shard_policy=int(policy),
            num_replicas=num_replicas or 0, **input_dataset._flat_structure))


def _AutoShardDatasetV1(input_dataset, num_workers, index, num_replicas=None):
    """The part of a pipeline that one of several workers computes, with version 1's methods."""
    return DatasetV1Adapter(_AutoShardDataset(input_dataset, num_workers, index, num_replicas))


class _RebatchDataset(UnaryDataset):
    """Batches divided among replicas. ValueError: elements without dimensions."""

    def __init__(self, input_dataset, num_replicas, use_fallback=True):
        def divided(shape):
            if len(shape) < 1:
                raise ValueError("Input shape should have at least one dimension. Perhaps your input dataset is not "
                                 "batched?")
            sizes = [d.value for d in shape.dims]
            even = sizes[0] is not None and sizes[0] % num_replicas == 0
            return tensor_shape.TensorShape([sizes[0] // num_replicas if even else None, *sizes[1:]])

        self._structure = structure.convert_legacy_structure(
            get_legacy_output_types(input_dataset),
            nest.map_structure(divided, get_legacy_output_shapes(input_dataset)),
            get_legacy_output_classes(input_dataset))
        super().__init__(input_dataset, gen.rebatch_dataset(
            input_dataset._variant_tensor, num_replicas=num_replicas, use_fallback=use_fallback,
            **flat_structure(self._structure)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class _RemoteDataset(DatasetSource):
    """A serialized dataset on a device."""

    def __init__(self, graph_def, device, element_spec):
        self._structure = element_spec
        with ops.device(device):
            super().__init__(gen.dataset_from_graph(graph_def))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def replicate(dataset, devices):
    """{device: a copy of the dataset there}. TypeError if it is none."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    with ops.colocate_with(dataset._variant_tensor):
        dataset = dataset._apply_options()
        if tf2.enabled():
            graph_def = dataset._as_serialized_graph(strip_device_assignment=True,
                                                     external_state_policy=ExternalStatePolicy.WARN)
        else:
            graph_def = dataset._as_serialized_graph(
                stateful_whitelist=dataset.options().experimental_stateful_whitelist)
    return {device: _RemoteDataset(graph_def, device, dataset.element_spec) for device in devices}
