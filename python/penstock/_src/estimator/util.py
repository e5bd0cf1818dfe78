"""What input functions give."""
import sys
import time

from penstock._src.base import tf_logging as logging
from penstock._src.training import session_run_hook
from penstock._src.base import function_utils

fn_args = function_utils.fn_args


def is_dataset(value):
    """Whether it is a tf.data.Dataset. There is none before its module was imported."""
    dataset_ops = sys.modules.get("penstock._src.data.ops.dataset_ops")
    return dataset_ops is not None and isinstance(value, dataset_ops.DatasetV2)


def initializable_iterator(dataset):
    """An iterator over a dataset, and the hook that initializes it in each new session."""
    from penstock._src.data.ops import dataset_ops
    iterator = dataset_ops.make_initializable_iterator(dataset)
    return iterator, _DatasetInitializerHook(iterator)


def parse_input_fn_result(result):
    """Features, labels (or None) and hooks of what an input function gives: a Dataset, a pair or features."""
    hooks = []
    if is_dataset(result):
        iterator, hook = initializable_iterator(result)
        hooks.append(hook)
        result = iterator.get_next()
    return parse_iterator_result(result) + (hooks,)


def parse_iterator_result(result):
    """Features and labels; labels are None unless it is a pair."""
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1]
    return result, None


class _DatasetInitializerHook(session_run_hook.SessionRunHook):
    """Initializes an iterator."""

    def __init__(self, iterator):
        self._iterator = iterator

    def begin(self):
        self._initializer = self._iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


class MultiHostDatasetInitializerHook(session_run_hook.SessionRunHook):
    """Initializes several iterators."""

    def __init__(self, dataset_initializers):
        self._initializers = dataset_initializers

    def after_create_session(self, session, coord):
        start = time.time()
        session.run(self._initializers)
        logging.info("Initialized dataset iterators in %d seconds", time.time() - start)
