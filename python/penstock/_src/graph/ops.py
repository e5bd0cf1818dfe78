"""Graphs, operations, tensors and the scopes of the default graph: the names of TensorFlow's
python/framework/ops.py."""
import contextlib
import re
from typing import Any

from penstock import _core
from penstock._src.graph import defaults
from penstock._src.base import mode as mode_module
from penstock._src.graph import registry
from penstock._src.graph.conversion import (  # noqa: F401
    as_graph_element as _as_graph_element, convert_n_to_tensor, convert_n_to_tensor_or_indexed_slices,
    convert_to_tensor, convert_to_tensor_or_composite, convert_to_tensor_or_indexed_slices, convert_to_tensor_v2,
    executing_eagerly, get_graph_from_inputs, get_graph_from_inputs as _get_graph_from_inputs,
    internal_convert_n_to_tensor, internal_convert_n_to_tensor_or_indexed_slices, internal_convert_to_tensor,
    internal_convert_to_tensor_or_composite, internal_convert_to_tensor_or_indexed_slices,
    register_tensor_conversion_function)
from penstock._src.graph.defaults import (  # noqa: F401
    _default_graph_stack, _default_session_stack, default_session, executing_eagerly_outside_functions,
    get_default_graph, get_default_session, has_default_graph, inside_function, reset_default_graph)
from penstock._src.graph.graph import Graph, uid  # noqa: F401
from penstock._src.graph.graph_keys import GraphKeys  # noqa: F401
from penstock._src.graph.indexed_slices import IndexedSlices, IndexedSlicesValue  # noqa: F401
from penstock._src.base.mode import (  # noqa: F401
    disable_tensor_equality, enable_numpy_style_slicing, enable_tensor_equality, is_auto_dtype_conversion_enabled,
    is_numpy_style_type_promotion, set_dtype_conversion_mode)
from penstock._src.graph.operation import Operation  # noqa: F401
from penstock._src.graph.registry import (  # noqa: F401
    NoGradient, NotDifferentiable, OpStats, RegisterGradient, RegisterShape, RegisterStatistics,
    get_collection_proto_type, get_from_proto_function, get_gradient_function, get_stats_for_node_def,
    get_to_proto_function, register_proto_function)
from penstock._src.graph.scopes import name_from_scope_name  # noqa: F401
from penstock._src.graph.tensor import Tensor, is_dense_tensor_like, register_dense_tensor_like_type  # noqa: F401
from penstock._src.graph.tensor_like import _TensorLike  # noqa: F401
from penstock._src.base import compat

_gradient_registry = registry.gradient_registry
_shape_registry = registry.shape_registry
_proto_function_registry = registry.proto_function_registry


class name_scope:  # noqa: N801
    """Context manager that puts a name before those of new operations; gives the scope's full name, with a slash.

    name: the name; if it is None, `default_name`. A name that ends in a slash is taken as it is.
    values: inputs whose graph becomes the default one inside. ValueError if they are of several graphs.
    skip_on_eager: changes nothing; names matter to summaries only when ops run eagerly.
    """

    _outside: str
    __slots__ = ("_name", "_default_name", "_values", "_scope", "_graph_scope", "_outside")

    def __init__(self, name, default_name=None, values=None, skip_on_eager=True):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to "
                            "pass this into the `values` kwarg.")
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values

    @property
    def name(self):
        """The name given, or the default one."""
        return self._name

    def __enter__(self):
        if self._name is None and self._values is not None:
            raise ValueError(f"At least one of name ({self._name}) and default_name ({self._default_name}) must be "
                             "provided.")
        graph = defaults.get_default_graph()
        self._graph_scope = None
        if graph._eager:
            self._scope = graph
            return graph._enter_name(self)
        if self._values and not graph.building_function:
            found = get_graph_from_inputs(self._values)
            if found is not graph:
                graph = found
                self._graph_scope = graph.as_default()
                self._graph_scope.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            if self._graph_scope is not None:
                self._graph_scope.__exit__(None, None, None)
            raise

    def __exit__(self, *exc):
        if getattr(self._scope, "_eager", False):
            self._scope._name_stack = self._outside
            return False
        self._scope.__exit__(*exc)
        if self._graph_scope is not None:
            self._graph_scope.__exit__(*exc)
        return False

    def __call__(self, function):
        """As a decorator: the function's operations get the scope."""
        import functools

        @functools.wraps(function)
        def scoped(*args, **kwargs):
            with name_scope(self._name, self._default_name, self._values):
                return function(*args, **kwargs)
        return scoped


name_scope_v1 = name_scope


class name_scope_v2(name_scope):  # noqa: N801
    """Version 2's name_scope: a name and nothing else. May be entered again while it is open."""

    __slots__ = ("_open",)

    def __init__(self, name):
        if name is None or not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)
        self._open = []

    def __enter__(self):
        scope = get_default_graph().name_scope(self._name)
        name = scope.__enter__()
        self._open.append(scope)
        return name

    def __exit__(self, *exc):
        return self._open.pop().__exit__(*exc)


@contextlib.contextmanager
def op_scope(values, name, default_name=None):
    """name_scope with its arguments in another order."""
    with name_scope(name, default_name=default_name, values=values) as scope:
        yield scope


class NullContextmanager:
    """Does nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return False


def device(device_name_or_function):
    """Graph.device of the default graph."""
    if callable(device_name_or_function) and get_default_graph()._eager:
        raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
    return get_default_graph()._device_scope(device_name_or_function, 2)


def device_v2(device_name):
    """Graph.device of the default graph, for names only."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return device(device_name)


def container(container_name):
    """Graph.container of the default graph."""
    return get_default_graph().container(container_name)


def control_dependencies(control_inputs):
    """Graph.control_dependencies of the default graph. Eager operations have run all that they depend on."""
    if executing_eagerly():
        for control in control_inputs if isinstance(control_inputs, (list, tuple)) else ():
            if callable(control):
                control()
        return contextlib.nullcontext()
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op, ignore_existing=False):
    """Graph.colocate_with of the default graph. In a function's body, beside an eager value: on its device."""
    graph = get_default_graph()
    if getattr(op, "_is_eager", False) and graph.building_function:
        return graph.device(op.device)
    return graph._colocation_scope(op, ignore_existing, 2)


def _colocate_with_for_gradient(op, gradient_uid, ignore_existing=False):
    return get_default_graph()._colocate_with_for_gradient(op, gradient_uid, ignore_existing)


@contextlib.contextmanager
def init_scope():
    """Lifts operations out of control dependencies, control flow and function bodies, for initial values."""
    graph = get_default_graph()
    if not (graph.building_function or graph._eager or graph._control_dependencies_stack
            or graph._control_flow_context is not None):
        yield  # there is nothing to be lifted out of
        return
    scope = graph.get_name_scope()
    scope = scope + "/" if scope else None
    outer = graph
    if graph.building_function:
        outer = next((g for g in reversed(_default_graph_stack.stack) if not g.building_function), None) \
            or _default_graph_stack._GetGlobalDefaultGraph()
    with outer.as_default(), outer.name_scope(scope), outer.control_dependencies(None):
        devices = outer._device_function_stack
        for inner in [graph, *reversed(_default_graph_stack.stack)]:
            if inner._device_function_stack or inner is outer:
                outer._device_function_stack = inner._device_function_stack
                break
        try:
            yield
        finally:
            outer._device_function_stack = devices


def add_to_collection(name, value):
    """Graph.add_to_collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Graph.add_to_collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection_ref(key):
    """Graph.get_collection_ref of the default graph."""
    return get_default_graph().get_collection_ref(key)


def get_collection(key, scope=None):
    """Graph.get_collection of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_all_collection_keys():
    """Graph.get_all_collection_keys of the default graph."""
    return get_default_graph().get_all_collection_keys()


def constant_on_device(name, value, dtype):
    """A constant on a device."""
    with device(name):
        return _constant_op.constant(value, dtype)


def get_name_scope():
    """The name scope of the default graph."""
    return get_default_graph().get_name_scope()


get_current_name_scope = get_name_scope  # as version 2 calls it


def _assert_same_graph(original_item, item):
    if original_item.graph is not item.graph:
        raise ValueError(f"{item} must be from the same graph as {original_item}.")


def get_resource_handle_data(graph_op):
    """[(type number, shape)] behind a resource, or None."""
    if graph_op._is_eager:
        return _core.eager_handle_data(graph_op)
    return graph_op.graph._core.handle_data(*graph_op._key)


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Makes ops of the whole process run as they are called. ValueError once a graph has been built."""
    from penstock._src.graph import context
    context.enable_eager_execution(config, device_policy, execution_mode)


def enable_eager_execution_internal(config=None, device_policy=None, execution_mode=None, server_def=None):
    """As `enable_eager_execution`; a process that is eager already has a context again if that was taken away."""
    enable_eager_execution(config, device_policy, execution_mode)


def disable_eager_execution():
    """Makes ops build graphs."""
    mode_module.disable_eager_execution()


def strip_name_scope(name, export_scope):
    """The name without a scope at its beginning; marks such as "^" and "loc:@" stay."""
    if not export_scope:
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(rf"([\^]|loc:@|^){scope}[\/]+(.*)", r"\1\2", compat.as_str(name), count=1)


def prepend_name_scope(name, import_scope):
    """The name with a scope put before it, behind marks such as "^" and "loc:@"."""
    if not import_scope:
        return name
    match: Any = re.match(r"(\^|loc:@|)(.*)", compat.as_str(name), re.S)
    mark, rest = match.groups()
    return f"{mark}{import_scope.rstrip('/')}/{rest}"


def dismantle_graph(graph):
    """Kept for programs that call it; a graph frees itself."""


from penstock._src.graph import constant_op as _constant_op  # noqa: E402, F401  (registers how values become tensors)
