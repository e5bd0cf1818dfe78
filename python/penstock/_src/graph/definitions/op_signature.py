"""The signature in Python of an op: its function's name, parameters with their defaults, structure of results."""
import collections
import keyword
import re
from typing import Any

import numpy as np

from penstock._src.graph.definitions import attr_values
from penstock._src.graph import dtypes
from penstock._src.graph import graph as graph_module
from penstock._src.base import compat

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


def python_default(attr):
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


class OpInfo:
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
        if not any(is_list(o) for o in self.outputs):
            return outputs[0] if self.result is None else self.result._make(outputs)
        parts, first = [], 0
        for arg in self.outputs:
            if not is_list(arg):
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


def is_list(arg):
    return bool(arg.number_attr or arg.type_list_attr)


_infos: dict[str, Any] = {}


def op_info(op_name):
    """The OpInfo of an op. RuntimeError if there is no such op."""
    info = _infos.get(op_name)
    if info is None:
        definition = graph_module.core_op_def(op_name)
        if definition is None:
            raise RuntimeError(f"Unrecognized Op name {op_name}")
        info = _infos[op_name] = OpInfo(definition)
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
