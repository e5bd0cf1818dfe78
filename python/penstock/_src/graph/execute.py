"""Running an op by name: what the functions of generated code call in TensorFlow."""
from typing import Any

from penstock._src.graph.definitions import attr_values
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import graph as graph_module
from penstock._src.graph import errors
from penstock._src.graph import tensor_shape
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat


def execute(op_name, num_outputs, inputs, attrs=None, ctx=None, name=None):
    """Runs an op; the list of its results.

    attrs: names and values in turn. NotFoundError: no such op. ValueError: an attribute of another kind than the op's.
    """
    op_name = compat.as_str(op_name)
    definition = graph_module.core_op_def(op_name)
    graph = defaults.get_default_graph()
    if definition is None and not graph._core.has_function(op_name):
        raise errors.NotFoundError(None, None, f"Op type not registered '{op_name}' in this program.")
    if isinstance(num_outputs, bool) or not isinstance(num_outputs, int):
        raise TypeError(f"expected int for argument 'num_outputs', got {type(num_outputs).__name__}")
    flat = list(attrs or ())
    if len(flat) % 2:
        raise ValueError("Expected attrs tuple to have even length.")
    known = {a.name: attr_values.Attr(a, op_name, op_name) for a in definition.attrs} if definition is not None else {}
    made = {}
    for key, value in zip(flat[::2], flat[1::2]):
        key = compat.as_str(key)
        if definition is not None and key not in known and not key.startswith("_"):
            raise errors.InvalidArgumentError(None, None, f"Op {op_name} has no attribute named {key}.")
        if key in known:
            value = _checked(known[key], value)
        made[key] = value
    for i, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise TypeError("Inputs to eager execution function must be tensors, not "
                            f"{type(value).__name__}: input {i}, {value!r}")
    outputs = graph._new_op(op_name, list(inputs), name or op_name, made).outputs
    if len(outputs) > num_outputs:
        raise errors.InvalidArgumentError(None, None, f"Expecting {len(outputs)} outputs, but *num_retvals is "
                                          f"{num_outputs}")
    return list(outputs)


quick_execute = execute


def _checked(attr, value):
    try:
        return attr(value)
    except (TypeError, ValueError) as e:
        raise errors.InvalidArgumentError(None, None, f"Expecting {attr.kind} value for attr {attr.name}, got "
                                          f"{type(value).__name__}: {e}") from None


def args_to_matching_eager(values, ctx=None, default_dtype=None):
    """(the type that all values have, the values as tensors of it)."""
    if not values and default_dtype is not None:
        return dtypes.as_dtype(default_dtype).as_datatype_enum, []
    dtype: Any = next((v.dtype.base_dtype for v in values if isinstance(v, Tensor)), None)
    made = []
    for value in values:
        made.append(conversion.internal_convert_to_tensor(
            value, dtype, preferred_dtype=default_dtype if dtype is None and default_dtype is not None else None))
        dtype = dtype or made[0].dtype.base_dtype
    return dtype.as_datatype_enum, made


def convert_to_mixed_eager_tensors(values, ctx=None):
    """([types], [tensors]) of values."""
    made = [conversion.internal_convert_to_tensor(v) for v in values]
    return [t.dtype.as_datatype_enum for t in made], made


def make_float(v, arg_name):
    """A float attribute. TypeError if it is none."""
    if not isinstance(v, compat.real_types):
        raise TypeError(f"Expected float for argument '{arg_name}' not {v!r}.")
    return float(v)


def make_int(v, arg_name):
    """An int attribute. TypeError if it is none."""
    if isinstance(v, str):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.")
    try:
        return int(v)
    except (ValueError, TypeError):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.") from None


def make_str(v, arg_name):
    """A string attribute. TypeError if it is none."""
    if not isinstance(v, compat.bytes_or_text_types):
        raise TypeError(f"Expected string for argument '{arg_name}' not {v!r}.")
    return compat.as_bytes(v)


def make_bool(v, arg_name):
    """A bool attribute. TypeError if it is none."""
    if not isinstance(v, bool):
        raise TypeError(f"Expected bool for argument '{arg_name}' not {v!r}.")
    return v


def make_type(v, arg_name):
    """A type attribute. TypeError if it is none."""
    try:
        return dtypes.as_dtype(v).base_dtype.as_datatype_enum
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{arg_name}' not {v!r}.") from None


def make_shape(v, arg_name):
    """A shape attribute: a list, or None for unknown rank. TypeError, ValueError if it is none."""
    try:
        shape = tensor_shape.as_shape(v)
    except TypeError as e:
        raise TypeError(f"Error converting {arg_name} to a TensorShape: {e}.") from None
    except ValueError as e:
        raise ValueError(f"Error converting {arg_name} to a TensorShape: {e}.") from None
    return None if shape.ndims is None else shape.as_list()
