"""Values made of several tensors."""


class CompositeTensor:
    """Base class of IndexedSlices, SparseTensor and their like."""

    _is_composite_tensor = True

    def _components(self):
        """The tensors that it is made of, without those that are None."""
        raise NotImplementedError

    def _with_components(self, components):
        """The same made of other tensors."""
        raise NotImplementedError


def is_composite_or_composite_value(value):
    """Whether it is a composite tensor."""
    return isinstance(value, CompositeTensor)
