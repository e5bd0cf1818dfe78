"""What can be differentiated by, and sums of gradients."""
from penstock._src.gradient import backprop
from penstock._src.graph import dtypes

AggregateIndexedSlicesGradients = backprop.aggregate_indexed_slices_gradients


def IsTrainable(tensor_or_dtype):  # noqa: N802
    """Whether values of this type, or of this tensor's type, have derivatives."""
    return backprop._is_trainable(dtypes.as_dtype(getattr(tensor_or_dtype, "dtype", tensor_or_dtype)))
