"""What a GradientTape knows of graphs: which operations were built while it recorded, which tensors it watches."""
from penstock._src.graph import defaults
from penstock._src.graph import gen
from penstock._src.graph import indexed_slices
from penstock._src.graph import registry
from penstock._src.graph.tensor import Tensor
from penstock._src.gradient import gradients_util, outer_gradients
from penstock._src.base import nest

# What brings a value of outside into a loop or conditional is the value itself, whenever it was built.
_CARRIERS = frozenset(("Enter", "RefEnter", "Switch", "RefSwitch"))


class Recording:
    """Of one tape. Operations of a graph in which the tape was never started are all recorded: the graph was begun
    later."""

    def __init__(self):
        self._watched = {}
        self._ranges = {}  # id of a graph -> [graph, [first operation, operation behind the last or None], ...]

    def start(self):
        """Records what is built from now on in the default graph and in those around it."""
        graph = defaults.get_default_graph()
        while graph is not None and not graph._eager:
            self._ranges.setdefault(id(graph), [graph]).append([len(graph._ops), None])
            graph = getattr(graph, "outer_graph", None)

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

    def _passes(self, op):
        """Whether the gradients of an operation's results flow on into its inputs."""
        return self._recorded(op) and _is_differentiable(op)

    def _known(self, graph, variables):
        """The keys of what is watched in a graph, and of what stands in a function's body for it."""
        handles = [v.handle for v in variables.values()]
        if not graph.building_function:
            return {t._key for t in [*self._watched.values(), *handles] if not t._is_eager and t.graph is graph}
        watched = [t for t in self._watched.values() if not t._is_eager or id(t) in graph._captures]
        return {graph.capture(t)._key for t in watched + handles if gradients_util.is_visible(graph, t)}

    def _tracked(self, above, variables):
        """The keys of those of some tensors' ancestors, they included, that depend on what is watched."""
        known = self._known(above.graph, variables)
        known |= {inner._key for outer, inner in above.captured() if self._is_tracked(outer, variables)}
        return above.tracked(known)

    def _is_tracked(self, tensor, variables):
        return tensor._key in self._tracked(_Ancestors([tensor], self._passes), variables)

    def _depends(self, tensor, sources):
        """Whether a tensor outside of a body was computed from one of the sources, while the tape recorded."""
        above = _Ancestors([tensor], self._passes)
        known = {t._key for t in sources if t.graph is above.graph}
        known |= {inner._key for outer, inner in above.captured()
                  if any(outer is t for t in sources) or self._depends(outer, sources)}
        tracked = above.tracked(known)
        return tensor._key in tracked and any(x._key in tracked for x in tensor._op.inputs)

    def gradient(self, variables, targets, sources, output_gradients):
        """The derivatives of tensors of the default graph (or of the targets' graph) by sources; None where the target
        does not depend on a source in a way that was recorded."""
        graph = defaults.get_default_graph()
        if graph._eager:
            graph = next(t for t in targets if not t._is_eager).graph

        def inside(tensor):
            return graph.capture(tensor) if graph.building_function else tensor

        given = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)
        pairs = [(inside(t), g) for t, g in zip(targets, given)]
        pairs = [(t, gen.ones_like(t) if g is None and t.dtype.is_complex else g) for t, g in pairs
                 if not t._is_eager and
                 (t.dtype.is_floating or t.dtype.is_complex or t.dtype.name == "variant")]
        tensors = {i: t for i, t in enumerate(map(_tensor_of, sources)) if gradients_util.is_visible(graph, t)}
        results = [None] * len(sources)
        if not pairs or not tensors:
            return results
        outside = [t for t in tensors.values() if not t._is_eager and t.graph is not graph]
        above = _Ancestors([t for t, _ in pairs], self._passes)
        tracked = self._tracked(above, variables)
        joints = [(outer, inner) for outer, inner in above.captured() if self._depends(outer, outside)]
        received = tracked | {t._key for t, _ in pairs}
        wanted = {i: t if joints else inside(t) for i, t in tensors.items() if inside(t)._key in received or
                  joints and any(t is x for x in outside) and self._is_tracked(t, variables)}
        if wanted:
            with graph.as_default():
                found = gradients_util.compute(
                    [t for t, _ in pairs], list(wanted.values()), [g for _, g in pairs], name="gradient_tape/",
                    stop_gradients=above.ends(tracked), captured=joints)
            for i, gradient in zip(wanted, found):
                results[i] = gradient
        return results


class _Ancestors:
    """What tensors of one graph are computed from, through operations that `passes` gradients through."""

    def __init__(self, targets, passes):
        self.graph = targets[0].graph
        self.inputs = []  # of a function's body
        self._seen: dict = {}
        self._readers: dict = {}
        self._passed, stack = set(), list(targets)
        while stack:
            tensor = stack.pop()
            if tensor._key in self._seen:
                continue
            self._seen[tensor._key] = tensor
            op = tensor._op
            if op.type == "Placeholder":
                self.inputs.append(tensor)
                self._passed.add(op._node)
            elif passes(op):
                self._passed.add(op._node)
                for x in op.inputs:
                    self._readers.setdefault(x._key, []).append(op)
                    stack.append(x)

    def captured(self):
        """[(tensor of a graph outside, what stands for it)] of a function's body."""
        if not self.inputs or not self.graph.building_function:
            return []
        outside = {id(inner): outer for outer, inner in outer_gradients.captures(self.graph)}
        found = [(outside.get(id(t)), t) for t in self.inputs]
        return [(outer, t) for outer, t in found if outer is not None and not outer._is_eager]

    def tracked(self, known):
        """The keys of those that are known, or computed from them."""
        found, stack = set(), [key for key in self._seen if key in known]
        while stack:
            key = stack.pop()
            if key not in found:
                found.add(key)
                stack.extend(y._key for op in self._readers.get(key, ()) for y in op.outputs)
        return found

    def ends(self, tracked):
        """Those at which gradients end: whose keys are not tracked, or whose operation lets none through."""
        return [tensor for key, tensor in self._seen.items() if key not in tracked or key[0] not in self._passed]


def _is_differentiable(op):
    """Whether an operation has a gradient, or lacks one that should be there."""
    if op.graph._core.has_attr(op._node, "_gradient_op_type"):
        return True
    if op.type in registry.gradient_registry.list():
        return registry.gradient_registry.lookup(op.type) is not None
    return op.type != "StopGradient"


def _tensor_of(source):
    if isinstance(source, Tensor):
        return source
    if isinstance(source, indexed_slices.IndexedSlices):
        return source.values
    return source.handle
