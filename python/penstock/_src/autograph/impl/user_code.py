"""Errors of functions that are being traced, told in the lines of the program."""
import contextlib
import linecache
import threading

from penstock._src.graph import errors
from penstock._src.graph import stack
from penstock._src.base import tf2

_BUILT_IN = (Exception, AssertionError, AttributeError, LookupError, NameError, NotImplementedError, RuntimeError,
             TypeError, UnboundLocalError, ValueError)
_INITIALIZERS = frozenset(kind.__init__ for kind in _BUILT_IN)


class _KeyError(KeyError):
    """A KeyError that shows its message as it is, in several lines."""

    def __str__(self):
        return self._message


_KeyError.__name__ = _KeyError.__qualname__ = "KeyError"


class _Depth(threading.local):
    def __init__(self):
        self.depth = 0


_tracing = _Depth()


@contextlib.contextmanager
def described():
    """Context manager for what traces a program's function: errors that leave the outermost one say in their message
    which calls of the program led there. Errors of classes that are made of something else than a message stay."""
    _tracing.depth += 1
    try:
        yield
    except Exception as e:
        if _tracing.depth > 1:
            raise
        made = _with_message(e, _message(e))
        if made is None:
            raise
        made.__dict__.update((key, value) for key, value in e.__dict__.items() if key not in made.__dict__)
        try:
            raise made.with_traceback(e.__traceback__) from e.__cause__
        finally:
            del made  # or the error would keep itself, and all that its frames hold, until the next garbage collection
    finally:
        _tracing.depth -= 1


def _with_message(error, message):
    """An error of the same class with another message, or None."""
    kind = type(error)
    if message is None:
        return None
    if isinstance(error, errors.OpError):
        return kind(error.node_def, error.op, message) if kind is not errors.OpError else None
    if kind is KeyError:
        made = _KeyError(*error.args)
        made._message = message
        return made
    return kind(message) if kind.__init__ in _INITIALIZERS else None


def _frames(trace):
    """[code, line, whether it was converted] of the program's calls, outermost first. Branches and bodies of loops,
    which are functions of their own when converted, count as part of theirs."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not stack.is_ours(code):
            around = found[-1] if found else None
            inside = around is not None and around[2] and any(code is c for c in around[0].co_consts)
            entry = [code, trace.tb_lineno, inside or "ag__" in code.co_freevars]
            if inside and code.co_name == around[0].co_name:
                found[-1] = entry
            else:
                found.append(entry)
        trace = trace.tb_next
    return found


def _message(error):
    frames = _frames(error.__traceback__)
    if not frames:
        return None
    lines = ["in user code:" if tf2.enabled() else "in converted code:", ""]
    for code, line, converted in frames:
        file, mark = code.co_filename, "  *" if converted else ""
        lines += [f'    File "{file}", line {line}, in {code.co_name}{mark}' if tf2.enabled() else
                  f"    {file}:{line} {code.co_name}{mark}",
                  "        " + (linecache.getline(file, line).strip() or "<source unavailable>")]
    cause = f"{type(error).__name__}: {error}"
    return "\n".join([*lines, "", *("    " + line for line in cause.split("\n")), ""])
