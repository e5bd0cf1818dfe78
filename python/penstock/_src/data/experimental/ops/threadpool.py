"""Threads of a pipeline's own."""
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset
from penstock._src.graph import gen


class PrivateThreadPool:
    """Threads for pipelines."""

    def __init__(self, num_threads, display_name=None, max_intra_op_parallelism=1):
        self._resource = gen.thread_pool_handle(
            num_threads=num_threads, max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name or "")


def override_threadpool(dataset, thread_pool):
    """A dataset that uses the threads of a PrivateThreadPool."""
    return _ThreadPoolDataset(dataset, thread_pool)


class _ThreadPoolDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, thread_pool):
        self._thread_pool = thread_pool
        super().__init__(input_dataset, gen.thread_pool_dataset(input_dataset._variant_tensor, thread_pool._resource,
                                                                **input_dataset._flat_structure))
