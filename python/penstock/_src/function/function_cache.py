"""The traces of a tf.function, and which of them serves which arguments in version 2."""
from penstock._src.function import trace_type
from penstock._src.graph import type_spec
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import nest


class FunctionCache:
    """The traces of a Function."""

    def __init__(self):
        self.missed = set()
        self.primary = {}
        self.arg_relaxed_shapes = {}
        self.arg_relaxed = {}
        self.of_kind = {}  # key without shapes -> [(specs of the arguments, trace)], in the order of their making

    def all_values(self):
        """All traces."""
        return list(dict.fromkeys([*self.primary.values(), *self.arg_relaxed.values()]))


def specs_of(arguments):
    """The specs of the tensors and of the values made of some among arguments, None for others."""
    return [_spec_of(x) for x in nest.flatten(arguments)]


def _spec_of(x):
    if isinstance(x, Tensor):
        return TensorSpec(x.shape, x.dtype)
    if isinstance(x, type_spec.TypeSpec):
        return x
    return type_spec.type_spec_from_value(x) if getattr(x, "_is_composite_tensor", False) else trace_type.of(x)


def _covers(known, specs):
    """Whether a trace for specs serves others of the same kind."""
    return all(a is None or b.is_subtype_of(a) for a, b in zip(known, specs))


def most_specific(traces, specs):
    """The trace that serves arguments with as little left open as possible, or None."""
    best = None
    for known, trace in traces:
        if _covers(known, specs) and (best is None or _covers(best[0], known)):
            best = known, trace
    return None if best is None else best[1]


def generalized(traces, specs):
    """The specs of a trace that serves what the others serve, too, as far as there can be one."""
    for known, _ in traces:
        both = [a if a is None else a.most_specific_common_supertype([b]) for a, b in zip(specs, known)]
        if all(a is None or b is not None for a, b in zip(specs, both)):
            specs = both
    return specs


def with_specs(arguments, specs, wanted):
    """The arguments with a wanted spec in the place of each whose own is another."""
    flat = [x if a is None or a == b else b for x, a, b in zip(nest.flatten(arguments), specs, wanted)]
    return nest.pack_sequence_as(arguments, flat)
