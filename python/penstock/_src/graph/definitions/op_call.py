"""Adds or runs an op by its definition: converts the arguments and finds the types that follow from them."""
import contextlib

import numpy as np

from penstock._src.graph.definitions import attr_values
from penstock._src.graph import conversion
from penstock._src.graph.definitions import default_types
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.definitions import op_signature


def apply_op(op_type_name, name=None, **keywords):
    """Adds an operation: inputs and attributes by the names in the op's definition.

    Inputs are converted to tensors of the type that the definition and the other inputs ask for; attributes that follow
    from inputs must not be given. Returns the operation's outputs (a tensor, a list, a namedtuple) or the operation if
    it has none. TypeError, ValueError: the arguments do not fit; the message names the op and the argument.
    """
    info, op = apply_op_helper(op_type_name, name, **keywords)
    return info.structure(op)


def _flatten(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def apply_op_helper(op_type_name, name=None, **keywords):
    info = op_signature.op_info(op_type_name)
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
        with colocated(graph, call.references):
            return info, graph._new_op(op_type_name, call.inputs, scope, attrs)


def _run(graph, info, name, keywords):
    """apply_op_helper for ops that run as they are called."""
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


def colocated(graph, tensors):
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
        if op_signature.is_list(arg):
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
            raise TypeError(f"Expected {type_name(known)} passed to parameter '{arg.name}' of op '{self.info.name}', "
                            f"got {value!r} of type '{type(value).__name__}' instead. Error: {e}") from None
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
            raise TypeError(f"{prefix} expected type of {type_name(arg.type)}.") from None
        known = self.types.get(arg.type_attr, self.defaults.get(arg.type_attr))
        if known is not None:
            raise TypeError(f"{prefix} type {type_name(known)} of argument "
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
            raise TypeError(f"{prefix} that do not match expected type {type_name(known)}.") from None
        if arg.type_attr in self.types:
            raise TypeError(
                f"{prefix} that do not match type {type_name(known)} inferred from earlier arguments.") from None
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
            raise TypeError(f"Input '{given}' of '{self.info.name}' Op has type {type_name(base)} that does not match "
                            f"type {type_name(known)} of argument '{self.origin[attr]}'.")

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
            raise TypeError(f"Input '{given}' of '{self.info.name}' Op has type list of "
                            f"{', '.join(map(type_name, bases))} that does not match type list "
                            f"{', '.join(map(type_name, known))} of argument '{self.origin[attr]}'.")

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


def type_name(number):
    return dtypes.as_dtype(number).name
