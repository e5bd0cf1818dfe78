"""Critical sections: what one of them runs, it runs alone."""
import collections
import threading

from penstock._src.graph import defaults, dtypes, gen, ops
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.base import nest

__all__ = ["CriticalSection"]

# Collections: the sections, and what runs within them.
CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"


_running = threading.local()  # .names: of the sections whose functions this thread is in, while ops run eagerly


class _Execution(collections.namedtuple("_Execution", "op handle resources exclusive_resource_access")):
    """What a section runs: the op that takes the lock, its handle, and the resources that are used under it."""


def _identity(value):
    if hasattr(value, "identity"):  # a TensorArray
        return value.identity()
    if isinstance(value, ops.Operation):
        return control_flow_ops.group(value)
    return value if value is None else array_ops.identity(value)


class CriticalSection:
    """A lock with which `execute` surrounds what it is given: executions of one section never overlap.

    Sections of the same `shared_name` in one session are one.
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def and name is not None:
            raise ValueError("critical_section_def and shared_name are mutually exclusive.")
        if critical_section_def:
            raise NotImplementedError("Not yet implemented")
        with ops.name_scope(name, "CriticalSection", []) as scope, ops.init_scope():
            container = defaults.get_default_graph()._container or ""
            shared_name = scope if shared_name is None else shared_name
            self._handle = gen.mutex_v2(shared_name=shared_name, container=container, name=scope)
            self._name, self._signature = scope, (container, shared_name)
        if not executing_eagerly():
            ops.add_to_collections(CRITICAL_SECTIONS, self)

    @property
    def name(self):
        return self._handle.op.name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` returns, run while the lock is held.

        fn: takes nothing and returns a nest of tensors or operations. exclusive_resource_access: no other section may
        use the same resources. ValueError: fn uses this section itself, or resources that another section uses.
        """
        if not executing_eagerly():
            return self._execute(fn, exclusive_resource_access, name)
        names = _running.__dict__.setdefault("names", [])
        if self._signature in names:
            raise ValueError(f"Attempting to lock a CriticalSection (signature={self._signature}) in which we are "
                             "already running.  This is illegal and would cause deadlocks.")
        names.append(self._signature)
        try:
            return self._execute(fn, exclusive_resource_access, name)
        finally:
            names.pop()

    def _execute(self, fn, exclusive_resource_access, name):
        with ops.name_scope(name, "critical_section_execute", []):
            lock = gen.mutex_lock(self._handle)
            graph = defaults.get_default_graph()
            eagerly = executing_eagerly()
            before = set() if eagerly else set(graph.get_operations())
            with ops.control_dependencies([lock]):
                result = fn()
            if not eagerly:
                self._check(lock, [op for op in graph.get_operations() if op not in before],
                            exclusive_resource_access)
            flat = [_identity(value) for value in nest.flatten(result)]
            with ops.control_dependencies(flat), ops.colocate_with(self._handle):
                unlocked = gen.consume_mutex_lock(lock)
            with ops.control_dependencies([unlocked] if unlocked is not None else []):
                return nest.pack_sequence_as(result, [_identity(value) for value in flat])

    def _check(self, lock, made, exclusive):
        """Checks what was made under the lock, and lets the lock wait for all that this needs from outside."""
        inside = {*made, lock.op}
        needed = {x.op for op in made for x in op.inputs} | {c for op in made for c in op.control_inputs}
        needed -= inside | set(lock.op.control_inputs) | {x.op for x in lock.op.inputs}
        if needed:
            lock.op._add_control_input(control_flow_ops.group(*sorted(needed, key=lambda op: op._id)))
        resources = list({id(x): x for op in made for x in op.inputs if x.dtype == dtypes.resource}.values())
        if any(self._is_own_handle(x) for x in resources):
            raise ValueError("The function fn attempts to directly access the CriticalSection in which it would be "
                             "running.  This is illegal and would cause deadlocks.")
        for other in ops.get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_own_handle(other.handle) or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [x for x in resources if any(x is y for y in other.resources)]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock (CriticalSection: "
                    f"{self._handle}) or lock '{other}' (CriticalSection: {other.handle}) requested exclusive resource "
                    "access of this resource.  Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?")
        ops.add_to_collections(CRITICAL_SECTION_EXECUTIONS, _Execution(lock.op, self._handle, resources, exclusive))

    def _is_own_handle(self, handle):
        own = self._handle
        return handle is own or (
            handle.op.type == "MutexV2" and own.op.type == "MutexV2"
            and handle.op.get_attr("shared_name") == own.op.get_attr("shared_name")
            and handle.op.device == own.op.device)
