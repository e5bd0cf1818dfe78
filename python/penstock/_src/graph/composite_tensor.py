"""Values made of several tensors."""


class CompositeTensor:
    """Base class of IndexedSlices, SparseTensor and their like."""

    _is_composite_tensor = True

    @property
    def _type_spec(self):
        """The TypeSpec, which knows of what parts it is made."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec()")

    def _shape_invariant_to_type_spec(self, shape):
        """What a TensorShape, given as a loop's shape invariant, says of such a value, as a TypeSpec."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _convert_variables_to_tensors(self):
        """The value with tensors in place of variables among its parts, for classes that have such parts."""
        return self

    @property
    def _is_graph_tensor(self):
        from penstock._src.base import nest
        return any(hasattr(t, "graph") for t in nest.flatten(self, expand_composites=True))

    def _consumers(self):
        from penstock._src.base import nest
        parts = nest.flatten(self, expand_composites=True)
        return list(dict.fromkeys(op for t in parts if hasattr(t, "graph") for op in t.consumers()))


def is_composite_or_composite_value(value):
    """Whether it is a composite tensor, or the value of one."""
    from penstock._src.graph import type_spec
    return isinstance(value, CompositeTensor) or type_spec.has_converter(value)


def convert_variables_to_tensors(composite_tensor):
    """The composite value with what its variables hold in their place, if its class does that."""
    return composite_tensor._convert_variables_to_tensors()


def replace_composites_with_components(structure):
    """The structure with the tensors, in tuples or lists, in place of what is made of them."""
    from penstock._src.base import nest
    if isinstance(structure, CompositeTensor):
        return replace_composites_with_components(structure._type_spec._to_components(structure))
    if not nest.is_sequence(structure):
        return structure
    return nest._sequence_like(structure, [replace_composites_with_components(x) for x in nest._values(structure)])
