"""Examples parsed as a transformation."""
from penstock._src.data.ops.batching import determinism
from penstock._src.data.ops.dataset_ops import UnaryDataset, flat_structure
from penstock._src.data.util import structure
from penstock._src.graph import dtypes, gen
from penstock._src.graph.composite_spec import SparseTensorSpec
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.lookup import parsing_ops
from penstock._src.ops.lookup.parsing_config import RaggedFeature, RawFeatures, SparseFeature, with_unknown_length
from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec


class _ParseExampleDataset(UnaryDataset):
    """The features of batches of serialized Examples. TypeError unless elements are vectors of strings."""

    def __init__(self, input_dataset, features, num_parallel_calls, deterministic):
        if not structure.are_compatible(input_dataset.element_spec, TensorSpec([None], dtypes.string)):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        raw = RawFeatures.of(features, parsing_ops._EXAMPLE_KINDS)
        raw.check()
        rows = input_dataset.element_spec.shape
        self._structure = {
            **{key: TensorSpec(rows.concatenate(shape), dtype)
               for key, dtype, shape in zip(raw.dense_keys, raw.dense_types, raw.shapes())},
            **{key: SparseTensorSpec(rows.concatenate([None]), dtype)
               for key, dtype in zip(raw.sparse_keys, raw.sparse_types)},
            **{key: RaggedTensorSpec(rows.concatenate([None]), dtype, 1, split_type) for key, dtype, split_type in zip(
                raw.ragged_keys, raw.ragged_types, raw.ragged_split_types)}}
        arguments = (input_dataset._variant_tensor, num_parallel_calls, raw.defaults(), raw.sparse_keys,
                     raw.dense_keys, raw.sparse_types, raw.shapes())
        flat = dict(flat_structure(self._structure), ragged_keys=raw.ragged_keys,
                    ragged_value_types=raw.ragged_types, ragged_split_types=raw.ragged_split_types)
        super().__init__(input_dataset, gen.parse_example_dataset(*arguments, **flat) if deterministic is None else
                         gen.parse_example_dataset_v2(*arguments, deterministic=determinism(deterministic), **flat))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """For Dataset.apply: the features of batches of serialized Examples, as dicts. ValueError for None."""
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def apply(dataset):
        known = with_unknown_length(features)
        parsed = _ParseExampleDataset(dataset, known, num_parallel_calls, deterministic)
        if any(isinstance(feature, (SparseFeature, RaggedFeature)) for feature in features.values()):
            parsed = parsed.map(lambda x: parsing_ops._with_composite_features(known, x),
                                num_parallel_calls=num_parallel_calls)
        return parsed
    return apply
