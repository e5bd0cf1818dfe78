"""Rules that say which modules' functions are converted."""
import enum


class Action(enum.Enum):
    """What a rule says of a module; NONE: nothing."""
    NONE = 0
    CONVERT = 1
    DO_NOT_CONVERT = 2


class Rule:
    """A rule for a module and those below it."""

    _action = Action.NONE

    def __init__(self, module_prefix):
        self._prefix = module_prefix

    def matches(self, module_name):
        """Whether it speaks of a module."""
        return module_name == self._prefix or module_name.startswith(self._prefix + ".")

    def get_action(self, module):
        """What it says of a module."""
        return self._action if self.matches(module.__name__) else Action.NONE

    def __str__(self):
        return f"{type(self).__name__} rule for {self._prefix}"


class DoNotConvert(Rule):
    """Functions of the module are called as they are."""
    _action = Action.DO_NOT_CONVERT


class Convert(Rule):
    """Functions of the module are converted."""
    _action = Action.CONVERT
