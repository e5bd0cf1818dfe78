"""What session.run may be asked for: how nested fetches become a flat list of tensors and operations, and back."""
import collections.abc
import dataclasses

from penstock._src.session import tensor_handle
from penstock._src.graph import fetch_conversions
from penstock._src.graph.errors import InaccessibleTensorError
from penstock._src.graph.fetch_conversions import (  # noqa: F401
    feed_elements, feed_pairs, register_session_run_conversion_functions)
from penstock._src.graph.operation import Operation


class Fetches:
    """The elements (tensors and operations, each once) that a nest of fetches asks for, and the way back."""

    def __init__(self, graph, fetches, session=None):
        self.graph = graph
        self.session = session
        self.elements = []
        self.has_handles = False  # of tensors that stay in the session
        self._index = {}
        self.rebuild = self._map(fetches)

    def _map(self, fetch):
        """Notes the elements of `fetch`; returns a function from the list of all values to this fetch's result."""
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)):
            return self._sequence(type(fetch), [self._map(f) for f in fetch])
        if isinstance(fetch, collections.abc.Mapping):
            return self._mapping(type(fetch), list(fetch.keys()), [self._map(f) for f in fetch.values()])
        attrs = getattr(type(fetch), "__attrs_attrs__", None)
        if attrs is not None:
            return self._record(type(fetch), [self._map(getattr(fetch, a.name)) for a in attrs])
        if dataclasses.is_dataclass(fetch) and not isinstance(fetch, type):
            parts = {f.name: self._map(getattr(fetch, f.name)) for f in dataclasses.fields(fetch)}
            return self._data(type(fetch), parts)
        for kind, expand, _, _ in fetch_conversions.expansions:
            if isinstance(fetch, kind):
                elements, contract = expand(fetch)
                places = [self._element(e) for e in elements]
                if kind is object:
                    contract = self._handle(self.elements[places[0]]) or contract
                return self._leaf(places, contract)
        raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")

    def _handle(self, element):
        """A function from the value of an element that is a handle to a TensorHandle; None for other elements."""
        if isinstance(element, Operation) or element.op.type not in tensor_handle.HANDLE_OPS:
            return None
        self.has_handles = True
        dtype = element.op.inputs[0].dtype.base_dtype
        return lambda values: tensor_handle.TensorHandle(values[0], dtype, self.session)

    @staticmethod
    def _sequence(kind, parts):
        if issubclass(kind, list):
            return lambda values: [part(values) for part in parts]
        if kind is tuple:
            return lambda values: tuple([part(values) for part in parts])
        return lambda values: kind(*[part(values) for part in parts])

    @staticmethod
    def _mapping(kind, keys, parts):
        def rebuild(values):
            result = kind()
            for key, part in zip(keys, parts):
                result[key] = part(values)
            return result
        return rebuild

    @staticmethod
    def _record(kind, parts):
        return lambda values: kind(*[part(values) for part in parts])

    @staticmethod
    def _data(kind, parts):
        return lambda values: kind(**{name: part(values) for name, part in parts.items()})

    @staticmethod
    def _leaf(places, contract):
        if not places:
            return lambda values: None
        return lambda values: contract([values[i] for i in places])

    def _element(self, fetch):
        """The place of the element that `fetch` is or stands for."""
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or Tensor. "
                            f"({e})") from None
        except (ValueError, KeyError) as e:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({e})") from None
        op = element if isinstance(element, Operation) else element.op
        if self.graph._unfetchable_ops and not self.graph.is_fetchable(op):
            raise InaccessibleTensorError(
                f"Operation {op.name!r} has been marked as not fetchable. Typically this happens when it is defined in "
                "another function or code block. Use return values, explicit Python locals or TensorFlow collections "
                "to access it.")
        place = self._index.setdefault(id(element), len(self.elements))
        if place == len(self.elements):
            self.elements.append(element)
        return place
