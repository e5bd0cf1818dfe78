"""Graph: a program's operations. The runtime's graph holds nodes and edges; this one adds what only Python knows."""
import collections
import itertools
import re
import threading
from typing import Any

from penstock._src.graph import core as _core_module  # noqa: F401  (connects the errors)
from penstock._src.graph import defaults
from penstock._src.graph import errors
from penstock._src.graph import op_callbacks
from penstock._src.graph import stack
from penstock._src.graph import tapes
from penstock._src.base import tf2
from penstock._src.graph.operation import Operation
from penstock._src.graph.scopes import ScopesMixin
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat
from penstock import _core
from penstock._src.base import hooks

_copy_of, _takes_reference = hooks.Hook("graph_of_function.copy"), hooks.Hook("takes_reference")
_uids = itertools.count(1)
_definitions: dict[str, Any] = {}
_attr_types: dict[str, dict] = {}


def uid():
    """A number that was not given before in this process, to whatever thread."""
    return next(_uids)


def core_op_def(op_type):
    """The runtime's OpDef of an op, or None."""
    found = _definitions.get(op_type)
    if found is None:
        found = _core.op_def(op_type)
        if found is not None:
            _definitions[op_type] = found
            _attr_types[op_type] = {a.name: a.type for a in found.attrs}
    return found


def _as_told(message):
    """What is wrong with a new operation, in the words of the version: version 1 has no {{node ...}}."""
    if tf2.enabled():
        return message
    return re.sub(r"for '{{node (\S+)}} = (\w+)' \(op: '\w+'\) with", r"for '\1' (op: '\2') with", message)


class Graph(ScopesMixin):
    """Operations, and tensors between them. Building it is not thread-safe; running it is."""

    _eager = False  # whether operations run as they are called
    _seed_used = False  # whether a random operation has asked for a seed without giving one
    _op_seeds_given = 0

    def __init__(self):
        self._core = _core.Graph()
        self._lock = threading.RLock()
        self._thread_local = threading.local()
        self._ops = []
        self._init_scopes()
        self._collections = {}
        self._seed = None
        self._finalized = False
        self._functions = collections.OrderedDict()
        self._building_function = False
        self._unfeedable_tensors = set()
        self._unfetchable_ops = set()
        self._handle_feeders, self._handle_readers, self._handle_movers, self._handle_deleters = {}, {}, {}, {}
        self._graph_key = f"grap-key-{uid()}/"
        self._last_loss_reduction = None
        self._is_loss_scaled_by_optimizer = False
        self._add_control_dependencies = False
        self._op_def_messages = {}
        self._traces = {}  # name of an operation -> {slot: what writes the value down when a step computes it}

    # State

    @property
    def version(self):
        """A number that grows with each new operation."""
        return self._core.num_nodes

    @property
    def graph_def_versions(self):
        """The VersionDef of as_graph_def."""
        from penstock import proto
        producer, min_consumer, bad = self._core.versions()
        return proto.message("tensorflow.VersionDef")(producer=producer, min_consumer=min_consumer, bad_consumers=bad)

    _graph_def_versions = graph_def_versions

    @property
    def seed(self):
        """The seed of the graph's random ops, or None."""
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed

    @property
    def finalized(self):
        """Whether it can no longer be changed."""
        return self._finalized

    @property
    def building_function(self):
        """Whether it is the body of a function."""
        return self._building_function

    def finalize(self):
        """Makes every later change a RuntimeError."""
        self._finalized = True

    def _unsafe_unfinalize(self):
        self._finalized = False

    def _check_not_finalized(self):
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _random_op_seed(self):
        """Returns the seed of a random op without one, in a graph with a seed.

        Version 1 counts the graph's operations, version 2 the seeds that the graph has given.
        """
        if not tf2.enabled():
            return self._last_id
        self._op_seeds_given += 1
        return self._op_seeds_given - 1

    def watch_variable(self, variable):
        """Tells the active tapes that a variable is read."""
        if _core.tape_is_active():
            tapes.variable_accessed(variable)

    def as_default(self):
        """Context manager under which this is the default graph of the thread."""
        return defaults._default_graph_stack.get_controller(self)

    def _get_control_flow_context(self):
        return self._control_flow_context

    def _set_control_flow_context(self, ctx):
        self._control_flow_context = ctx

    @property
    def _last_id(self):
        return self._core.num_nodes

    @property
    def _next_id_counter(self):
        return self._core.num_nodes

    # Building

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                  compute_shapes=True, compute_device=True):
        """Adds an operation and returns it.

        inputs: the list of tensors; attrs: name -> AttrValue; name: full if it ends in "/", else made unique below the
        current scope. ValueError if the op does not take this, TypeError if an input is no tensor.
        """
        for i, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {tensor}")
        return self._create_op_internal(op_type, inputs, dtypes, input_types, name, attrs, op_def, compute_device)

    def _create_op_internal(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                            compute_device=True):
        from penstock._src.graph.definitions import attr_values
        plain, messages = attr_values.split(self, op_type, attrs or {})
        op = self._new_op(op_type, inputs, name or op_type, plain, compute_device)
        for key, value in messages.items():
            op._set_attr(key, value)
        return op

    def _with_copies(self, inputs, name):
        """The inputs of a new operation with copies in place of those of other graphs. ValueError if one has none."""
        copies = [None if t._op._graph is self else _copy_of(self, t) for t in inputs]
        inputs = [t if copy is None else copy for t, copy in zip(inputs, copies)]
        for tensor in inputs:
            if tensor._op._graph is not self:
                raise ValueError(f"{tensor} must be from the same graph as the new operation '{name}'.")
        return inputs

    def _new_op(self, op_type, inputs, name, attrs, compute_device=True):
        """create_op for attributes in the runtime's form. `attrs` may be changed."""
        if self._finalized:
            self._check_not_finalized()
        with self._lock:
            core = self._core
            if type(name) is not str:
                name = compat.as_str(name)
            if name[-1:] == "/":
                name = name[:-1]
            else:
                scope = self._name_stack
                name = core.unique_name(f"{scope}/{name}" if scope else name)
            control: Any = ()
            stacks = self._stacks
            devices = stacks.devices
            if stacks.control_dependencies:
                control = [op._node for op in self._control_dependencies_for_inputs({t._op for t in inputs})]
            if self._op_to_kernel_label_map or self._gradient_override_map or self._container:
                self._add_scoped_attrs(op_type, attrs)
            device = ""
            ask = False
            if compute_device and devices:
                device = devices.plain
                if device is None:
                    device, ask = "", True
            if stacks.colocation:
                groups = set()
                for other in reversed(stacks.colocation):
                    groups.update(other.obj.colocation_groups())
                attrs["_class"] = sorted(groups)
            in_context = self._control_flow_context is not None
            for tensor in inputs:
                source = tensor._op
                if source._graph is not self:
                    inputs = self._with_copies(inputs, name)
                    in_context = in_context or any(t._op._control_flow_context is not None for t in inputs)
                    break
                if source._control_flow_context is not None:
                    in_context = True
            try:
                node = core.add_node(op_type, name, [t._key for t in inputs], control, attrs, device)
            except errors.InvalidArgumentError as e:
                raise ValueError(_as_told(e.message)) from None
            op = Operation(self, node, name, op_type, stack.capture(2))
            op._inputs_val = tuple(inputs)
            self._ops.append(op)
            if compute_device and devices:
                op._device_stack = devices
            if stacks.colocation:
                op._colocation_places = stacks.colocation
            if ask or stacks.colocation or self._attr_scope_map or stacks.control_dependencies:
                self._apply_scopes(op, ask)
            if in_context:
                op._control_flow_post_processing()
            if op_callbacks.in_use:
                op_callbacks.see_created(op, attrs)
            return op

    def _add_scoped_attrs(self, op_type, attrs):
        """Attributes that follow from scopes, by the type of the op."""
        label = self._op_to_kernel_label_map.get(op_type)
        if label is not None:
            attrs["_kernel"] = compat.as_bytes(label)
        override = self._gradient_override_map.get(op_type)
        if override is not None:
            attrs["_gradient_op_type"] = compat.as_bytes(override)
        if self._container:
            definition = core_op_def(op_type)
            if definition is not None and definition.is_stateful and "container" in _attr_types[op_type] \
                    and not attrs.get("container"):
                attrs["container"] = compat.as_bytes(self._container)

    def _apply_scopes(self, op, ask_devices):
        """What the scopes do to an operation that is in the graph already."""
        for key, value in self._attr_scope_map.items():
            if not self._core.has_attr(op._node, key):
                if callable(value):
                    value = value(op.node_def)
                    if value is not None and not hasattr(value, "WhichOneof"):
                        raise TypeError(f"Callable for scope map key '{key}' must return either None or an AttrValue "
                                        f"protocol buffer; but it returned: {value}")
                if value:
                    op._set_attr(key, value)
        self._record_op_seen_by_control_dependencies(op)
        if ask_devices:
            self._apply_device_functions(op)
        for other in reversed(self._colocation_stack):
            if other.obj.device:
                op._set_device(other.obj.device)

    def _add_new_operations(self, compute_devices=True, scopes=True, control_flow=True, unbidden=None, inside=list):
        """Operations for the nodes that the runtime has added by itself (import, gradients); returns them. Control
        dependencies in force hold for all but those of them that `unbidden` returns; `inside` gives what stands for
        them in the control-flow context of the new operations."""
        with self._lock:
            frames = stack.capture(2)
            first = len(self._ops)
            new = [Operation(self, first + i, name, op_type, frames, types)
                   for i, (name, op_type, types) in enumerate(zip(*self._core.nodes_from(first)))]
            self._ops += new
            devices = self._device_function_stack and compute_devices
            control = self._control_dependencies_stack
            busy = self._colocation_stack or self._attr_scope_map or self._op_to_kernel_label_map \
                or self._gradient_override_map
            in_context = control_flow and self._control_flow_context is not None
            if not scopes or not (devices or control or busy or in_context):
                return new
            free = unbidden(new) if unbidden and control else ()
            for op in new:
                if devices:
                    self._apply_device_functions(op)
                if busy:
                    self._scope_imported(op)
                if control and op not in free:
                    op._add_control_inputs(inside(self._control_dependencies_for_inputs({t.op for t in op.inputs})))
                    self._record_op_seen_by_control_dependencies(op)
                if in_context:
                    op._control_flow_post_processing()
            return new

    def _scope_imported(self, op):
        attrs: dict[str, Any] = {}
        self._add_scoped_attrs(op.type, attrs)
        if self._colocation_stack:
            groups = {g for other in self._colocation_stack for g in other.obj.colocation_groups()}
            from penstock import proto
            op._set_attr("_class", op._set_attr_value(
                list=proto.message("tensorflow.AttrValue.ListValue")(s=sorted(groups))))
        for key, value in attrs.items():
            op._set_attr(key, op._set_attr_value(s=value))
        self._apply_scopes(op, False)

    # Finding

    def _find(self, name):
        """The operation of this name, or None."""
        node = self._core.node_by_name(name)
        return self._ops[node] if 0 <= node < len(self._ops) else None

    @property
    def _nodes_by_name(self):
        return {op.name: op for op in self._ops}

    @property
    def _nodes_by_id(self):
        return {op._id: op for op in self._ops}

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or operation of this graph that `obj` is, names, or stands for.

        TypeError if it is nothing of the kind, ValueError if it is not of this graph or a malformed name, KeyError if
        the graph has none of this name.
        """
        if isinstance(obj, Tensor) and obj._is_eager:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        if allow_tensor and isinstance(obj, Tensor) and obj._op._graph is self:
            return obj
        if allow_tensor and allow_operation:
            wanted = "Tensor or Operation"
        elif allow_tensor or allow_operation:
            wanted = "Tensor" if allow_tensor else "Operation"
        else:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        convert = getattr(obj, "_as_graph_element", None)
        if callable(convert):
            obj = convert()
        if isinstance(obj, (str, bytes)):
            return self._element_by_name(compat.as_str(obj), allow_tensor, allow_operation, wanted)
        if isinstance(obj, Tensor) and allow_tensor or isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"{'Tensor' if isinstance(obj, Tensor) else 'Operation'} {obj} is not an element of "
                                 "this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _element_by_name(self, name, allow_tensor, allow_operation, wanted):
        if ":" in name:
            if not allow_tensor:
                raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {wanted}.")
            op_name, _, index = name.partition(":")
            if not index.isdigit():
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names "
                                 'must be of the form "<op_name>:<output_index>".')
            op = self._find(op_name)
            if op is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, does not exist in the graph.")
            if int(index) >= len(op.outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, exists but only has {len(op.outputs)} outputs.")
            return op.outputs[int(index)]
        op = self._find(name)
        if not allow_operation:
            known = "refers to an Operation" if op is not None else "looks like an (invalid) Operation name"
            raise ValueError(f"The name {name!r} {known}, not a {wanted}. Tensor names must be of the form "
                             '"<op_name>:<output_index>".')
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return op

    def get_operations(self):
        """All operations, in order of creation."""
        return list(self._ops)

    def get_operation_by_name(self, name):
        """The operation of this name. KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def _get_operation_by_name_unsafe(self, name):
        op = self._find(name)
        if op is None:
            raise KeyError(name)
        return op

    def get_tensor_by_name(self, name):
        """The tensor of this name. KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def _tensor(self, key):
        """The tensor of the runtime's id."""
        return self._ops[key[0]]._outputs[key[1]]

    def _input_type(self, op, index):
        """The declared type of an input: a reference only if the op takes references."""
        tensor = op.inputs[index]
        if not tensor.dtype._is_ref_dtype:
            return tensor.dtype
        return tensor.dtype if _takes_reference(op, index) else tensor.dtype.base_dtype

    # Definitions

    def _core_op_def(self, op_type):
        return core_op_def(op_type)

    def _attr_type(self, op_type, name):
        if core_op_def(op_type) is None:
            return None
        return _attr_types[op_type].get(name)

    def _get_op_def(self, op_type):
        """The OpDef message of an op or of one of this graph's functions."""
        found = self._op_def_messages.get(op_type)
        if found is None:
            from penstock import proto
            definition = core_op_def(op_type)
            if definition is not None:
                found = proto.message("tensorflow.OpDef").FromString(definition.proto())
            elif self._core.has_function(op_type):
                found = proto.message("tensorflow.FunctionDef").FromString(self._core.function_def(op_type)).signature
            else:
                raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}'")
            self._op_def_messages[op_type] = found
        return found

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        """The GraphDef of the whole graph; the last argument changes nothing."""
        return self._as_graph_def(from_version, add_shapes)[0]

    def _as_graph_def(self, from_version=None, add_shapes=False):
        from penstock import proto
        with self._lock:
            data = self._core.graph_def(0, add_shapes)
            return proto.message("tensorflow.GraphDef").FromString(data), self.version

    # Functions

    def _is_function(self, name):
        return self._core.has_function(compat.as_str(name))

    def _get_function(self, name):
        return self._functions.get(compat.as_str(name))

    def _add_function(self, function):
        """Adds a function object (name, definition, grad_func_name) to the library."""
        gradient = function.grad_func_name
        if gradient is not None and getattr(function, "python_grad_func", None) is not None:
            raise ValueError(f"Gradient defined twice for function {function.name}")
        definition = function.definition
        data = definition if isinstance(definition, bytes) else definition.SerializeToString()
        self._core.add_function(data, gradient or "")
        self._functions[compat.as_str(function.name)] = function

    # Collections

    @property
    def collections(self):
        """The names of the collections that exist."""
        return list(self._collections)

    def add_to_collection(self, name, value):
        """Appends `value` to a collection, which may be new."""
        self._check_not_finalized()
        with self._lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        """Appends `value` to several collections."""
        for name in (names,) if isinstance(names, str) else sorted(set(names), key=str):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        """The list itself; changing it changes the collection."""
        with self._lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        """A copy of a collection; with `scope`, only items whose name it matches from the beginning."""
        with self._lock:
            items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        matches = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and matches(item.name)]

    def get_all_collection_keys(self):
        """The names of the collections, those that are strings."""
        with self._lock:
            return [name for name in self._collections if isinstance(name, str)]

    def clear_collection(self, name):
        """Removes a collection."""
        self._check_not_finalized()
        with self._lock:
            self._collections.pop(name, None)

    # Feeding and fetching

    def prevent_feeding(self, tensor):
        """Makes feeding the tensor an error."""
        self._unfeedable_tensors.add(id(tensor))

    def is_feedable(self, tensor):
        """Whether the tensor may be fed."""
        return id(tensor) not in self._unfeedable_tensors

    def prevent_fetching(self, op):
        """Makes fetching the operation or its outputs an error."""
        self._unfetchable_ops.add(op)

    def is_fetchable(self, tensor_or_op):
        """Whether the tensor or operation may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable_ops

    def _session_for(self, element, session, verb):
        """The session in which `element.eval()` or `.run()` happens. ValueError if there is none of this graph."""
        task, kind = ("evaluate tensor", "tensor") if verb == "eval" else ("execute operation", "operation")
        if session is None:
            session = defaults.get_default_session()
            if session is None:
                raise ValueError(f"Cannot {task} using `{verb}()`: No default session is registered. Use `with "
                                 f"sess.as_default()` or pass an explicit session to `{verb}(session=sess)`")
            if session.graph is not self:
                raise ValueError(f"Cannot use the default session to {task}: the {kind}'s graph is different from the "
                                 f"session's graph. Pass an explicit session to `{verb}(session=sess)`.")
        elif session.graph is not self:
            raise ValueError(f"Cannot use the given session to {task}: the {kind}'s graph is different from the "
                             "session's graph.")
        return session
