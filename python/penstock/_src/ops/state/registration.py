"""Classes and savers of a program's own kinds of objects, known to checkpoints and SavedModels by registered names."""
import inspect
import re

from penstock._src.base import tf_logging as logging

_VALID_NAME = re.compile(r"^[a-zA-Z0-9._-]+$")


class _Registry:
    """{"PACKAGE.NAME": (predicate, what is registered)}; what was registered last is asked first."""

    def __init__(self, name):
        self._name = name
        self._rows = {}

    def register(self, package, name, predicate, candidate):
        """Adds a row. TypeError, ValueError: it cannot be one, or the name is taken."""
        if not isinstance(package, str) or not isinstance(name, str):
            raise TypeError(f"The package and name registered to a {self._name} must be strings, got: "
                            f"package={type(package)}, name={type(name)}")
        if not callable(predicate):
            raise TypeError(f"The predicate registered to a {self._name} must be callable, got: {type(predicate)}")
        full = f"{package}.{name}"
        if not _VALID_NAME.match(full):
            raise ValueError(f"Invalid registered {self._name}. Please check that the package and name follow the "
                             f"regex '{_VALID_NAME.pattern}': (package='{package}', name='{name}')")
        if full in self._rows:
            raise ValueError(f"The name '{full}' has already been registered to a {self._name}. Found: "
                             f"{self._rows[full][1]}")
        self._rows[full] = predicate, candidate

    def name_of(self, obj):
        """The name of the row whose predicate takes an object, or None."""
        return next((name for name, (takes, _) in reversed(self._rows.items()) if takes(obj)), None)

    def row(self, name):
        """(predicate, what is registered), or None."""
        return self._rows.get(name)

    def registered(self, name):
        """What is registered. LookupError: nothing is."""
        if name not in self._rows:
            raise LookupError(f"The {self._name} registry does not have name '{name}' registered.")
        return self._rows[name][1]


_classes = _Registry("serializable class")
_savers = _Registry("checkpoint saver")


def register_serializable(package="Custom", name=None, predicate=None):
    """A decorator of classes of trackable objects, which a SavedModel then knows by "PACKAGE.NAME" and loads by the
    class' `_deserialize_from_proto(proto, object_proto, dependencies, ...)`; what `_serialize_to_proto` gave is in
    `proto`. `predicate(obj)`: which objects are such; by default, instances."""

    def decorate(cls):
        if not inspect.isclass(cls):
            raise TypeError(f"Registered serializable must be a class: {cls}")
        takes = predicate if predicate is not None else lambda obj: isinstance(obj, cls)
        _classes.register(package, cls.__name__ if name is None else name, takes, cls)
        return cls

    return decorate


def get_registered_class_name(obj):
    """The name that a SavedModel gives an object's class, or None."""
    return _classes.name_of(obj)


def get_registered_class(registered_name):
    """The class of that name, or None."""
    row = _classes.row(registered_name)
    return None if row is None else row[1]


def register_checkpoint_saver(package="Custom", name=None, predicate=None, save_fn=None, restore_fn=None,
                              strict_predicate_restore=True):
    """Registers functions that save and restore, together, all objects that `predicate(obj)` takes.

    `save_fn(trackables, file_prefix)`: writes {name in the checkpoint: object} with `SaveV2` and gives the prefixes
    of what it wrote, a string tensor or a list of these. `restore_fn(trackables, merged_prefix)` reads them from the
    whole checkpoint. strict_predicate_restore: whether it is an error that an object was saved so, and the one to be
    restored is none that `predicate` takes; otherwise it is left alone.
    """
    for what, function in (("save_fn", save_fn), ("restore_fn", restore_fn)):
        if not callable(function):
            raise TypeError(f"The {what} must be callable, got: {type(function)}")
    _savers.register(package, name, predicate, (save_fn, restore_fn, strict_predicate_restore))


def get_registered_saver_name(trackable):
    """The name of the saver of an object, or None."""
    return _savers.name_of(trackable)


def get_save_function(registered_name):
    """The function that saves. LookupError: there is no such saver."""
    return _savers.registered(registered_name)[0]


def get_restore_function(registered_name):
    """The function that restores. LookupError: there is no such saver."""
    return _savers.registered(registered_name)[1]


def get_strict_predicate_restore(registered_name):
    """Whether an object that the saver does not take must not be restored from one that it saved."""
    row = _savers.row(registered_name)
    if row is None:
        logging.warning("Registered saver %s was not found when restoring checkpoints.", registered_name)
    return row is not None and row[1][2]


def takes(registered_name, trackable):
    """Whether there is a saver of that name, and it takes the object."""
    row = _savers.row(registered_name)
    return row is not None and bool(row[0](trackable))


def validate_restore_function(trackable, registered_name):
    """ValueError: there is no saver of that name, or it does not take the object."""
    if _savers.row(registered_name) is None:
        raise ValueError(f"Error when restoring object {trackable} from checkpoint. This object was saved using a "
                         f"registered saver named '{registered_name}', but this saver cannot be found in the current "
                         "context.")
    if not takes(registered_name, trackable):
        raise ValueError(f"Object {trackable} was saved with the registered saver named '{registered_name}'. However, "
                         "this saver cannot be used to restore the object because the predicate does not pass.")
