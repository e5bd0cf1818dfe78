"""Anything to a tensor: the registry of conversion functions and those who ask it."""
import collections.abc
import itertools
from typing import Any

from penstock import _core
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import eager_tensor  # noqa: F401  (the class of what is converted at once)
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor import Tensor

_PLAIN = frozenset((int, float, bool, list, tuple))
_functions: dict[int, list] = {}
_by_type: dict[type, Any] = {}


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Makes `conversion_func(value, dtype, name, as_ref)` convert values of `base_type` (a type or several).

    Functions are tried in order of priority, smallest first; one that returns NotImplemented passes the value on.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _functions.setdefault(priority, []).append((base_type, conversion_func))
    _by_type.clear()


def _by_own_method(value, dtype=None, name=None, as_ref=False):
    return value.__tf_tensor__(dtype, name)


def _functions_for(kind):
    found = _by_type.get(kind)
    if found is None:
        found = [entry for _, entries in sorted(_functions.items()) for entry in entries if issubclass(kind, entry[0])]
        if hasattr(kind, "__tf_tensor__"):
            found.insert(0, (kind, _by_own_method))
        _by_type[kind] = found
    return found


def convert_to_tensor_v2(value, dtype=None, dtype_hint=None, name=None):
    """`value` as a tensor; see convert_to_tensor."""
    return internal_convert_to_tensor(value, dtype=dtype, name=name, preferred_dtype=dtype_hint)


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """`value` as a tensor: a tensor itself, or what the conversion function of its type makes of it.

    preferred_dtype (dtype_hint): taken if `dtype` is None and the value can have it. TypeError if nothing converts the
    value, ValueError if it is a tensor of another type, RuntimeError if a conversion function misbehaves.
    """
    if dtype_hint is not None and preferred_dtype is not None:
        raise ValueError("Cannot specify both 'dtype_hint' and 'preferred_dtype'")
    return internal_convert_to_tensor(value, dtype=dtype, name=name,
                                      preferred_dtype=dtype_hint if preferred_dtype is None else preferred_dtype)


def _prefix(name):
    return "" if name is None else f"{name}: "


def internal_convert_to_tensor(value, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None,
                               accepted_result_types=(Tensor,)):
    """convert_to_tensor; with `as_ref` a variable gives its reference."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if value._is_eager and not (graph := defaults.get_default_graph())._eager:
            if not graph._building_function:
                raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
            value = graph.capture(value, name)
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!r}")
        return value
    if preferred_dtype is not None:
        preferred_dtype = dtypes.as_dtype(preferred_dtype)
    if type(value) in _PLAIN and _core.executes_eagerly():
        wanted = dtype if dtype is not None else preferred_dtype
        made = _core.eager_from_python(value, 0 if wanted is None else wanted._type_enum)
        if made is not None:
            return made
    for base_type, convert in _functions_for(type(value)):
        result = None
        if dtype is None and preferred_dtype is not None:
            try:
                result = convert(value, dtype=preferred_dtype, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                pass
            else:
                if result is not NotImplemented and result.dtype.base_dtype != preferred_dtype.base_dtype:
                    raise TypeError("convert_to_tensor did not convert to the preferred dtype: "
                                    f"{result.dtype.base_dtype} vs {preferred_dtype.base_dtype} ")
        if result is None:
            result = convert(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, accepted_result_types):
            raise RuntimeError(f"{_prefix(name)}Conversion function {convert!r} for type {base_type} returned "
                               f"non-Tensor: {result!r}")
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(f"{_prefix(name)}Conversion function {convert!r} for type {base_type} returned "
                               f"incompatible dtype: requested = {dtype.name}, actual = {result.dtype.name}")
        return result
    raise TypeError(f"{_prefix(name)}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion "
                    "function registered.")


def internal_convert_n_to_tensor(values, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None):
    """Each of `values` as a tensor; names get their index appended."""
    if not isinstance(values, collections.abc.Sequence):
        raise TypeError("values must be a sequence.")
    return [value if type(value) is Tensor and dtype is None else internal_convert_to_tensor(
        value, dtype=dtype, name=None if name is None else f"{name}_{i}", as_ref=as_ref,
        preferred_dtype=preferred_dtype)
        for i, value in enumerate(values)]


def convert_n_to_tensor(values, dtype=None, name=None, preferred_dtype=None):
    """Each of `values` as a tensor."""
    return internal_convert_n_to_tensor(values, dtype=dtype, name=name, preferred_dtype=preferred_dtype)


def is_composite(value):
    """Whether it is made of tensors: IndexedSlices, SparseTensor."""
    return getattr(value, "_is_composite_tensor", False)


def internal_convert_to_tensor_or_composite(value, dtype=None, name=None, as_ref=False):
    """`value` as a tensor, unless it is made of tensors already."""
    if is_composite(value):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!s}")
        return value
    from penstock._src.graph import composite_tensor
    return internal_convert_to_tensor(value, dtype=dtype, name=name, as_ref=as_ref,
                                      accepted_result_types=(Tensor, composite_tensor.CompositeTensor))


def convert_to_tensor_or_composite(value, dtype=None, name=None):
    """`value` as a tensor, unless it is made of tensors already."""
    return internal_convert_to_tensor_or_composite(value, dtype, name)


def internal_convert_to_tensor_or_indexed_slices(value, dtype=None, name=None, as_ref=False):
    """`value` as a tensor, unless it is an IndexedSlices."""
    if isinstance(value, Tensor) and dtype is None:
        return value
    return internal_convert_to_tensor_or_composite(value, dtype, name, as_ref)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """`value` as a tensor, unless it is an IndexedSlices."""
    return internal_convert_to_tensor_or_indexed_slices(value, dtype, name)


def internal_convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None, as_ref=False):
    """Each of `values` that is not None as a tensor, unless it is an IndexedSlices."""
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError("values must be iterable.")
    names = (None if name is None else f"{name}_{i}" for i in itertools.count())
    return [None if value is None else internal_convert_to_tensor_or_indexed_slices(value, dtype, one, as_ref)
            for value, one in zip(values, names)]


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    """Each of `values` that is not None as a tensor, unless it is an IndexedSlices."""
    return internal_convert_n_to_tensor_or_indexed_slices(values, dtype, name)


def as_graph_element(obj):
    """The tensor or operation that stands for `obj` (a variable), or None."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if callable(convert) else None


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph of the inputs: all must be of one. The default graph if none of them is of a graph, or if the default
    graph is a function's body. ValueError if they are of several."""
    default = defaults.get_default_graph()
    if default._building_function or default._eager or default.__dict__.get("_gradient_of") is not None:
        return default  # which captures what is of others, or has it from bodies that it differentiates
    first = None
    for value in op_input_list:
        if type(value) is Tensor:
            element: Any = value
        elif isinstance(value, Tensor) and value._is_eager:
            continue
        elif isinstance(value, (Tensor, Operation)):
            element = value
        elif is_composite(value):
            element = value
        else:
            element = as_graph_element(value)
        if element is None:
            continue
        if graph is None:
            first, graph = element, element.graph
        elif element.graph is not graph:
            if first is not None:
                raise ValueError(f"{element} must be from the same graph as {first}.")
            raise ValueError(f"{element} is not from the passed-in graph.")
    return graph or default


def executing_eagerly():
    """Whether ops run as they are called."""
    return defaults.get_default_graph()._eager
