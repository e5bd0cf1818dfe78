"""Op functions made from op definitions: real Python functions with signature and docstring, compiled when first used.

A made function has a fast way for arguments that are tensors already; everything else, errors included, goes through
`apply_op` (op_call.py), which works from the definition. Arguments that it refuses may be ragged tensors or
linear operators (graph/dispatch.py).
"""
import functools
import keyword
from typing import Any

from penstock import _core
from penstock._src.graph import defaults
from penstock._src.graph import dispatch
from penstock._src.base import tf2
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.graph.tensor import Tensor
from penstock._src.base import traceback_utils
from penstock._src.graph.definitions import op_call
from penstock._src.graph.definitions import op_signature


def _fast_path(info):
    """Lines that find the inputs if all are tensors of one graph, the default one, and of types that fit, or variables
    that hold such tensors; None if the op's inputs need more care (lists of several types or of references)."""
    if not info.inputs:
        return ["    _g = _default()", "    _in = ()"]
    singles = [a for a in info.inputs if not a.number_attr]
    lists = [a for a in info.inputs if a.number_attr]
    if len(lists) > 1 or not singles and len(info.inputs) != 1 \
            or any(a.type_list_attr for a in info.inputs) or any(a.is_ref for a in lists):
        return None
    tensors = {a.name: f"_in_{a.name}" for a in singles}
    lines = []
    for a in singles:
        p = info.parameters[a.name]
        lines.append(f"    {tensors[a.name]} = {p} if _type({p}) is _Tensor else _held({p}, {a.is_ref})")
    tests = [f"_type({tensor}) is _Tensor" for tensor in tensors.values()]
    known: dict = {}
    places = []
    body = []
    if lists:
        p = info.parameters[lists[0].name]
        tests.append(f"_type({p}) is list and {p} and _type({p}[0]) is _Tensor")
    tests.append("(_g := _default())._building_function is False")
    for a in info.inputs:
        p = tensors.get(a.name, info.parameters[a.name])
        one = f"{p}[0]" if a.number_attr else p
        if a.is_ref:
            body.append(f"{one}._dtype._is_ref_dtype")
        if a.type:
            body.append(f"{one}._dtype._base == {a.type}")
        elif a.type_attr in known:
            body.append(f"{one}._dtype._base == {known[a.type_attr]}")
        else:
            known[a.type_attr] = f"_t_{a.type_attr}"
            allowed = info.attrs[a.type_attr].allowed
            test = f"(_t_{a.type_attr} := {one}._dtype._base)"
            body.append(f"{test} in _allowed_{a.type_attr}" if allowed is not None else f"{test}")
        body.append(f"{one}._op._graph is _g")
        if a.number_attr:
            body.append(f"_uniform({p}, _g)")
            minimum = info.attrs[a.number_attr].minimum or 0
            if minimum > 1:
                body.append(f"len({p}) >= {minimum}")
            places.append(f"*{p}")
        else:
            places.append(p)
    lines.append("    if " + " and ".join(tests + body) + ":")
    lines.append(f"        _in = ({', '.join(places)},)")
    if not lists and not any(a.is_ref for a in info.inputs):
        lines.append("    elif " + " and ".join(_eager_tests(info)) + ":")
        lines.append(f"        _in = ({', '.join(info.parameters[a.name] for a in info.inputs)},)")
    lines.append("    else:")
    arguments = ", ".join(f"{n!r}: {p}" for n, p in info.parameters.items())
    lines.append(f"        return _slow({info.name!r}, name, {{{arguments}}})")
    return lines


def _eager_tests(info):
    """Whether all inputs are eager values of types that fit."""
    tests = [f"_type({info.parameters[a.name]}) is _Eager" for a in info.inputs]
    tests.append("(_g := _default())._eager")
    known: dict = {}
    for a in info.inputs:
        number = f"{info.parameters[a.name]}._type_enum"
        if a.type:
            tests.append(f"{number} == {a.type}")
        elif a.type_attr in known:
            tests.append(f"{number} == {known[a.type_attr]}")
        else:
            known[a.type_attr] = f"_t_{a.type_attr}"
            test = f"(_t_{a.type_attr} := {number})"
            tests.append(f"{test} in _allowed_{a.type_attr}" if info.attrs[a.type_attr].allowed is not None else test)
    return tests


def _uniform(tensors, graph):
    """Whether all are tensors of one type and of `graph`."""
    base = tensors[0]._dtype._base
    for t in tensors:
        if type(t) is not Tensor or t._dtype._base != base or t._op._graph is not graph:
            return False
    return True


_variables: dict[type, tuple] = {}  # type of a variable: its functions of the tensors of its value and of its reference


def variables_hold_tensors(of_type, value, reference):
    """Says that variables of this very type have tensors that `value` and `reference` give without new operations."""
    _variables[of_type] = value, reference


def _held(value, as_ref):
    """The tensor that an input stands for if it is a variable that holds one; else the input itself."""
    known = _variables.get(type(value))
    return value if known is None or dispatch.by_type is not None else known[as_ref](value)


def _slow(op_name, name, keywords):
    try:
        made = function(op_name)
        result = dispatch.handle("graph.gen:" + made.__qualname__, made, keywords.values(), name=name)
        if result is not NotImplemented:
            return result
        info, op = op_call.apply_op_helper(op_name, name, **keywords)
        return info.structure(op)
    except Exception as e:
        if tf2.enabled():
            raise traceback_utils.filtered(e)
        raise


def _source(info, namespace):
    """The function's Python source; fills the names that it uses into `namespace`."""
    parameters = []
    for name, python in info.parameters.items():
        attr = info.attrs.get(name) if name not in (a.name for a in info.inputs) else None
        if attr is not None and attr.has_default:
            namespace[f"_default_{python}"] = op_signature.python_default(attr)
            parameters.append(f"{python}=_default_{python}")
        else:
            parameters.append(python)
    front = _front(info, parameters, namespace)
    head = "_general" if front else _identifier(info.function)
    lines = [f"def {head}({', '.join(parameters + ['name=None'])}):"]
    fast = None if info.definition.deprecation else _fast_path(info)
    if fast is None:
        arguments = ", ".join(f"{n!r}: {p}" for n, p in info.parameters.items())
        return "\n".join(lines + [f"    return _slow({info.name!r}, name, {{{arguments}}})"])
    lines += fast + ["    _attrs = {}"]
    for name, python in info.parameters.items():
        if name not in info.attrs or name in (a.name for a in info.inputs):
            continue
        namespace[f"_attr_{name}"] = info.attrs[name]
        test = f"    if {python} is not None and {python} is not _default_{python}: " if info.attrs[name].has_default \
            else "    "
        lines.append(f"{test}_attrs[{name!r}] = _attr_{name}({python})")
    for name, attr in info.attrs.items():
        namespace[f"_allowed_{name}"] = frozenset(attr.allowed or ())
    references = [f"_in_{a.name}" for a in info.inputs if a.is_ref]
    indent = "    "
    if references:
        lines.append(f"    with _colocated(_g, ({', '.join(references)},)):")
        indent *= 2
    lines.append(f"{indent}_op = _g._new_op({info.name!r}, _in, name or {info.name!r}, _attrs)")
    if not info.outputs:
        lines.append("    return None if _g._eager else _op")
    elif any(op_signature.is_list(o) for o in info.outputs):
        lines.append("    return _structure(_op)")
    elif info.result is None:
        lines.append("    return _op._outputs[0]")
    else:
        lines.append("    return _result(_op._outputs)")
    return "\n".join(lines + front)


class _Variants:
    """Cache of an op's eager fast paths for attributes other than its defaults, made on first use."""

    def __init__(self, info, names):
        self._info, self._names = info, names
        self._known = {}

    def __call__(self, values, *inputs):
        try:
            found = self._known.get(values)
        except TypeError:
            return NotImplemented
        if found is None:
            attrs = {}
            try:
                for name, value in zip(self._names, values):
                    attr = self._info.attrs[name]
                    if value is not None or not attr.has_default:
                        attrs[name] = attr(value)
            except (TypeError, ValueError):
                return NotImplemented
            if len(self._known) > 200:
                self._known.clear()
            found = self._known[values] = _core.fast_op(self._info.name, None, attrs)
        return found(*inputs)


def _front(info, parameters, namespace):
    """Lines of a function that gives eager values to the runtime at once, and all else to `_general`; none if the op's
    calls need more care."""
    inputs = {a.name for a in info.inputs}
    others = [n for n in info.parameters if n not in inputs]
    if info.definition.deprecation or not 1 <= len(inputs) <= 7 \
            or any(o.is_ref or o.type_list_attr or o.number_attr and info.result for o in info.outputs) \
            or any(a.is_ref or a.type_list_attr for a in info.inputs) \
            or sum(bool(a.number_attr) for a in info.inputs) > 1:
        return []
    first = ", ".join(info.parameters[a.name] for a in info.inputs)
    namespace.update(_fast_op=_core.fast_op, _eagerly=_core.executes_eagerly)
    lines = [f"def {_identifier(info.function)}({', '.join(parameters + ['name=None'])}):", "    if _eagerly():"]
    if others:
        namespace["_variants"] = _Variants(info, others)
        values = ", ".join(info.parameters[n] for n in others)
        call = f"_variants(({values},), {first})"
        if all(info.attrs[n].has_default for n in others):
            tests = " and ".join(f"{info.parameters[n]} is _default_{info.parameters[n]}" for n in others)
            call = f"_fast({first}) if {tests} else {call}"
    else:
        call = f"_fast({first})"
    passed = ", ".join([first, *(f"{info.parameters[n]}={info.parameters[n]}" for n in others), "name=name"])
    make = [f"_fast = _fast_op({info.name!r}, None)"] if all(info.attrs[n].has_default for n in others) else []
    result = "_result(_r)" if info.result else "_r"
    lines += [f"        _r = {call}", "        if _r is not _NotImplemented:", f"            return {result}"]
    return make + lines + [f"    return _general({passed})"]


def _identifier(name):
    return name + "_" if keyword.iskeyword(name) else name.lstrip("_") if name.startswith("__") else name


def _docstring(info):
    text = [info.definition.doc.strip() or f"Op {info.name}.", "", "Args:"]

    def kind(arg):
        base = op_call.type_name(arg.type) if arg.type else arg.type_attr or arg.type_list_attr
        what = f"tensors of types {base}" if arg.type_list_attr else f"type {base}"
        if arg.number_attr:
            what = f"{arg.number_attr} tensors of {what}"
        return what + (", mutable" if arg.is_ref else "")

    for arg in info.inputs:
        text.append(f"  {info.parameters[arg.name]}: {kind(arg)}.")
    for name, python in info.parameters.items():
        if name in info.attrs and name not in (a.name for a in info.inputs):
            attr = info.attrs[name]
            shown = f"list({attr.kind})" if attr.is_list else attr.kind
            default = f", by default {op_signature.python_default(attr)!r}" if attr.has_default else ""
            text.append(f"  {python}: {shown}{default}.")
    text.append("  name: of the operation; by default that of the op.")
    if info.outputs:
        text += ["", "Returns:"] + [f"  {o.name}: {kind(o)}." for o in info.outputs]
    else:
        text += ["", "Returns:", "  The operation."]
    return "\n".join(text)


_functions: dict[str, Any] = {}


def function(op_name):
    """The function of an op. RuntimeError if there is no such op."""
    found = _functions.get(op_name)
    if found is None:
        from penstock._src.graph import constant_op  # noqa: F401  (what is no tensor yet is converted by it)
        info = op_signature.op_info(op_name)
        namespace = {"_Tensor": Tensor, "_Eager": EagerTensor, "_default": defaults.get_default_graph,
                     "_slow": _slow, "_uniform": _uniform, "_held": _held, "_colocated": op_call.colocated,
                     "_structure": info.structure, "_result": info.result._make if info.result else None,
                     "_type": type, "_NotImplemented": NotImplemented,  # an attribute may be called `type`
                     "__name__": __name__.rpartition(".definitions")[0] + ".gen"}
        source = _source(info, namespace)
        exec(compile(source, f"<op {op_name}>", "exec"), namespace)
        found = namespace[_identifier(info.function)]
        found.__doc__ = _docstring(info)
        found.__qualname__ = info.function
        _functions[op_name] = found
    return found


@functools.cache
def raw_function(op_name):
    """The function of an op that only takes keyword arguments, under the op's own name. RuntimeError if there is no op
    of that name."""
    made = function(op_name)

    @functools.wraps(made)
    def raw_op(*args, **kwargs):
        if args:
            import inspect
            raise TypeError(f"{op_name} only takes keyword args (possible keys: "
                            f"{list(inspect.signature(made).parameters)}). Please pass these args as kwargs instead.")
        return made(**kwargs)
    raw_op.__name__ = raw_op.__qualname__ = op_name
    return raw_op
