"""A trackable object that stands before another one: it is saved and restored as that one."""


class DelegatingTrackableMixin:
    """Base class of a wrapper of a trackable object, whose parts and values are the object's."""

    def __init__(self, trackable_obj):
        self._trackable = trackable_obj

    @property
    def _setattr_tracking(self):
        return self._trackable._setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        self._trackable._setattr_tracking = value


def _delegated(name):
    def method(self, *args, **kwargs):
        return getattr(self._trackable, name)(*args, **kwargs)
    return method


def _delegated_property(name):
    return property(lambda self: getattr(self._trackable, name))


for _name in ("_maybe_initialize_trackable", "_lookup_dependency", "_add_variable_with_custom_getter",
              "_track_trackable", "_handle_deferred_dependencies", "_restore_from_checkpoint_position",
              "_single_restoration_from_checkpoint_position", "_gather_saveables_for_checkpoint",
              "_serialize_to_tensors", "_restore_from_tensors", "_trackable_children",
              "_list_extra_dependencies_for_serialization", "_list_functions_for_serialization",
              "_name_based_attribute_restore", "_preload_simple_restoration"):
    setattr(DelegatingTrackableMixin, _name, _delegated(_name))
for _name in ("_update_uid", "_unconditional_checkpoint_dependencies", "_unconditional_dependency_names",
              "_name_based_restores", "_object_identifier", "_checkpoint_dependencies", "_deferred_dependencies"):
    setattr(DelegatingTrackableMixin, _name, _delegated_property(_name))
