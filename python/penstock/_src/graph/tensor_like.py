"""The base class of tensors, sparse tensors and slices, which programs of version 1 ask for."""


class _TensorLike:
    """What is a value of a graph by itself; variables and ragged tensors are not."""
