"""The calls that led here, as the traceback module lists them."""
import collections
import linecache
import sys
import traceback

StackFrame = collections.namedtuple("StackFrame", ["filename", "lineno", "name", "globals", "func_start_lineno"])


def extract_stack(limit=-1):
    """The StackFrames from the outermost call to the caller's; the last `limit` of them, if it is a count."""
    frames, frame = [], sys._getframe(1)
    while frame is not None and (limit is None or limit < 0 or len(frames) < limit):
        code = frame.f_code
        frames.append(StackFrame(code.co_filename, frame.f_lineno, code.co_name, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back
    return frames[::-1]


def convert_stack(stack, include_func_start_lineno=False):
    """(file, line, function, text of the line) of each frame, and the line where the function begins, if it is
    wanted."""
    rows = []
    for frame in stack:
        linecache.checkcache(frame.filename)
        line = linecache.getline(frame.filename, frame.lineno, frame.globals).strip() or None
        rows.append((frame.filename, frame.lineno, frame.name, line) +
                    ((frame.func_start_lineno,) if include_func_start_lineno else ()))
    return tuple(rows)


def format_stack(stack):
    """The frames as lines of text."""
    return traceback.format_list(list(convert_stack(stack)))
