"""AutoTrackable: what is assigned to its attributes becomes a part."""
import contextlib
import copy
import functools
import os
import sys
import warnings
import weakref

from penstock._src.graph import context
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.ops.state import base
from penstock._src.ops.state import data_structures

_resource_trackers = []


class NotTrackable:
    """Base of what cannot be saved in object-based checkpoints."""

    _not_trackable = True


class AutoTrackable(base.Trackable):
    """A Trackable whose attributes are its parts, if they are trackable; lists and dictionaries are wrapped."""

    def __setattr__(self, name, value):
        try:
            if getattr(self, name) is value:
                # Also `self.l += [...]`, which has changed the list itself.
                return
        except AttributeError:
            pass
        if getattr(self, "_self_setattr_tracking", True):
            value = data_structures.sticky_attribute_assignment(trackable=self, value=value, name=name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self._delete_tracking(name)
        super().__delattr__(name)

    def _add_trackable_child(self, name, value):
        setattr(self, name, value)

    def _delete_tracking(self, name):
        """Forgets the part of that name."""
        self._maybe_initialize_trackable()
        delete_tracking(self, name)

    def _no_dependency(self, value):
        return data_structures.NoDependency(value)

    def _list_functions_for_serialization(self, serialization_cache):
        functions = {}
        for name in dir(self):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # nobody has asked for this property
                    value = getattr(self, name, None)
            except Exception:
                continue  # a property that cannot be computed now
            if base.is_function(value):
                functions[name] = value
        # Tracing may make variables: first all functions are traced, then parts are looked for.
        for value in functions.values():
            if hasattr(value, "_list_all_concrete_functions_for_serialization"):
                value._list_all_concrete_functions_for_serialization()
        return functions

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        if save_type != "savedmodel":
            return super()._trackable_children(save_type, **kwargs)
        functions = self._list_functions_for_serialization(kwargs.get("cache"))
        return {**super()._trackable_children("checkpoint", **kwargs),
                **self._list_extra_dependencies_for_serialization(kwargs.get("cache")), **functions}


def delete_tracking(obj, name):
    """Forgets the part of that name."""
    obj._maybe_initialize_trackable()
    if obj._unconditional_dependency_names.pop(name, None) is not None:
        parts = obj._unconditional_checkpoint_dependencies
        parts[:] = [part for part in parts if part.name != name]


class ResourceTracker:
    """Collects the resources that are made inside `resource_tracker_scope`."""

    def __init__(self):
        self._resources = []

    @property
    def resources(self):
        """The resources."""
        return self._resources

    def add_resource(self, resource):
        """Adds one."""
        self._resources.append(resource)


@contextlib.contextmanager
def resource_tracker_scope(resource_tracker):
    """Inside, new TrackableResources are told to a tracker."""
    _resource_trackers.append(resource_tracker)
    try:
        yield
    finally:
        _resource_trackers.remove(resource_tracker)


class CapturableResource(base.Trackable):
    """A stateful object, such as a table, whose handle is made when first asked for."""

    def __init__(self, device="", deleter=None):
        self._resource_handle = None
        self._resource_device = device
        self._resource_deleter = deleter

    def _create_resource(self):
        """The handle."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _create_in_graph(self, tensor_map):
        """The handle in the graph of a SavedModel. tensor_map: {tensor of the program: the one there}."""
        return self._create_resource()

    def _initialize(self):
        """Fills the object."""

    def _destroy_resource(self):
        """Takes the object away, where it does not go with its handle."""

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        copied = copy.copy(self)
        with ops.device(self._resource_device):
            copied._resource_handle = copied._create_in_graph(tensor_map)
        object_map[self] = copied
        tensor_map[self.resource_handle] = copied._resource_handle
        return [self.resource_handle]

    @property
    def resource_handle(self):
        """The handle."""
        if self._resource_handle is None:
            # A function that asks first captures it, as all others do.
            with ops.init_scope() if tf2.enabled() else contextlib.nullcontext(), ops.device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def __del__(self):
        handle = self.__dict__.get("_resource_handle")
        if handle is None or not getattr(handle, "_is_eager", False) or sys.is_finalizing():
            return
        try:
            with context.eager_mode():
                self._destroy_resource()
        except Exception:  # noqa: BLE001 (nobody is there to be told)
            pass


class TrackableResource(CapturableResource):
    """A CapturableResource that trackers of resources are told of."""

    def __init__(self, device="", deleter=None):
        for tracker in _resource_trackers:
            tracker.add_resource(self)
        super().__init__(device=device, deleter=deleter)


class RestoredResource(TrackableResource):
    """A resource of a SavedModel: functions that were saved make, fill and destroy it."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if isinstance(value, base.Trackable):
            self._track_trackable(value, name, overwrite=True)

    def _create_in_graph(self, tensor_map):
        trace, = self._create_resource.concrete_functions
        return trace._call_flat([], [ops.convert_to_tensor(tensor_map.get(t, t)) for t in trace.captured_inputs])


class TrackableAsset(base.Trackable):
    """A file that a SavedModel takes with it."""

    def __init__(self, path):
        path = os.fspath(path) if isinstance(path, os.PathLike) else path
        with ops.init_scope(), ops.device("CPU"):
            self._path = ops.convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self):
        """Its path, as a tensor."""
        return self._path

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        from penstock._src.core_ops import array_ops
        from penstock._src.ops.state import resource_variable_ops
        # Who loads the graph feeds the path; functions read it from a variable.
        path = array_ops.placeholder(dtypes.string, self._path.shape, name="asset_path_initializer")
        tensor_map[self._path] = resource_variable_ops.ResourceVariable(path)
        return [self._path]


def cached_per_instance(f):
    """A decorator of functions of one object: each object's value is computed once, and not kept alive by it."""
    cache = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def wrapped(item):
        output = cache.get(item)
        if output is None:
            cache[item] = output = f(item)
        return output

    wrapped.cache = cache
    return wrapped


Asset = TrackableAsset  # its name in version 2

ops.register_tensor_conversion_function(
    TrackableAsset, lambda asset, dtype=None, name=None, as_ref=False: ops.convert_to_tensor(asset.asset_path, dtype))
