"""What a GradientTape knows of graphs: which operations were built while it recorded, which tensors it watches."""
from penstock.framework import defaults
from penstock.framework import gen
from penstock.framework import indexed_slices
from penstock.framework.tensor import Tensor

# What brings a value of outside into a loop or conditional is the value itself, whenever it was built.
_CARRIERS = frozenset(("Enter", "RefEnter", "Switch", "RefSwitch"))


class Recording:
    """Of one tape. Operations of a graph in which the tape was never started are all recorded: the graph was begun
    later."""

    def __init__(self):
        self._watched = {}
        self._ranges = {}  # id of a graph -> [graph, [first operation, operation behind the last or None], ...]

    def start(self):
        """Records what is built in the default graph from now on."""
        graph = defaults.get_default_graph()
        if not graph._eager:
            self._ranges.setdefault(id(graph), [graph]).append([len(graph._ops), None])

    def stop(self):
        """Records no longer."""
        for graph, *spans in self._ranges.values():
            if spans[-1][1] is None:
                spans[-1][1] = len(graph._ops)

    def watch(self, tensor):
        """Makes a tensor one that may be differentiated by."""
        self._watched[id(tensor)] = tensor

    def _recorded(self, op):
        if op.type in _CARRIERS:
            return True
        op = op.__dict__.get("_lowered_from", op)
        spans = self._ranges.get(id(op._graph))
        return spans is None or any(a <= op._node and (b is None or op._node < b) for a, b in spans[1:])

    def _stops(self, targets, graph):
        """The tensors at which the recorded part of the graph begins."""
        if id(graph) not in self._ranges:
            return []
        found, seen, stack = {}, set(), list(targets)
        while stack:
            tensor = stack.pop()
            op = tensor._op
            if not self._recorded(op):
                found[tensor._key] = tensor
            elif op._node not in seen:
                seen.add(op._node)
                stack.extend(op.inputs)
        return list(found.values())

    def _depends(self, tensor, known):
        """Whether a tensor was computed, while the tape recorded, from what it watches."""
        seen, stack = set(), [tensor]
        while stack:
            tensor = stack.pop()
            if tensor._key in known:
                return True
            op = tensor._op
            if op._node not in seen and self._recorded(op):
                seen.add(op._node)
                stack.extend(op.inputs)
        return False

    def _watched_inside(self, graph):
        """The watched tensors of a graph, and what stands in a function's body for those outside of it."""
        for tensor in self._watched.values():
            if tensor._is_eager:
                if graph.building_function and id(tensor) in graph._captures:
                    yield graph.capture(tensor)
            elif graph.building_function:
                yield graph.capture(tensor)
            elif tensor.graph is graph:
                yield tensor

    def gradient(self, variables, targets, sources, output_gradients):
        """The derivatives of tensors of the default graph (or of the targets' graph) by sources; None where the target
        does not depend on a source in a way that was recorded."""
        from penstock.ops import gradients_util
        from penstock.util import nest
        graph = defaults.get_default_graph()
        if graph._eager:
            graph = next(t for t in targets if not t._is_eager).graph

        def inside(tensor):
            if not graph.building_function:
                return tensor
            return graph.capture(tensor)

        known = {t._key for t in self._watched_inside(graph)}
        known |= {inside(v.handle)._key for v in variables.values()
                  if graph.building_function or not v.handle._is_eager and v.handle.graph is graph}
        flat, wanted = [], []
        for i, source in enumerate(sources):
            tensor = _tensor_of(source)
            if tensor._is_eager and not graph.building_function:
                continue
            tensor = inside(tensor)
            if tensor._key in known or self._depends(tensor, known):
                flat.append(tensor)
                wanted.append(i)
        results = [None] * len(sources)
        targets_inside = [inside(t) for t in targets]
        pairs = [(t, g) for t, g in zip(targets_inside, [None] * len(targets) if output_gradients is None
                                        else nest.flatten(output_gradients)) if not t._is_eager]
        pairs = [(t, gen.ones_like(t) if g is None and t.dtype.is_complex else g) for t, g in pairs
                 if t.dtype.is_floating or t.dtype.is_complex or t.dtype.name == "variant"]
        if flat and pairs:
            with graph.as_default():
                stops = self._stops([t for t, _ in pairs], graph)
                found = gradients_util.compute([t for t, _ in pairs], flat, [g for _, g in pairs],
                                               name="gradient_tape/", stop_gradients=stops)
            for i, gradient in zip(wanted, found):
                results[i] = gradient
        return results


def _tensor_of(source):
    if isinstance(source, Tensor):
        return source
    if isinstance(source, indexed_slices.IndexedSlices):
        return source.values
    return source.handle
