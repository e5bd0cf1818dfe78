"""What stands for the default graph while ops run as they are called: scopes as a graph has, and no nodes."""
import contextlib
import threading
from typing import Any

from penstock import _core
from penstock._src.graph import config
from penstock._src.graph import defaults
from penstock._src.graph import device_numbers
from penstock._src.graph import errors
from penstock._src.graph import op_callbacks
from penstock._src.graph import registry
from penstock._src.graph import tapes
from penstock._src.base import tf2
from penstock._src.graph.device_spec import DeviceSpecV2
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.function.func_graph import out_of_scope
from penstock._src.graph.graph import Graph, core_op_def
from penstock._src.graph.tensor import Tensor


_SPECIAL = frozenset(("Placeholder", "PlaceholderV2", "VarHandleOp"))


class EagerOperation:
    """An op that has run: its outputs, and what gradient functions written in Python want to know."""

    device = ""
    control_inputs = ()

    def __init__(self, graph, op_type, name, inputs, outputs, attrs):
        self._graph = graph
        self.type = op_type
        self.name = name
        self.inputs = inputs
        self._outputs = outputs
        self._attrs = attrs

    @property
    def outputs(self):
        """The tensors that it gave."""
        return self._outputs

    @property
    def graph(self):
        """What stands for its graph."""
        return self._graph

    def get_attr(self, name):
        """The value of an attribute. ValueError if it has none of this name."""
        from penstock._src.graph import dtypes
        definition = next((a for a in core_op_def(self.type).attrs if a.name == name), None)
        if name in self._attrs:
            value = self._attrs[name]
        elif definition is not None and definition.has_default:
            value = definition.default
        else:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        if definition is not None and definition.type == "type":
            return dtypes.as_dtype(value)
        if definition is not None and definition.type == "list(type)":
            return [dtypes.as_dtype(t) for t in value]
        return value

    def _set_attr(self, name, value):
        pass  # it has run

    def _get_control_flow_context(self):
        return None

    def values(self):
        """The outputs as a tuple."""
        return tuple(self._outputs)


def outside_of_scope(value):
    """What is said of a graph's tensor that something which runs at once is given."""
    if tf2.enabled() and isinstance(value, Tensor) and value.graph.building_function:
        return out_of_scope(value)
    return ("An op outside of the function building code is being passed a \"Graph\" tensor: "
            f"{value!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
            "TensorFlow collections to access it. Graph tensors leak out of a function that is built where it leaves "
            "its graph, as in tf.init_scope, or keeps them in outer variables.")




def _number_for_op(name):
    """The number of the device on which an op runs that asks for this one: where it is soft, and the task is ours, any
    will do."""
    try:
        return device_numbers.device_number(name)
    except errors.InvalidArgumentError:
        if not config.get_soft_device_placement():
            raise
        task = DeviceSpecV2.from_string(name).replace(device_type=None, device_index=None)
        return device_numbers.device_number(task.to_string())


def _python_gradient(op_type):
    """(whether a gradient was registered in Python, the function)."""
    items = registry.gradient_registry._items
    return (True, items[op_type]) if op_type in items else (False, None)


class EagerGraph(Graph):
    """The default graph of a thread that executes eagerly. All threads share one library of functions."""

    _eager = True
    _name_stack = ""  # one thread has one of these graphs

    def __init__(self):
        super().__init__()
        self._core = _core.eager_graph()

    # Scopes. The runtime must know of those that ops depend on.

    def _tell_scopes(self):
        fields = self.__dict__
        _core.eager_thread_scopes(sum(bool(fields.get(key)) for key in ("_devices", "_overrides", "_executor"))
                                  + op_callbacks.has_callbacks())

    @property
    def _device_function_stack(self):
        return self._devices

    @_device_function_stack.setter
    def _device_function_stack(self, devices):
        self._devices = devices
        self._tell_scopes()

    @property
    def _gradient_override_map(self):
        return self._overrides

    @_gradient_override_map.setter
    def _gradient_override_map(self, overrides):
        self._overrides = overrides
        self._tell_scopes()

    def _enter_name(self, scope):
        """Puts a name_scope's name on the stack; what entering it gives."""
        name, old = scope._name, self._name_stack
        scope._outside = old
        if not name:
            self._name_stack = ""
            return ""
        new = name[:-1] if name[-1] == "/" else f"{old}/{name}" if old else name
        self._name_stack = new
        return new + "/"

    def _scope_below(self, name):
        return f"{self._name_stack}/{name}" if self._name_stack else name

    def unique_name(self, name, mark_as_used=True):
        """As the default graph says, which is what programs ask for names of their own; nothing here needs them."""
        return defaults.plain_graph().unique_name(name, mark_as_used)

    def control_dependencies(self, control_inputs):
        """Does nothing: what was called has run."""
        for control in control_inputs or ():
            if callable(control):
                control()
        return contextlib.nullcontext()

    def _colocation_scope(self, op, ignore_existing, depth):
        """Does nothing: there is one device."""
        return contextlib.nullcontext()

    def _colocate_with_for_gradient(self, op, gradient_uid, ignore_existing=False):
        return contextlib.nullcontext()

    # Running

    def _new_op(self, op_type, inputs, name, attrs, compute_device=True):
        """Runs an op."""
        if op_type in _SPECIAL:
            if op_type != "VarHandleOp":
                raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
            attrs["shared_name"] = ANONYMOUS  # nothing else can name it; it lives as long as its handles
        registered = function = None
        if _core.tape_is_active():
            kind = op_type
            if self._gradient_override_map:
                kind = self._gradient_override_map.get(op_type, op_type)
            registered, function = _python_gradient(kind)
        try:
            if self._device_function_stack:
                outputs = _core.eager_execute(op_type, inputs, attrs, not registered,
                                              _number_for_op(self._device_function_stack.plain))
            else:
                outputs = _core.eager_execute(op_type, inputs, attrs, not registered)
        except TypeError:
            for value in inputs:
                if not isinstance(value, EagerTensor):
                    raise TypeError(outside_of_scope(value)) from None
            raise
        except errors.OpError as e:
            if name and name != op_type and type(name) is str:
                same: Any = type(e)
                raise same(None, None, f"{e.message} name: {name}") from None
            raise
        if op_callbacks.in_use and op_callbacks.should_invoke_op_callbacks():
            op_callbacks.invoke_op_callbacks(op_type, tuple(inputs), attrs, tuple(outputs), op_name=name)
        op = EagerOperation(self, op_type, name, inputs, outputs, attrs)
        if function is not None and _core.tape_wants(inputs):
            record(op, function)
        return op

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                  compute_shapes=True, compute_device=True):
        """Runs an op."""
        for i, value in enumerate(inputs):
            if not isinstance(value, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {value}")
        return self._create_op_internal(op_type, inputs, dtypes, input_types, name, attrs)

    def capture(self, tensor, name=None):
        """The tensor itself."""
        return tensor


# The shared name that stands for "no name" to the runtime.
ANONYMOUS = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def to_core(grad):
    """A gradient in the runtime's form."""
    from penstock._src.graph import conversion
    from penstock._src.graph import indexed_slices
    if grad is None or isinstance(grad, EagerTensor):
        return grad
    if isinstance(grad, indexed_slices.IndexedSlices):
        return (conversion.internal_convert_to_tensor(grad.values), conversion.internal_convert_to_tensor(grad.indices),
                None if grad.dense_shape is None else conversion.internal_convert_to_tensor(grad.dense_shape))
    return conversion.internal_convert_to_tensor(grad)


def from_core(grad):
    """A gradient as programs know it."""
    from penstock._src.graph import indexed_slices
    if isinstance(grad, tuple):
        return indexed_slices.IndexedSlices(*grad)
    return grad


def filled(grads, outputs):
    """Output gradients with zeros where nothing flows in."""
    from penstock._src.graph import gen
    return [gen.zeros_like(y) if g is None and (y.dtype.is_floating or y.dtype.is_complex) else from_core(g)
            for g, y in zip(grads, outputs)]


def record(op, function):
    """Tells the tapes that the gradient of an op that has run is a function of (op, *output gradients)."""
    def backward(dys):
        result = function(op, *filled(dys, op.outputs))
        if not isinstance(result, (list, tuple)):
            result = [result]
        if len(result) != len(op.inputs):
            raise ValueError(f"Num gradients {len(result)} generated for op {op.type} do not match num inputs "
                             f"{len(op.inputs)}")
        return [to_core(g) for g in result]

    record_function(op.inputs, op.outputs, backward)


class _Accumulators(threading.local):
    count = 0  # how many compute forward derivatives in this thread


accumulators = _Accumulators()


def record_function(inputs, outputs, backward):
    """Tells the tapes that a Python function computes the gradient of values. Where forward derivatives are computed it
    is called at once, as in TensorFlow: what it raises comes where the values are computed."""
    _core.tape_record(inputs, outputs, backward)
    if accumulators.count and _core.tape_wants(inputs):
        from penstock._src.graph import gen
        with tapes.stop_recording():
            backward([gen.ones_like(y) if y.dtype.is_floating or y.dtype.is_complex else None for y in outputs])



_core.eager_set_classes(EagerGraph, registry.gradient_registry._items)
