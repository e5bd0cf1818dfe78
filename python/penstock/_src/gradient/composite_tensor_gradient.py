"""Which parts of a value made of several tensors are differentiated, and what derivatives by them become."""
import abc

from penstock._src.graph import indexed_slices
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.graph.tensor import Tensor
from penstock._src.base import nest


class CompositeTensorGradient(abc.ABC):
    """What a class of composite tensors has as its attribute `__composite_gradient__`, if it can be differentiated."""

    @abc.abstractmethod
    def get_gradient_components(self, value):
        """The tensors (composite ones too) of a value that are differentiated, in any structure."""

    @abc.abstractmethod
    def replace_gradient_components(self, value, component_grads):
        """What is handed on as the derivative by `value`: component_grads has the derivatives by its components."""


class WithValuesCompositeTensorGradient(CompositeTensorGradient):
    """For classes with an attribute `values` and a method `with_values`."""

    def get_gradient_components(self, value):
        """The values."""
        return value.values

    def replace_gradient_components(self, value, component_grads):
        """The same partition of other values."""
        return value.with_values(component_grads)


def _gradient_of(value):
    """Its CompositeTensorGradient, or None of what is differentiated as a whole. ValueError if there is none."""
    if not isinstance(value, CompositeTensor) or isinstance(value, (Tensor, indexed_slices.IndexedSlices)) or hasattr(
            value, "handle"):
        return None
    found = getattr(value, "__composite_gradient__", None)
    if found is None:
        raise ValueError(f"Type {type(value).__name__} is not supported as a gradient source or gradient target.")
    return found


def get_flat_tensors_for_gradients(values):
    """The tensors, in one list, that stand for these values while they are differentiated."""
    tensors: list = []
    for value in values:
        gradient = _gradient_of(value)
        tensors += [value] if gradient is None else get_flat_tensors_for_gradients(
            nest.flatten(gradient.get_gradient_components(value)))
    return tensors


def replace_flat_tensors_for_gradients(values, flat_grads):
    """The derivatives by each of `values`, of those by what get_flat_tensors_for_gradients(values) gave."""
    return _assembled(values, iter(flat_grads))


def _assembled(values, grads):
    results = []
    for value in values:
        gradient = _gradient_of(value)
        if gradient is None:
            results.append(next(grads))
            continue
        components = gradient.get_gradient_components(value)
        found = _assembled(nest.flatten(components), grads)
        results.append(None if all(g is None for g in found) else gradient.replace_gradient_components(
            value, nest.pack_sequence_as(components, found)))
    return results
