"""Op functions made from op definitions: real Python functions with signature and docstring, compiled when first used.

A made function has a fast way for arguments that are tensors already; everything else, errors included, goes through
`apply_op`, which works from the definition. Arguments that it refuses may be ragged tensors or linear operators
(graph/dispatch.py).
"""
import collections
import contextlib
import keyword
import re
from typing import Any

import numpy as np

from penstock import _core
from penstock._src.graph import attr_values
from penstock._src.graph import conversion
from penstock._src.graph import default_types
from penstock._src.graph import defaults
from penstock._src.graph import dispatch
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import graph as graph_module
from penstock._src.base import tf2
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat
from penstock._src.base import traceback_utils

# Where Python calls an argument differently from the definition.
_RENAMED = {
    "All": {"reduction_indices": "axis"}, "Any": {"reduction_indices": "axis"},
    "EuclideanNorm": {"reduction_indices": "axis"},
    "ExpandDims": {"dim": "axis"}, "Max": {"reduction_indices": "axis"}, "Mean": {"reduction_indices": "axis"},
    "Min": {"reduction_indices": "axis"}, "Prod": {"reduction_indices": "axis"}, "Sum": {"reduction_indices": "axis"},
    "Select": {"t": "x", "e": "y"}, "Split": {"split_dim": "axis"}, "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"}, "Where": {"input": "condition"},
}


def snake_case(op_name):
    """The name of the function of an op: Conv2DBackpropInput -> conv2d_backprop_input."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", op_name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    return re.sub(r"(\d)([A-Z][a-z])", r"\1_\2", name).lower()


def _python_default(attr):
    """A default as people would write it."""
    def one(value):
        if attr.kind == "type":
            return dtypes.as_dtype(value)
        if attr.kind == "string":
            return compat.as_text(value) if _is_text(value) else value
        if attr.kind == "float":
            value = float(str(np.float32(value)))
            return int(value) if value.is_integer() else value  # 1, as in the signatures of TensorFlow
        if attr.kind == "shape":
            return None if value is None else list(value)
        return value
    if attr.is_list:
        return [one(v) for v in attr.default or ()]
    return one(attr.default)


def _is_text(value):
    try:
        compat.as_text(value)
    except UnicodeDecodeError:
        return False
    return True


class _OpInfo:
    """What is needed again and again of an OpDef."""

    def __init__(self, definition):
        self.definition = definition
        self.name = definition.name
        self.function = snake_case(definition.name)
        self.inputs = definition.inputs
        self.outputs = definition.outputs
        self.attrs = {a.name: attr_values.Attr(a, self.name, self.function) for a in definition.attrs}
        self.inferred: set[str] = set()
        for arg in self.inputs:
            self.inferred.update(x for x in (arg.type_attr, arg.number_attr, arg.type_list_attr) if x)
        renamed = _RENAMED.get(self.name, {})
        self.parameters = {}  # name in the definition -> name in Python
        explicit = [n for n in self.attrs if n not in self.inferred]
        for name in [a.name for a in self.inputs] + [n for n in explicit if not self.attrs[n].has_default] \
                + [n for n in explicit if self.attrs[n].has_default]:
            python = renamed.get(name, name)
            self.parameters[name] = python + "_" if keyword.iskeyword(python) or python == "name" else python
        self.result: Any = None
        if len(self.outputs) > 1:
            self.result = collections.namedtuple(  # type: ignore[misc]
                self.name.lstrip("_"), [
                o.name + "_" if keyword.iskeyword(o.name) or o.name.startswith("_") else o.name for o in self.outputs])

    def structure(self, op):
        """Of an operation: its outputs as the function returns them."""
        outputs = op._outputs
        if not self.outputs:
            return None if op._graph._eager else op
        if not any(_is_list(o) for o in self.outputs):
            return outputs[0] if self.result is None else self.result._make(outputs)
        parts, first = [], 0
        for arg in self.outputs:
            if not _is_list(arg):
                parts.append(outputs[first])
                first += 1
                continue
            if arg.number_attr:
                count = op.get_attr(arg.number_attr)
            else:
                count = len(op.get_attr(arg.type_list_attr))
            parts.append(outputs[first:first + count])
            first += count
        if self.result is not None:
            return self.result._make(parts)
        return op if not parts[0] and self.definition.is_stateful and not op._graph._eager else parts[0]


def _is_list(arg):
    return bool(arg.number_attr or arg.type_list_attr)


_infos: dict[str, Any] = {}


def op_info(op_name):
    """The _OpInfo of an op. RuntimeError if there is no such op."""
    info = _infos.get(op_name)
    if info is None:
        definition = graph_module.core_op_def(op_name)
        if definition is None:
            raise RuntimeError(f"Unrecognized Op name {op_name}")
        info = _infos[op_name] = _OpInfo(definition)
    return info


def takes_reference(op, index):
    """Whether input `index` of an operation is declared as a reference."""
    definition = graph_module.core_op_def(op.type)
    if definition is None:
        return False
    first = 0
    for arg in definition.inputs:
        if arg.number_attr:
            count = op.get_attr(arg.number_attr)
        elif arg.type_list_attr:
            count = len(op.get_attr(arg.type_list_attr))
        else:
            count = 1
        first += count
        if index < first:
            return arg.is_ref
    return False


def apply_op(op_type_name, name=None, **keywords):
    """Adds an operation: inputs and attributes by the names in the op's definition.

    Inputs are converted to tensors of the type that the definition and the other inputs ask for; attributes that follow
    from inputs must not be given. Returns the operation's outputs (a tensor, a list, a namedtuple) or the operation if
    it has none. TypeError, ValueError: the arguments do not fit; the message names the op and the argument.
    """
    info, op = _apply_op_helper(op_type_name, name, **keywords)
    return info.structure(op)


def _flatten(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def _apply_op_helper(op_type_name, name=None, **keywords):
    info = op_info(op_type_name)
    graph = defaults.get_default_graph()
    if graph._eager:
        return info, _run(graph, info, name, keywords)
    graph = conversion.get_graph_from_inputs(_flatten(keywords.values()))
    deprecation = info.definition.deprecation
    if deprecation and graph._core.versions()[0] >= deprecation[0]:
        raise NotImplementedError(
            f"Op {op_type_name} is not available in GraphDef version {graph._core.versions()[0]}. It has been removed "
            f"in version {deprecation[0]}. {deprecation[1]}.")
    with graph.as_default(), graph.name_scope(name or op_type_name) as scope:
        call = _Call(info, keywords)
        for arg in info.inputs:
            call.add_input(arg)
        attrs = call.core_attrs()
        with _colocated(graph, call.references):
            return info, graph._new_op(op_type_name, call.inputs, scope, attrs)


def _run(graph, info, name, keywords):
    """_apply_op_helper for ops that run as they are called."""
    for arg in (*info.inputs, *info.outputs):
        if arg.is_ref:
            raise RuntimeError(f"{info.function} op does not support eager execution. Arg '{arg.name}' is a ref.")
    call = _Call(info, keywords)
    call.follow_tensors()
    for arg in info.inputs:
        call.add_input(arg)
    call.check_types()
    return graph._new_op(info.name, call.inputs, name or info.name, call.core_attrs())


class _Colocation:
    def __init__(self, graph, tensors):
        self._scopes = [graph.colocate_with(t) for t in tensors]

    def __enter__(self):
        for scope in self._scopes:
            scope.__enter__()

    def __exit__(self, *exc):
        for scope in reversed(self._scopes):
            scope.__exit__(None, None, None)
        return False


def _colocated(graph, tensors):
    return _Colocation(graph, tensors)


class _Call:
    """The arguments of one call while they are converted. Types are enum numbers without the reference."""

    def __init__(self, info, keywords):
        self.info = info
        self.keywords = keywords
        self.inputs = []
        self.references = []
        self.types = {}      # type attribute -> number
        self.lists = {}      # list(type) attribute -> numbers
        self.counts = {}     # number attribute -> int
        self.origin = {}     # attribute -> the input that it follows from
        self.defaults = {a.name: a.default for a in info.attrs.values() if a.kind == "type" and not a.is_list
                         and a.has_default}
        self.own_type_counts = bool(self.defaults) and default_types.own_type_counts(info, keywords)

    def key_of(self, name):
        """The name under which an argument came. KeyError if it was not given."""
        for key in (name, name + "_", self.info.parameters.get(name)):
            if key in self.keywords:
                return key
        raise KeyError(name)

    def take(self, name):
        """The value of an argument, and the name under which it came. KeyError if it was not given."""
        key = self.key_of(name)
        return self.keywords.pop(key), key

    def follow_tensors(self):
        """What shares a type attribute with a tensor takes its type, as ops that run at once have it, though the tensor
        comes later: maximum(numpy.float64(0), x)."""
        for arg in self.info.inputs:
            if not arg.type_attr or arg.type_attr in self.types:
                continue
            with contextlib.suppress(KeyError):
                value = self.keywords[self.key_of(arg.name)]
                for item in value if isinstance(value, (list, tuple)) else (value,):
                    if _is_tensor_or_variable(item):  # variables of libraries may have their type as a string
                        self.types[arg.type_attr] = dtypes.as_dtype(item.dtype)._base
                        break

    def check_types(self):
        """InvalidArgumentError: an op that runs at once does not have the type of its tensors."""
        for attr, base in self.types.items():
            allowed = self.info.attrs[attr].allowed
            if allowed is not None and base not in allowed:
                self.refuse_type(attr, base, allowed)

    def add_input(self, arg):
        try:
            value, given = self.take(arg.name)
        except KeyError:
            raise TypeError(f"No argument for input {arg.name}") from None
        if _is_list(arg):
            values = self.convert_list(arg, value, given)
        else:
            values = [self.convert(arg, value, given)]
        bases = [v._dtype._base for v in values]
        if arg.number_attr:
            self.infer_count(arg, given, bases)
        elif arg.type_attr:
            self.infer_type(arg.type_attr, bases[0], given)
        elif arg.type_list_attr:
            self.infer_list(arg.type_list_attr, bases, given)
        if arg.is_ref:
            if not all(v._dtype._is_ref_dtype for v in values):
                raise TypeError(f"'{self.info.name}' Op requires that input '{given}' be a mutable tensor "
                                "(e.g.: a tf.Variable)")
            self.references.extend(values)
        self.inputs.extend(values)

    def convert(self, arg, value, given):
        """One tensor of the type that is known, if one is."""
        preferred = None
        known = arg.type or self.types.get(arg.type_attr)
        if not known:
            preferred = self.defaults.get(arg.type_attr)
            if self.own_type_counts and (result := self.convert_to_allowed(arg, value)) is not None:
                return result
            if preferred and not self.own_type_counts and defaults.get_default_graph()._eager:
                known = preferred
        try:
            return conversion.internal_convert_to_tensor(
                value, name=arg.name, dtype=known or None, as_ref=arg.is_ref, preferred_dtype=preferred)
        except TypeError as e:
            if not known or defaults.get_default_graph()._eager:
                raise
            raise TypeError(f"Expected {_name(known)} passed to parameter '{arg.name}' of op '{self.info.name}', got "
                            f"{value!r} of type '{type(value).__name__}' instead. Error: {e}") from None
        except ValueError:
            if not defaults.get_default_graph()._eager or _is_tensor_or_variable(value):
                self.explain(arg, value, given)
            raise

    def convert_to_allowed(self, arg, value):
        """The tensor of the value's own type, or None if the definition does not list that type."""
        allowed = self.info.attrs[arg.type_attr].allowed if arg.type_attr in self.defaults else None
        if not allowed:
            return None
        try:
            result = conversion.internal_convert_to_tensor(value, name=arg.name, as_ref=arg.is_ref)
        except TypeError:
            return None
        return result if result._dtype._base in allowed else None

    def refuse_type(self, attr, observed, allowed):
        """What an op that runs at once says of a type that it does not have."""
        raise errors.InvalidArgumentError(
            None, None, f"Value for attr '{attr}' of {dtypes.text_of(observed)} is not in the list of allowed values: "
            f"{', '.join(map(dtypes.text_of, allowed))}\n\t; NodeDef: {{{{node {self.info.name}}}}} "
            f"[Op:{self.info.name}]")

    def refuse_eagerly(self, wanted, observed):
        """What an op that runs at once says of a tensor of another type than the one it needs."""
        if wanted is not None and wanted != observed:
            raise errors.InvalidArgumentError(
                None, None, f"cannot compute {self.info.name} as input #{len(self.inputs)}(zero-based) was expected "
                f"to be a {dtypes.text_of(wanted)} tensor "
                f"but is a {dtypes.text_of(observed)} tensor [Op:{self.info.name}]") from None

    def explain(self, arg, value, given):
        """Raises what is wrong with a value that is of another type than the known one."""
        try:
            observed = conversion.internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
        except ValueError as e:
            if defaults.get_default_graph()._eager:
                raise
            raise ValueError(f"Tried to convert '{given}' to a tensor and failed. Error: {e}") from None
        if defaults.get_default_graph()._eager:
            wanted = arg.type or self.types.get(arg.type_attr)
            self.refuse_eagerly(wanted, dtypes.as_dtype(observed)._base)
        prefix = f"Input '{given}' of '{self.info.name}' Op has type {observed} that does not match"
        if arg.type:
            raise TypeError(f"{prefix} expected type of {_name(arg.type)}.") from None
        known = self.types.get(arg.type_attr, self.defaults.get(arg.type_attr))
        if known is not None:
            raise TypeError(f"{prefix} type {_name(known)} of argument "
                            f"'{self.origin.get(arg.type_attr, 'Default in OpDef')}'.") from None

    def convert_list(self, arg, values, given):
        """A list of tensors; of one type if the definition wants it."""
        if not isinstance(values, (list, tuple)):
            if not _is_eager_sequence(values):
                raise TypeError(f"Expected list for '{given}' argument to '{self.info.function}' Op, not {values!r}.")
            values = list(values)
        known = preferred = None
        if arg.type:
            known = arg.type
        elif arg.number_attr:
            known = self.types.get(arg.type_attr)
            if known is None:
                known = next((t.dtype._base for t in values if isinstance(t, Tensor)), None)
            if known is None:
                preferred = self.defaults.get(arg.type_attr)
        if arg.is_ref and known is not None and known < 100:
            known = known + 100 if any(isinstance(t, Tensor) and t.dtype._is_ref_dtype for t in values) else known
        try:
            result = conversion.internal_convert_n_to_tensor(values, name=arg.name, dtype=known,
                                                             preferred_dtype=preferred,
                                                             as_ref=arg.is_ref)
            if arg.number_attr and len({v._dtype._base for v in result}) > 1:
                raise TypeError
            return result
        except (TypeError, ValueError):
            self.explain_list(arg, values, given, known)

    def explain_list(self, arg, values, given, known):
        if defaults.get_default_graph()._eager:
            self.refuse_list_eagerly(arg, values, known)
        observed = []
        for value in values:
            try:
                observed.append(conversion.internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.base_dtype.name)
            except (TypeError, ValueError):
                observed.append("<NOT CONVERTIBLE TO TENSOR>")
        prefix = (f"Tensors in list passed to '{given}' of '{self.info.name}' Op have types "
                  f"[{', '.join(observed)}]")
        if not arg.number_attr:
            raise TypeError(f"{prefix} that are invalid. Tensors: {values}") from None
        if arg.type:
            raise TypeError(f"{prefix} that do not match expected type {_name(known)}.") from None
        if arg.type_attr in self.types:
            raise TypeError(
                f"{prefix} that do not match type {_name(known)} inferred from earlier arguments.") from None
        raise TypeError(f"{prefix} that don't all match.") from None

    def refuse_list_eagerly(self, arg, values, known):
        """What an op that runs at once says of a list with a value of another type than the first tensor's."""
        first = len(self.inputs)
        for i, value in enumerate(values if arg.number_attr and known is not None else ()):
            if not _is_tensor_or_variable(value):
                conversion.internal_convert_to_tensor(value, dtype=known)
            elif (base := dtypes.as_dtype(value.dtype)._base) != known:
                raise errors.InvalidArgumentError(
                    None, None, f"cannot compute {self.info.name} as input #{first + i}(zero-based) was expected to be "
                    f"a {dtypes.text_of(known)} tensor but is a {dtypes.text_of(base)} tensor "
                    f"[Op:{self.info.name}]") from None

    def infer_count(self, arg, given, bases):
        number = arg.number_attr
        if number in self.counts:
            if len(bases) != self.counts[number]:
                raise ValueError(f"List argument '{given}' to '{self.info.name}' Op with length {len(bases)} must "
                                 f"match length {self.counts[number]} of argument '{self.origin[number]}'.")
        else:
            self.counts[number] = len(bases)
            self.origin[number] = given
            minimum = self.info.attrs[number].minimum
            if minimum is not None and len(bases) < minimum:
                raise ValueError(f"List argument '{given}' to '{self.info.name}' Op with length {len(bases)} shorter "
                                 f"than minimum length {minimum}.")
        if arg.type_attr:
            if bases:
                self.infer_type(arg.type_attr, bases[0], given)
            elif arg.type_attr in self.defaults:
                self.infer_type(arg.type_attr, self.defaults[arg.type_attr], given)
            elif arg.type_attr not in self.types:
                raise TypeError("Don't know how to infer type variable from empty input list passed to input "
                                f"'{given}' of '{self.info.name}' Op.")

    def infer_type(self, attr, base, given):
        known = self.types.get(attr)
        if known is None:
            allowed = self.info.attrs[attr].allowed
            if allowed is not None and base not in allowed and defaults.get_default_graph()._eager:
                self.refuse_type(attr, base, allowed)
            attr_values.check_allowed_type(base, allowed, given)
            self.types[attr] = base
            self.origin[attr] = given
        elif known != base:
            if defaults.get_default_graph()._eager:
                self.refuse_eagerly(known, base)
            raise TypeError(f"Input '{given}' of '{self.info.name}' Op has type {_name(base)} that does not match type "
                            f"{_name(known)} of argument '{self.origin[attr]}'.")

    def infer_list(self, attr, bases, given):
        known = self.lists.get(attr)
        if known is None:
            for base in bases:
                attr_values.check_allowed_type(base, self.info.attrs[attr].allowed, given)
            minimum = self.info.attrs[attr].minimum
            if minimum is not None and len(bases) < minimum:
                raise ValueError(f"Attr '{attr}' of '{self.info.name}' Op passed list of length {len(bases)} less than "
                                 f"minimum {minimum}.")
            self.lists[attr] = bases
            self.origin[attr] = given
        elif known != bases:
            raise TypeError(f"Input '{given}' of '{self.info.name}' Op has type list of {', '.join(map(_name, bases))} "
                            f"that does not match type list {', '.join(map(_name, known))} of argument "
                            f"'{self.origin[attr]}'.")

    def core_attrs(self):
        """All attributes in the runtime's form, those that hold their default left out."""
        attrs = {**self.types, **self.lists, **self.counts}
        for name, attr in self.info.attrs.items():
            if name in attrs:
                if name in self.keywords:
                    raise TypeError(f"Should not specify value for inferred attr '{name}'.")
                continue
            try:
                value, _ = self.take(name)
            except KeyError:
                if attr.has_default:
                    continue
                raise TypeError(f"No argument for attr {name}") from None
            if value is None and attr.has_default:
                continue
            attrs[name] = attr(value)
        if self.keywords:
            raise TypeError("apply_op() got unexpected keyword arguments: " + ", ".join(sorted(self.keywords)))
        return attrs


def _is_tensor_or_variable(value):
    return isinstance(value, Tensor) or hasattr(value, "_should_act_as_resource_variable")


def _is_eager_sequence(values):
    """Whether an op that runs at once takes this as a list of tensors, though it is no list, as in TensorFlow: a tensor
    row by row, a range, an empty vector of NumPy."""
    if not defaults.get_default_graph()._eager:
        return False
    if isinstance(values, Tensor):
        return values._is_eager and values._rank() > 0
    return isinstance(values, range) or isinstance(values, np.ndarray) and values.shape == (0,)


def _name(number):
    return dtypes.as_dtype(number).name


# Functions


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
        info, op = _apply_op_helper(op_name, name, **keywords)
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
            namespace[f"_default_{python}"] = _python_default(attr)
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
    elif any(_is_list(o) for o in info.outputs):
        lines.append("    return _structure(_op)")
    elif info.result is None:
        lines.append("    return _op._outputs[0]")
    else:
        lines.append("    return _result(_op._outputs)")
    return "\n".join(lines + front)


class _Variants:
    """The short roads of an op with attributes other than its defaults, made as they are asked for."""

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
        base = _name(arg.type) if arg.type else arg.type_attr or arg.type_list_attr
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
            default = f", by default {_python_default(attr)!r}" if attr.has_default else ""
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
        info = op_info(op_name)
        namespace = {"_Tensor": Tensor, "_Eager": EagerTensor, "_default": defaults.get_default_graph,
                     "_slow": _slow, "_uniform": _uniform, "_held": _held, "_colocated": _colocated,
                     "_structure": info.structure, "_result": info.result._make if info.result else None,
                     "_type": type, "_NotImplemented": NotImplemented,  # an attribute may be called `type`
                     "__name__": __name__.rpartition(".")[0] + ".gen"}
        source = _source(info, namespace)
        exec(compile(source, f"<op {op_name}>", "exec"), namespace)
        found = namespace[_identifier(info.function)]
        found.__doc__ = _docstring(info)
        found.__qualname__ = info.function
        _functions[op_name] = found
    return found
