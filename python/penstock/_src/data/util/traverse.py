"""The operations behind a dataset."""
import collections

from penstock._src.graph import dtypes


def obtain_all_variant_tensor_ops(dataset):
    """The operations that make the dataset and the datasets it is made of, the last first."""
    start = dataset._variant_tensor.op
    waiting, seen, found = collections.deque([start]), {start}, []
    while waiting:
        op = waiting.popleft()
        if op.outputs and op.outputs[0].dtype == dtypes.variant:
            found.append(op)
        for tensor in op.inputs:
            if tensor.op not in seen:
                seen.add(tensor.op)
                waiting.append(tensor.op)
    return found
