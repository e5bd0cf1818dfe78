"""What a trace takes and gives, as text."""
import inspect
import weakref

from penstock.eager import function_spec
from penstock.framework import type_spec
from penstock.framework.indexed_slices import IndexedSlices
from penstock.framework.tensor import Tensor
from penstock.framework.tensor_spec import TensorSpec
from penstock.util import nest


def kind_text(value, named=False):
    """The kind of a value that a function takes or gives: tensors as specs, Python's as literals.

    named: whether specs keep their names.
    """
    if isinstance(value, TensorSpec):
        return repr(value if named or value.name is None else TensorSpec(value.shape, value.dtype))
    if isinstance(value, Tensor):
        return repr(TensorSpec(value.shape, value.dtype))
    if function_spec.is_variable(value) or isinstance(value, IndexedSlices) or getattr(
            value, "_is_composite_tensor", False):
        return repr(type_spec.type_spec_from_value(value))
    if isinstance(value, type_spec.TypeSpec):
        return repr(value)
    fields = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return f"{type(value).__name__}[{_pairs(zip(fields, value), named)}]"
    if isinstance(value, (list, tuple)):
        return f"{'List' if isinstance(value, list) else 'Tuple'}[{', '.join(kind_text(x, named) for x in value)}]"
    if nest.is_sequence(value) and hasattr(value, "items"):
        return f"Dict[{_pairs(value.items(), named)}]"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"Literal[{value!r}]"
    try:
        return f"Weakref[{weakref.ref(value)!r}]"
    except TypeError:
        return f"Literal[{value!r}]"


def _pairs(items, named):
    return ", ".join(f"[{key!r}, {kind_text(value, named)}]" for key, value in items)


class Kind:
    """The kind of a parameter or result, as an annotation."""

    def __init__(self, value, named=False):
        self.value = value
        self._named = named

    def __repr__(self):
        return kind_text(self.value, self._named)


def _parameter_name(name):
    plain = "".join(c if c.isalnum() else "_" for c in name)
    return plain if plain[:1].isalpha() else "arg_" + plain


def signature(concrete):
    """The inspect.Signature of a ConcreteFunction, with kinds as annotations."""
    args, kwargs = concrete.structured_input_signature
    spec = concrete._function_spec
    asked = spec.input_signature if spec is not None else None
    names = list(spec.arg_names) if spec is not None else []
    named = asked is not None
    rest = spec.vararg_name if spec is not None and spec.vararg_name else "arg"
    only = set(spec.fullargspec.kwonlyargs) if spec is not None else set()
    kinds = inspect.Parameter
    by_place = kinds.POSITIONAL_ONLY if spec is not None and spec.vararg_name else kinds.POSITIONAL_OR_KEYWORD
    found = []
    for i, value in enumerate(args):
        name = names[i] if i < len(names) else f"{rest}_{i - len(names)}"
        found.append(kinds(name, by_place, annotation=Kind(asked[i] if named and i < len(asked) else value, named)))
    if spec is None and not args:  # of a graph of version 1
        return inspect.Signature([kinds(_parameter_name(name), kinds.POSITIONAL_OR_KEYWORD,
                                        annotation=Kind(kwargs[name], True)) for name in sorted(kwargs)],
                                 return_annotation=Kind(concrete.structured_outputs))
    order = [k for k in (spec.fullargspec.kwonlyargs if only else ()) if k in kwargs]
    for name in order + sorted(k for k in kwargs if k not in only):
        found.append(kinds(name, kinds.KEYWORD_ONLY, annotation=Kind(kwargs[name], named)))
    return inspect.Signature(found, return_annotation=Kind(concrete.structured_outputs))


def one_line(concrete):
    """As a Python signature."""
    return str(signature(concrete))


def several_lines(concrete):
    """A line for each parameter, result and captured value."""
    lines = ["Input Parameters:"]
    found = signature(concrete)
    lines += [f"  {p.name} ({p.kind.name}): {p.annotation!r}" for p in found.parameters.values()] or ["  None"]
    lines += ["Output Type:", f"  {found.return_annotation!r}", "Captures:"]
    captures = [(outer, TensorSpec(inner.shape, inner.dtype)) for outer, inner in concrete.graph.captures]
    lines += [f"  {id(outer)}: {spec}" for outer, spec in captures] or ["  None"]
    return "\n".join(lines)
