"""Variables that have no value yet."""


class Undefined:
    """Stands for a variable that was not assigned. Using it is an UnboundLocalError."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        """UnboundLocalError."""
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self):
        return self.symbol_name

    def __getattribute__(self, name):
        if name in ("symbol_name", "read", "__class__"):
            return object.__getattribute__(self, name)
        object.__getattribute__(self, "read")()

    def _refuse(self, *args):
        object.__getattribute__(self, "read")()

    __getitem__ = __setitem__ = __call__ = __iter__ = __len__ = __bool__ = __add__ = __radd__ = __sub__ = _refuse
    __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __int__ = __float__ = __neg__ = __index__ = _refuse


class UndefinedReturnValue:
    """Stands for the result of a function that has not returned yet."""


def is_undefined(value):
    """Whether it stands for a variable without value."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def ld(v):
    """The value of a variable. UnboundLocalError if it has none."""
    return v.read() if isinstance(v, Undefined) else v


def ldu(load, name):
    """What `load` gives, or Undefined if the attribute or variable is not there."""
    try:
        return load()
    except (UnboundLocalError, AttributeError, KeyError, NameError):
        return Undefined(name)


def returned(value):
    """What a function gives back: None if it came to its end without a return."""
    return None if isinstance(value, UndefinedReturnValue) else value


def forget(load, attribute):
    """Takes an attribute away from the object that `load` gives, if it has it by now: another branch has set it."""
    try:
        delattr(load(), attribute)
    except (UnboundLocalError, NameError, AttributeError):
        pass
