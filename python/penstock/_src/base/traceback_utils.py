"""Errors of version 2 are told without the frames of the package itself, but for the last one."""
import functools
import os
import types

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_filtering = True


def is_traceback_filtering_enabled():
    """Whether tracebacks leave out frames of the package itself."""
    return _filtering


def enable_traceback_filtering():
    """Leaves them out, which is the usual state."""
    global _filtering
    _filtering = True


def disable_traceback_filtering():
    """Keeps them, for whoever looks for a fault in the package."""
    global _filtering
    _filtering = False


def include_frame(fname):
    """Whether a file is none of the package's own."""
    return not fname.startswith((_HERE, "<op "))  # functions made of ops' definitions have no file


def filtered(error):
    """The error with a traceback of the program's own frames, or of the innermost one if there are none."""
    if not _filtering:
        return error
    rows, row = [], error.__traceback__
    while row is not None:
        rows.append(row)
        row = row.tb_next
    kept = [row for row in rows if include_frame(row.tb_frame.f_code.co_filename)] or rows[-1:]
    made = None
    for row in reversed(kept):
        made = types.TracebackType(made, row.tb_frame, row.tb_lasti, row.tb_lineno)
    return error.with_traceback(made)


def filter_traceback(fn):
    """Decorator of a function whose errors are told so."""
    @functools.wraps(fn)
    def call(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as e:
            raise filtered(e)
    return call
