"""tf.flags: command-line flags. absl's if it is installed, so that a program and absl share them, else our own.

As programs of version 1 expect, FLAGS reads the command line when the first value is asked for, whether or not the
program runs by tf.app.run, and the functions that define flags know the older names of their arguments.
"""
import functools
import sys

try:
    from absl.flags import *  # noqa: F403
    from absl.flags import DEFINE_boolean, DEFINE_float, DEFINE_integer, DEFINE_string, disclaim_key_flags
    from absl.flags import FLAGS as _flags
    disclaim_key_flags()  # a flag belongs to the module that calls the functions below
except ImportError:
    from penstock._src.files.own_flags import *  # noqa: F403
    from penstock._src.files.own_flags import DEFINE_boolean, DEFINE_float, DEFINE_integer, DEFINE_string
    from penstock._src.files.own_flags import FLAGS as _flags

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(define):
    @functools.wraps(define)
    def wrapper(*args, **kwargs):
        return define(*args, **{_OLD_NAMES.get(name, name): value for name, value in kwargs.items()})

    return wrapper


class _Flags:
    """All flags; stands for absl's FlagValues, which refuses to give values before the command line is read."""

    def __init__(self, flags):
        self.__dict__["_wrapped"] = flags

    def __getattribute__(self, name):
        if name == "__dict__":
            return object.__getattribute__(self, name)
        return self.__dict__["_wrapped"].__getattribute__(name)

    def __getattr__(self, name):
        flags = self.__dict__["_wrapped"]
        if not flags.is_parsed():
            flags(sys.argv)
        return getattr(flags, name)

    def __setattr__(self, name, value):
        setattr(self.__dict__["_wrapped"], name, value)

    def __delattr__(self, name):
        delattr(self.__dict__["_wrapped"], name)

    def __getitem__(self, name):
        return self.__dict__["_wrapped"][name]

    def __setitem__(self, name, flag):
        self.__dict__["_wrapped"][name] = flag

    def __contains__(self, name):
        return name in self.__dict__["_wrapped"]

    def __iter__(self):
        return iter(self.__dict__["_wrapped"])

    def __len__(self):
        return len(self.__dict__["_wrapped"])

    def __dir__(self):
        return dir(self.__dict__["_wrapped"])

    def __str__(self):
        return str(self.__dict__["_wrapped"])

    def __call__(self, *args, **kwargs):
        return self.__dict__["_wrapped"](*args, **kwargs)


DEFINE_string = _with_old_names(DEFINE_string)
DEFINE_boolean = DEFINE_bool = _with_old_names(DEFINE_boolean)
DEFINE_float = _with_old_names(DEFINE_float)
DEFINE_integer = _with_old_names(DEFINE_integer)
FLAGS = _Flags(_flags)
