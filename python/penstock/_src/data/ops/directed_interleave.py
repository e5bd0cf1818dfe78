"""Datasets that take each element from another dataset, as a dataset of numbers says."""
from penstock._src.data.ops.dataset_ops import DatasetV2, flat_structure
from penstock._src.data.ops.mapping import MapDataset
from penstock._src.data.ops.simple import common_structure
from penstock._src.data.ops.sources import RandomDataset
from penstock._src.data.util import structure
from penstock._src.graph import dtypes, gen, ops
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops


class DirectedInterleaveDataset(DatasetV2):
    """Elements of `data_inputs`, each of the one whose index comes next in `selector_input`."""

    def __init__(self, selector_input, data_inputs, stop_on_empty_dataset=False):
        self._selector_input = selector_input
        self._data_inputs = list(data_inputs)
        try:
            self._structure = common_structure(self._data_inputs, "interleave")
        except TypeError as e:
            raise TypeError("Invalid `datasets`. `datasets` must have compatible element specs. All datasets must have "
                            f"the same type and class. {e}") from None
        super().__init__(gen.directed_interleave_dataset(
            selector_input._variant_tensor, [dataset._variant_tensor for dataset in self._data_inputs],
            stop_on_empty_dataset=stop_on_empty_dataset, **flat_structure(self._structure)))

    def _inputs(self):
        return [self._selector_input] + self._data_inputs

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def _skip_empty(datasets, weights):
    """Without datasets that have no weight, if that is known. ValueError: there are more or fewer weights."""
    if ops.is_dense_tensor_like(weights):
        return datasets, weights
    if len(datasets) != len(weights):
        raise ValueError("Invalid `weights`. `weights` should have the same length as `datasets` but got "
                         f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`.")
    kept = [(d, w) for d, w in zip(datasets, weights) if w > 0] or [(datasets[0].take(0), 1.0)]
    return [d for d, _ in kept], [w for _, w in kept]


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                         rerandomize_each_iteration=None):
    """See Dataset.sample_from_datasets."""
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")

    def seeds():
        return RandomDataset(seed, rerandomize_each_iteration).batch(2)

    if isinstance(weights, DatasetV2):
        logits = weights.map(lambda *p: gen.log(p, name="logits"))

        def select_dataset_varying_logits(logits, seed):
            return array_ops.squeeze(gen.stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])

        selector = MapDataset(DatasetV2.zip((logits, seeds())), select_dataset_varying_logits,
                              use_inter_op_parallelism=False)
        return DirectedInterleaveDataset(selector, datasets, stop_on_empty_dataset)
    if weights is None:
        logits = [[1.0] * len(datasets)]
    else:
        datasets, weights = _skip_empty(datasets, weights)
        weights = ops.convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError("Invalid `weights`. `weights` must be a vector of length `len(datasets)`, but its shape "
                             f"is {weights.shape}.")
        logits = array_ops.expand_dims(gen.log(weights, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]

    def select_dataset_constant_logits(seed):
        return array_ops.squeeze(gen.stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])

    selector = MapDataset(seeds(), select_dataset_constant_logits, use_inter_op_parallelism=False)
    return DirectedInterleaveDataset(selector, datasets, stop_on_empty_dataset)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """See Dataset.choose_from_datasets."""
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if not isinstance(choice_dataset, DatasetV2):
        raise TypeError("Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                        f"{type(choice_dataset)}.")
    if not structure.are_compatible(choice_dataset.element_spec, TensorSpec([], dtypes.int64)):
        raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but "
                        f"are {choice_dataset.element_spec}.")
    return DirectedInterleaveDataset(choice_dataset, datasets, stop_on_empty_dataset)
