"""A node of a graph, as Python sees it."""
from typing import Any

from penstock._src.graph import device as pydev
from penstock._src.graph import dtypes
from penstock._src.graph import stack
from penstock._src.graph import tensor_shape
from penstock._src.graph.scopes import TraceableObject
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat

_INTERN = dtypes._INTERN_TABLE


class Operation:
    """A node. Made by Graph only; the runtime's graph holds its definition, this object what is Python's alone."""

    _device_stack: Any = ()  # the device scopes under which it was built
    _colocation_places: Any = ()  # and the colocation scopes
    _members = ()  # the operations of its body, where a gradient has put them beside it

    def __init__(self, graph, node, name, op_type, traceback, types=None):
        self._graph = graph
        self._node = node
        self._name = name
        self._type = op_type
        self._traceback = traceback
        self._inputs_val = None
        self._original_op = graph._default_original_op
        self._control_flow_context = graph._control_flow_context
        if types is None:
            types = graph._core.output_dtypes(node)
        if len(types) == 1:
            self._outputs = [Tensor(self, 0, _INTERN[types[0]])]
        else:
            self._outputs = [Tensor(self, i, _INTERN[t]) for i, t in enumerate(types)]

    def _reread(self):
        """Takes over what has become of the node."""
        self._type = self._graph._core.op(self._node)
        self._inputs_val = None

    @property
    def name(self):
        """The full name, scopes included."""
        return self._name

    @property
    def type(self):
        """The name of the op, such as "MatMul"."""
        return self._type

    @property
    def graph(self):
        """The graph that it is in."""
        return self._graph

    @property
    def outputs(self):
        """The list of its output tensors."""
        return self._outputs

    @property
    def _id(self):
        return self._node + 1

    @property
    def _id_value(self):
        return self._node + 1

    @property
    def inputs(self):
        """The sequence of its input tensors."""
        if self._inputs_val is None:
            ops = self._graph._ops
            self._inputs_val = tuple([ops[node]._outputs[i] for node, i in self._graph._core.inputs(self._node)])
        return self._inputs_val

    _inputs = inputs

    @property
    def _input_types(self):
        return [self._graph._input_type(self, i) for i in range(len(self.inputs))]

    @property
    def _output_types(self):
        return list(self._graph._core.output_dtypes(self._node))

    @property
    def control_inputs(self):
        """The operations that must run before it."""
        ops = self._graph._ops
        return [ops[node] for node in self._graph._core.control_inputs(self._node)]

    _control_inputs = control_inputs

    @property
    def _control_outputs(self):
        ops = self._graph._ops
        return [ops[node] for node in self._graph._core.control_outputs(self._node)]

    @property
    def device(self):
        """The device asked for; "" if none is."""
        return self._graph._core.device(self._node)

    def _set_device(self, device):
        name = device.to_string() if pydev.is_device_spec(device) else device or ""
        self._set_device_from_string(compat.as_str(name))

    def _set_device_from_string(self, device):
        self._graph._core.set_device(self._node, device)

    @property
    def _device_assignments(self):
        return [TraceableObject(entry.display_name, entry.frame) for entry in reversed(self._device_stack)]

    @property
    def _colocation_dict(self):
        return {entry.obj.name: entry.copy_metadata() for entry in self._colocation_places}

    def values(self):
        """The outputs as a tuple."""
        return tuple(self._outputs)

    def colocation_groups(self):
        """The names (bytes) of the groups of operations that share its device."""
        return self._graph._core.colocation_groups(self._node) or [compat.as_bytes("loc:@" + self._name)]

    @property
    def node_def(self):
        """The NodeDef."""
        from penstock import proto
        return proto.message("tensorflow.NodeDef").FromString(self._graph._core.node_def(self._node))

    _node_def = node_def

    @property
    def op_def(self):
        """The OpDef."""
        return self._graph._get_op_def(self._type)

    _op_def = op_def

    @property
    def _is_stateful(self):
        definition = self._graph._core_op_def(self._type)
        return definition is not None and definition.is_stateful

    @property
    def traceback(self):
        """The Python stack that built it: a list of (file, line, function, text), outermost first."""
        return stack.convert(self._traceback)

    @property
    def traceback_with_start_lines(self):
        """The same with each function's first line."""
        return stack.convert(self._traceback, first_lines=True)

    # Attributes

    def get_attr(self, name):
        """The value of an attribute. ValueError if there is none of this name."""
        core = self._graph._core
        if not core.has_attr(self._node, name):
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        kind = self._graph._attr_type(self._type, name)
        if kind in ("int", "float", "bool", "list(int)", "list(float)", "list(bool)"):
            return core.attr(self._node, name)
        if kind == "type":
            return _INTERN[core.attr(self._node, name)]
        if kind == "list(type)":
            return [_INTERN[t] for t in core.attr(self._node, name)]
        return _attr_value(self._attr_proto(name))

    def _attr_proto(self, name):
        from penstock import proto
        return proto.message("tensorflow.AttrValue").FromString(self._graph._core.attr_proto(self._node, name))

    def _get_attr_type(self, name):
        """The value of a type attribute, without going through messages."""
        return self.get_attr(name)

    def _set_attr(self, attr_name, attr_value):
        """Sets an attribute to an AttrValue message."""
        self._graph._core.set_attr_proto(self._node, attr_name, attr_value.SerializeToString())

    def _set_attr_value(self, **field):
        """AttrValue with one field set."""
        from penstock import proto
        return proto.message("tensorflow.AttrValue")(**field)

    def _set_func_attr(self, attr_name, func_name):
        from penstock import proto
        self._set_attr(attr_name, self._set_attr_value(func=proto.message("tensorflow.NameAttrList")(name=func_name)))

    def _set_type_list_attr(self, attr_name, types):
        if types:
            from penstock import proto
            values = proto.message("tensorflow.AttrValue.ListValue")(type=[int(dtypes.as_dtype(t)) for t in types])
            self._set_attr(attr_name, self._set_attr_value(list=values))

    def _set_shape_list_attr(self, attr_name, shapes):
        from penstock import proto
        shapes = [tensor_shape.as_shape(s).as_proto() for s in shapes]
        self._set_attr(attr_name,
                       self._set_attr_value(list=proto.message("tensorflow.AttrValue.ListValue")(shape=shapes)))

    def _clear_attr(self, attr_name):
        self._graph._core.clear_attr(self._node, attr_name)

    # Changes to the edges, for control flow

    def _update_input(self, index, tensor):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor} must be from the same graph as {self}.")
        self._inputs_val = None
        self._graph._core.update_input(self._node, index, tensor._key)

    def _add_control_inputs(self, ops):
        for op in ops:
            self._add_control_input(op)

    def _add_control_input(self, op):
        if not isinstance(op, Operation):
            raise TypeError(f"op must be an Operation: {op}")
        self._graph._core.add_control_input(self._node, op._node)

    def _remove_all_control_inputs(self):
        self._graph._core.remove_control_inputs(self._node)

    def _get_control_flow_context(self):
        return self._control_flow_context

    def _set_control_flow_context(self, ctx):
        self._control_flow_context = ctx

    def _control_flow_post_processing(self):
        """Tells the control-flow context in which it was built that it is there."""
        from penstock._src.graph import control_flow_util
        for tensor in self.inputs:
            control_flow_util.CheckInputFromValidContext(self, tensor.op)
        if self._control_flow_context is not None:
            self._control_flow_context.AddOp(self)

    def run(self, feed_dict=None, session=None):
        """Runs it in `session`, or the default session. ValueError if there is none or it has another graph."""
        self._graph._session_for(self, session, "run").run(self, feed_dict)

    def mark_used(self):
        """Says that it is no mistake when nothing depends on it; nothing here would warn."""

    def _as_graph_element(self):
        return self

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return f"<tf.Operation '{self._name}' type={self._type}>"

    def __reduce__(self):
        raise TypeError("an Operation belongs to its graph and cannot be pickled or copied")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _attr_value(value):
    """What an AttrValue message holds, in the form that get_attr gives."""
    field = value.WhichOneof("value")
    if field is None:
        return []
    if field != "list":
        found = getattr(value, field)
        return dtypes.as_dtype(found) if field == "type" else found
    for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(value.list, name)
        if len(items):
            return [dtypes.as_dtype(t) for t in items] if name == "type" else list(items)
    return []
