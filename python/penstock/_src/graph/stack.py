"""Where in the program a node was built: recorded cheaply, formatted when somebody asks."""
import linecache
import os

from penstock import _core

capture = _core.capture_stack


def line_of(code, offset):
    """The line of the instruction at `offset`."""
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            if start <= offset < end and line is not None:
                return line
        return code.co_firstlineno
    import dis
    found = code.co_firstlineno
    for start, line in dis.findlinestarts(code):
        if start > offset:
            break
        found = line
    return found


def convert(frames, first_lines=False):
    """Tuples (file, line, function, text of the line), outermost first; also the function's first line if asked for."""
    result, frames = [], without_runner(frames)
    for i in range(len(frames) - 2, -2, -2):
        code = frames[i]
        if code.co_filename.startswith("<op "):
            continue  # a made op function has no source to show
        line = line_of(code, frames[i + 1])
        text = linecache.getline(code.co_filename, line).strip() or None
        entry = (code.co_filename, line, code.co_name, text)
        result.append(entry + (code.co_firstlineno,) if first_lines else entry)
    return result


_HERE = __file__[:-len("_src/graph/stack.py")]


def is_ours(code):
    """Whether code is of this package."""
    return code.co_filename.startswith((_HERE, "<op "))


_RUNNER = os.path.join(_HERE, "alias", "runner.py")


def without_runner(frames):
    """The frames of a program that `python -m penstock` runs, without those that run it."""
    for i in range(0, len(frames), 2):
        if frames[i].co_filename == _RUNNER:
            return frames[:i]
    return frames


_KERAS = tuple(os.sep + os.path.join(package, "src") + os.sep for package in ("keras", "tf_keras"))


def user_line(frames):
    """(file, line) of the innermost frame outside this package and Keras, or of Keras if there is no other, or None."""
    keras = None
    frames = without_runner(frames)
    for i in range(0, len(frames), 2):
        if not is_ours(frames[i]):
            line = frames[i].co_filename, line_of(frames[i], frames[i + 1])
            if not any(package in line[0] for package in _KERAS):
                return line
            keras = keras or line
    return keras


def user_frames(frames):
    """The frames outside this package."""
    frames = without_runner(frames)
    return tuple(x for i in range(0, len(frames), 2) if not is_ours(frames[i]) for x in frames[i:i + 2])
