"""What a trace takes and gives, as text."""
import inspect

from penstock._src.function import function_type
from penstock._src.graph.tensor_spec import TensorSpec


def kind_text(value, named=False):
    """The kind of a value that a function takes or gives: tensors as specs, Python's as literals.

    named: whether specs keep their names.
    """
    return repr(function_type.kind_of(value, named))


class Kind:
    """The kind of a parameter or result, as an annotation."""

    def __init__(self, value, named=False):
        self.value = value
        self.named = named

    def __repr__(self):
        return kind_text(self.value, self.named)


def _parameter_name(name):
    plain = "".join(c if c.isalnum() else "_" for c in name)
    return plain if plain[:1].isalpha() else "arg_" + plain


def signature(concrete):
    """The inspect.Signature of a ConcreteFunction, with kinds as annotations."""
    args, kwargs = concrete.structured_input_signature
    spec = concrete._function_spec
    loaded = concrete._is_loaded  # with names for all specs
    asked = spec.input_signature if spec is not None and not loaded else None
    names = list(spec.arg_names) if spec is not None else []
    named = loaded or asked is not None
    rest = spec.vararg_name if spec is not None and spec.vararg_name else "arg"
    only = set(spec.fullargspec.kwonlyargs) if spec is not None else set()
    kinds = inspect.Parameter
    by_place = kinds.POSITIONAL_ONLY if spec is not None and spec.vararg_name else kinds.POSITIONAL_OR_KEYWORD
    found = []
    for i, value in enumerate(args):
        name = names[i] if i < len(names) else f"{rest}_{i - len(names)}"
        kind = Kind(asked[i] if asked is not None and i < len(asked) else value, named)
        found.append(kinds(name, by_place, annotation=kind))
    if spec is None and not args and not loaded:  # of a graph of version 1
        return inspect.Signature([kinds(_parameter_name(name), kinds.POSITIONAL_OR_KEYWORD,
                                        annotation=Kind(kwargs[name], True)) for name in sorted(kwargs)],
                                 return_annotation=Kind(concrete.structured_outputs))
    order = [k for k in (spec.fullargspec.kwonlyargs if only else ()) if k in kwargs]
    for name in order + sorted(k for k in kwargs if k not in only):
        found.append(kinds(name, kinds.KEYWORD_ONLY, annotation=Kind(kwargs[name], named)))
    return inspect.Signature(found, return_annotation=Kind(concrete.structured_outputs, loaded))


def one_line(concrete):
    """As a Python signature."""
    return str(signature(concrete))


def captures(concrete):
    """(id of what is captured, its spec) in order."""
    return [(id(outer), TensorSpec(inner.shape, inner.dtype)) for outer, inner in concrete.graph.captures]


def several_lines(concrete):
    """A line for each parameter, result and captured value."""
    return function_type.several_lines(signature(concrete), captures(concrete))


def type_of(concrete):
    """The FunctionType."""
    found = signature(concrete)
    kinds = {p.name: function_type.kind_of(p.annotation.value, p.annotation.named) for p in found.parameters.values()}
    result = found.return_annotation
    return function_type.FunctionType(
        [function_type.Parameter(p.name, p.kind, type_constraint=kinds[p.name]) for p in found.parameters.values()],
        captures(concrete), function_type.kind_of(result.value, result.named))
