"""Whether errors are told without the frames of the package itself."""
import os

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_filtering = True


def is_traceback_filtering_enabled():
    """Whether tracebacks are said to leave out frames of the package itself."""
    return _filtering


def enable_traceback_filtering():
    """The usual state. Converted code keeps the program's own lines, so tracebacks here have little to leave out."""
    global _filtering
    _filtering = True


def disable_traceback_filtering():
    """Its opposite."""
    global _filtering
    _filtering = False


def include_frame(fname):
    """Whether a file is none of the package's own."""
    return not fname.startswith(_HERE)
