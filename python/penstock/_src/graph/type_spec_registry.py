"""tensorflow.python.framework.type_spec_registry: the names under which classes of specs are saved."""

_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_TYPE_SPEC_TO_NAME: dict[type, str] = {}


def register(name):
    """Class decorator: the class is saved as `name`, which has a dot. TypeError, ValueError: a bad or taken name."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if "." not in name:
        raise ValueError("Registered name must have the form '{project_name}.{type_name}'.")

    def decorator(cls):
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError(f"Class {cls.__module__}.{cls.__name__} has already been registered with name "
                             f"{_TYPE_SPEC_TO_NAME[cls]}.")
        if name in _NAME_TO_TYPE_SPEC:
            raise ValueError(f"Name {name} has already been registered for class "
                             f"{_NAME_TO_TYPE_SPEC[name].__module__}.{_NAME_TO_TYPE_SPEC[name].__name__}.")
        _NAME_TO_TYPE_SPEC[name], _TYPE_SPEC_TO_NAME[cls] = cls, name
        return cls
    return decorator


def get_name(cls):
    """The name of a class of specs. ValueError if it has none."""
    if not isinstance(cls, type):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def lookup(name):
    """The class of that name. ValueError if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]
