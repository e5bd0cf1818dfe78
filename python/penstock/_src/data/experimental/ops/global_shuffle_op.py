"""All elements of a dataset in a random order, without a buffer."""
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset
from penstock._src.data.ops.options import Options
from penstock._src.data.util import random_seed
from penstock._src.graph import gen


def _global_shuffle(input_dataset, seed=None, reshuffle_each_iteration=True, name=None):
    """The elements in a random order, each made when its turn comes: the dataset has them by their places.

    Datasets that read by place are `range`, `from_tensors`, `from_tensor_slices`, and what `map`, `batch` with
    `drop_remainder`, `take`, `skip`, `shard`, `repeat` with a count, `zip`, `concatenate`, `cache` in memory and
    `prefetch` make of them. `seed`: a number or a scalar tensor; each iteration has another order unless
    `reshuffle_each_iteration` is False. InvalidArgumentError: it is empty, or nobody knows how many elements it has.
    FailedPreconditionError: a transformation cannot do this.
    """
    return _GlobalShuffleDataset(input_dataset, seed, reshuffle_each_iteration)


class _GlobalShuffleDataset(UnaryUnchangedStructureDataset):
    """See _global_shuffle."""

    def __init__(self, input_dataset, seed=None, reshuffle_each_iteration=True, name=None):
        options = Options()
        options.experimental_warm_start = False  # as TensorFlow's have it
        input_dataset = input_dataset.with_options(options)
        seed, seed2 = random_seed.get_seed(seed)
        super().__init__(input_dataset, gen.global_shuffle_dataset(
            input_dataset._variant_tensor, seed=seed, seed2=seed2, seed_generator=gen.dummy_seed_generator(),
            reshuffle_each_iteration=reshuffle_each_iteration, **input_dataset._flat_structure))
