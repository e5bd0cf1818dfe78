"""What decorators that change docs are made of."""
import inspect


def get_qualified_name(function):
    """The name, with that of the class of a method."""
    return getattr(function, "__qualname__", None) or function.__name__


def add_notice_to_docstring(doc, instructions, no_doc_str, suffix_str, notice):
    """A docstring with a suffix behind its first line and a warning below it; `no_doc_str` stands for a missing one.

    notice: the lines of the warning, which get a prefix. ValueError if there are none.
    """
    lines = (inspect.cleandoc(doc).strip().splitlines() if doc else []) or [no_doc_str]
    if doc:
        lines[0] += " " + suffix_str
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    notice[0] = "Warning: " + notice[0]
    added = ["", *notice] + ([instructions] if instructions else [])
    if len(lines) > 1 and lines[1].strip():
        added.append("")
    return "\n".join(lines[:1] + added + lines[1:])


def validate_callable(func, decorator_name):
    """ValueError if `func` cannot be called, such as a property that was decorated in the wrong order."""
    if not callable(func):
        raise ValueError(f"{func} is not a function. If this is a property, make sure @property appears before "
                         f"@{decorator_name} in your source code:\n\n@property\n@{decorator_name}\ndef method(...)")


class classproperty:  # noqa: N801
    """Decorator of a method that makes it a property of the class."""

    def __init__(self, func):
        self._func = func

    def __get__(self, owner_self, owner_cls):
        return self._func(owner_cls)
