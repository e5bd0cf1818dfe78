"""What surrounds an op while it is built: name, device, control dependencies, colocation, attributes. A part of
Graph."""
import contextlib
import re
import sys
import threading
from typing import Any, Callable, Optional

from penstock._src.graph import device as pydev
from penstock._src.graph import stack
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat
from penstock._src.base import function_utils
from penstock._src.base import hooks

_converted = hooks.Hook("convert_to_tensor_or_slices")

_VALID_NAME = {  # by whether version 2 is on: what a scope may be called at the root, and below others
    False: (re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$"), re.compile(r"^[A-Za-z0-9_.\-/]*$")),
    True: (re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$"), re.compile(r"^[A-Za-z0-9_.\\/>-]*$")),
}


def name_from_scope_name(name):
    """The name without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


class _NameScope:
    """Context manager of Graph.name_scope."""

    __slots__ = ("_graph", "_name", "_old")

    def __init__(self, graph, name):
        self._graph = graph
        self._name = name

    def __enter__(self):
        graph, name = self._graph, self._name
        self._old = old = graph._name_stack
        if not name:
            new = None
        else:
            if isinstance(name, bytes):
                name = name.decode()
            if not isinstance(name, str):
                raise TypeError(f"the name of a scope is a string, not {name!r}")
            valid = _VALID_NAME[tf2.enabled()][bool(old)]
            if not graph._eager and not valid.match(name):  # names of what runs at once are the program's own
                raise ValueError(f"'{name}' is not a valid scope name: it has to match {valid.pattern}")
            new = name[:-1] if name[-1] == "/" else graph._scope_below(name)
        graph._name_stack = new
        return "" if new is None else new + "/"

    def __exit__(self, *exc):
        self._graph._name_stack = self._old
        return False


class TraceableObject:
    """Something with the place in the program where it was said."""

    __slots__ = ("obj", "_frame")

    def __init__(self, obj, frame=None):
        self.obj = obj
        self._frame = frame

    filename = property(lambda self: self._frame[0].co_filename if self._frame else None, doc="The file.")

    @property
    def lineno(self):
        """The line."""
        return stack.line_of(*self._frame) if self._frame else None

    def copy_metadata(self):
        """The place without the thing."""
        return TraceableObject(None, self._frame)


def _frame_above(depth):
    frame = sys._getframe(depth + 1)
    return frame.f_code, frame.f_lasti


class _UserDevice:
    """An entry of the device stack: a name, or a function of the operation, or None (forget what is outside)."""

    def __init__(self, name_or_function, frame=None):
        self.frame = frame
        self.function = name_or_function
        self.name = None
        self.display_name = str(name_or_function)
        if name_or_function is None:
            return
        if callable(name_or_function) and not isinstance(name_or_function, pydev.MergeDevice):
            code = function_utils.get_func_code(name_or_function)
            place = (code.co_filename, code.co_firstlineno) if code else ("unknown", -1)
            self.display_name = f"{function_utils.get_func_name(name_or_function)}<{place[0]}, {place[1]}>"
            return
        self.function = pydev.merge_device(name_or_function)
        self.name = self.function._name

    def string_merge(self, op):
        if self.name is not None:
            return pydev.merge_names(self.name, op.device or "")
        found = self.function(op)
        return compat.as_str(found.to_string() if pydev.is_device_spec(found) else found or "")


class _DeviceStack(list):
    """Entries from outer to inner; `plain` is their joint name, or None if a function has to be asked."""

    def __init__(self, *args):
        super().__init__(*args)
        name: Optional[str] = ""
        for entry in reversed(self):
            if entry.function is None:
                break
            if entry.name is None:
                name = None
                break
            name = pydev.merge_names(entry.name, name) if name else entry.name
        self.plain = name

    def peek_objs(self):
        return list(reversed(self))

    def copy(self):
        return _DeviceStack(self)


class _DeviceScope:
    """Context manager of Graph.device."""

    __slots__ = ("_graph", "_old", "_new", "_entry")

    def __init__(self, graph, name_or_function, frame):
        self._graph = graph
        self._entry = _UserDevice(name_or_function, frame)

    def __enter__(self):
        self._old = self._graph._device_function_stack
        self._new = self._graph._device_function_stack = _DeviceStack([*self._old, self._entry])

    def __exit__(self, *exc):
        if self._graph._device_function_stack is not self._new and not (exc and exc[0]):
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        self._graph._device_function_stack = self._old
        return False


class _ColocationScope:
    """Context manager of Graph.colocate_with. `entry` is the operation with its place in the program, or None."""

    __slots__ = ("_graph", "_entry", "_ignore_existing", "_old")

    def __init__(self, graph, entry, ignore_existing):
        self._graph = graph
        self._entry = entry
        self._ignore_existing = ignore_existing

    def __enter__(self):
        stacks = self._graph._stacks
        self._old = stacks.devices, stacks.colocation
        stacks.devices = _DeviceStack()
        stacks.colocation = ([] if self._ignore_existing else stacks.colocation) + \
            ([] if self._entry is None else [self._entry])

    def __exit__(self, *exc):
        stacks = self._graph._stacks
        stacks.devices, stacks.colocation = self._old
        return False


class _ControlDependencies:
    """Context manager of Graph.control_dependencies. Knows the operations that were built under it, which need no edge
    of their own from its control inputs when they feed one another."""

    __slots__ = ("_graph", "control_inputs", "_new_stack", "_seen", "_old_stack", "_old_context")

    def __init__(self, graph, control_inputs):
        self._graph = graph
        self._new_stack = control_inputs is None
        self.control_inputs = control_inputs or []
        self._seen = set()

    def __enter__(self):
        graph = self._graph
        if self._new_stack:
            self._old_stack = graph._control_dependencies_stack
            graph._control_dependencies_stack = []
            self._old_context = graph._control_flow_context
            graph._control_flow_context = None
        graph._control_dependencies_stack.append(self)

    def __exit__(self, *exc):
        graph = self._graph
        assert graph._control_dependencies_stack[-1] is self
        graph._control_dependencies_stack.pop()
        if self._new_stack:
            graph._control_dependencies_stack = self._old_stack
            graph._control_flow_context = self._old_context
        return False

    def add_op(self, op):
        self._seen.add(op)

    def op_in_group(self, op):
        return op in self._seen


class _Stacks:
    """The scopes that threads may have apart."""

    __slots__ = ("devices", "control_dependencies", "colocation")

    def __init__(self):
        self.devices, self.control_dependencies, self.colocation = _DeviceStack(), [], []


class _ThreadStacks(threading.local):
    """The same for each thread: it begins with what all had in common."""

    def __init__(self, common):
        super().__init__()
        self.devices = common.devices
        self.control_dependencies, self.colocation = common.control_dependencies[:], common.colocation[:]


def _stack(name):
    return property(lambda self: getattr(self._stacks, name), lambda self, value: setattr(self._stacks, name, value))


class ScopesMixin:
    """The scopes of a graph."""

    # The graph that has them.
    _core: Any
    _thread_local: Any
    as_graph_element: Callable

    _device_function_stack = _stack("devices")
    _control_dependencies_stack = _stack("control_dependencies")
    _colocation_stack = _stack("colocation")

    def _init_scopes(self):
        self._stacks: Any = _Stacks()
        self._device_function_stack = _DeviceStack()
        self._control_flow_context = None
        self._loops_without_gradient = set()  # frames of loops with back_prop=False
        self._default_original_op = None
        self._attr_scope_map = {}
        self._op_to_kernel_label_map = {}
        self._gradient_override_map = {}
        self._container = ""

    # Names

    @property
    def _name_stack(self):
        return getattr(self._thread_local, "name_stack", "")

    @_name_stack.setter
    def _name_stack(self, value):
        self._thread_local.name_stack = value or ""

    def name_scope(self, name):
        """Context manager that puts `name/` before the names of new operations; None or "" goes back to the top, a name
        that ends in "/" is taken as it is. Gives the scope's full name, with a slash."""
        return _NameScope(self, name)

    def get_name_scope(self):
        """The current scope's name, without a slash at the end."""
        return self._name_stack

    def _scope_below(self, name):
        """The full name of a new scope."""
        return self.unique_name(name)

    def unique_name(self, name, mark_as_used=True):
        """A name that no operation and no scope has yet, below the current scope."""
        scope = self._name_stack
        name = compat.as_str(name)
        return self._core.unique_name(f"{scope}/{name}" if scope else name, mark_as_used)

    # Devices

    def device(self, device_name_or_function):
        """Context manager under which operations get this device, or the one that the function names for them."""
        return self._device_scope(device_name_or_function, 2)

    def _device_scope(self, device_name_or_function, depth):
        return _DeviceScope(self, device_name_or_function, _frame_above(depth))

    @property
    def _device_functions_outer_to_inner(self):
        return [entry.function for entry in self._device_function_stack]

    def _add_device_to_stack(self, device_name_or_function, offset=0):
        entry = _UserDevice(device_name_or_function)
        self._device_function_stack = _DeviceStack([*self._device_function_stack, entry])
        return entry

    def _apply_device_functions(self, op):
        """Asks each entry of the stack, from the innermost on."""
        before = None
        for entry in reversed(self._device_function_stack):
            if entry.name == "":
                continue
            if entry.function is None:
                break
            found = entry.string_merge(op)
            if found != before:
                op._set_device_from_string(found)
                before = found

    # Control dependencies

    def control_dependencies(self, control_inputs):
        """Context manager under which operations run after `control_inputs` (operations, tensors or their names);
        None forgets all such dependencies, and the control-flow context."""
        if control_inputs is None:
            return _ControlDependencies(self, None)
        control_ops = []
        current = {op for c in self._control_dependencies_stack for op in c.control_inputs}
        for c in control_inputs:
            if hasattr(c, "_handle") and hasattr(c, "op") or getattr(c, "_is_indexed_slices", False):
                c = c.op
            c = self.as_graph_element(c)
            if isinstance(c, Tensor):
                c = c.op
            if c not in current:
                control_ops.append(c)
                current.add(c)
        return _ControlDependencies(self, control_ops)

    def _current_control_dependencies(self):
        return {op for c in self._control_dependencies_stack for op in c.control_inputs}

    def _control_dependencies_for_inputs(self, input_ops):
        """The control inputs that an operation with these inputs needs."""
        found: list = []
        for controller in self._control_dependencies_stack:
            if not any(op in controller._seen for op in input_ops):
                found.extend(c for c in controller.control_inputs if c not in input_ops)
        return found

    def _record_op_seen_by_control_dependencies(self, op):
        for controller in self._control_dependencies_stack:
            controller._seen.add(op)

    # Colocation

    def colocate_with(self, op, ignore_existing=False):
        """Context manager under which operations share the device of `op`; device scopes outside of it do not count.
        None, with `ignore_existing`, forgets colocation."""
        return self._colocation_scope(op, ignore_existing, 2)

    def _colocation_scope(self, op, ignore_existing, depth):
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        op = self._op_to_colocate_with(op)
        return _ColocationScope(self, None if op is None else TraceableObject(op, _frame_above(depth)), ignore_existing)

    @contextlib.contextmanager
    def _colocate_with_for_gradient(self, op, gradient_uid, ignore_existing=False):
        with self.colocate_with(op, ignore_existing):
            context = self._control_flow_context
            if gradient_uid is None or context is None:
                yield
                return
            context.EnterGradientColocation(op, gradient_uid)
            try:
                yield
            finally:
                context.ExitGradientColocation(op, gradient_uid)

    def _op_to_colocate_with(self: Any, value):
        if type(value) is Tensor:
            return value._op
        if value is None or hasattr(value, "_node") and hasattr(value, "colocation_groups"):
            return value
        handle = getattr(value, "handle", None)
        if getattr(handle, "_is_eager", False):
            return None  # it is no part of a graph
        if handle is not None and hasattr(handle, "op"):
            return self.capture(handle).op if self.building_function else handle.op
        return _converted(value, as_ref=True).op

    # Attributes, containers

    @contextlib.contextmanager
    def container(self, container_name):
        """Context manager under which stateful operations keep their state in this container."""
        original, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = original

    @contextlib.contextmanager
    def _original_op(self, op):
        original, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = original

    @contextlib.contextmanager
    def _attr_scope(self, attr_map):
        """Sets attributes of operations built under it: name -> AttrValue, a function of the NodeDef, or None."""
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers")
        for name, attr in attr_map.items():
            if not isinstance(name, str) or not (attr is None or callable(attr) or hasattr(attr, "WhichOneof")):
                raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers or "
                                "callables that emit AttrValue protocol buffers")
        with self._replaced("_attr_scope_map", attr_map):
            yield

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map):
        """Sets the kernel label of operations by their type."""
        _check_strings(op_to_kernel_label_map, "op_to_kernel_label_map")
        with self._replaced("_op_to_kernel_label_map", op_to_kernel_label_map):
            yield

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map):
        """Context manager under which operations of the given types get the gradient registered under another name."""
        _check_strings(op_type_map, "op_type_map")
        with self._replaced("_gradient_override_map", op_type_map):
            yield

    @contextlib.contextmanager
    def _replaced(self, field, changes):
        original = getattr(self, field)
        merged = {k: v for k, v in {**original, **changes}.items() if v is not None}
        setattr(self, field, merged)
        try:
            yield
        finally:
            setattr(self, field, original)

    def switch_to_thread_local(self):
        """From now on threads see only their own scopes: devices, control dependencies, colocation. Names are always
        so."""
        if not isinstance(self._stacks, _ThreadStacks):
            self._stacks = _ThreadStacks(self._stacks)

    @contextlib.contextmanager
    def _variable_creator_scope(self, creator, priority=100):
        old = self._variable_creator_stack
        new = sorted([*old, (priority, creator)], key=lambda item: item[0])
        self._thread_local.variable_creators = new
        try:
            yield
        finally:
            if self._thread_local.variable_creators is not new:
                raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
            self._thread_local.variable_creators = old

    @property
    def _variable_creator_stack(self):
        return getattr(self._thread_local, "variable_creators", [])

    @_variable_creator_stack.setter
    def _variable_creator_stack(self, value):
        self._thread_local.variable_creators = value


def _check_strings(mapping, what):
    if not isinstance(mapping, dict) or not all(isinstance(k, str) and isinstance(v, str) for k, v in mapping.items()):
        raise TypeError(f"{what} must be a dictionary mapping strings to strings")
