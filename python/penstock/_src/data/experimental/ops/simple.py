"""Methods of Dataset as functions for Dataset.apply."""
from penstock._src.data.ops import mapping, simple
from penstock._src.base import deprecation


@deprecation.deprecated(None, "Use `tf.data.Dataset.enumerate()")
def enumerate_dataset(start=0):
    """(number, element) for each, counted from `start`."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning=False):
    """Without elements that could not be made."""
    return lambda dataset: simple.IgnoreErrorsDataset(dataset, log_warning)


def scan(initial_state, scan_func):
    """The outputs of `scan_func(state, element)`, which returns (the next state, an output)."""
    return lambda dataset: mapping.ScanDataset(dataset, initial_state, scan_func)


@deprecation.deprecated(None, "Use `tf.data.Dataset.shuffle(buffer_size, seed)` followed by "
                        "`tf.data.Dataset.repeat(count)`. Static tf.data optimizations will take care of using the "
                        "fused implementation.")
def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """The elements in random orders, `count` times."""
    return lambda dataset: simple.ShuffleAndRepeatDataset(dataset, buffer_size, count, seed)


def take_while(predicate):
    """The elements up to the first for which `predicate` is false."""
    return lambda dataset: mapping.TakeWhileDataset(dataset, predicate)


def unique():
    """Without elements that came before."""
    return lambda dataset: simple.UniqueDataset(dataset)


def get_single_element(dataset):
    """The one element of a dataset. TypeError if it is none."""
    from penstock._src.data.ops.dataset_ops import DatasetV2
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.get_single_element()
