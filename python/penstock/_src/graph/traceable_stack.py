"""Things with the place in the program where they were said."""
import sys


class TraceableObject:
    """A thing with a file and a line."""

    SUCCESS, HEURISTIC_USED, FAILURE = 0, 1, 2

    def __init__(self, obj, filename=None, lineno=None):
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset=0):
        """Takes the place of the caller, or of the one `offset` calls above it; HEURISTIC_USED if there are not so many
        calls: the outermost counts."""
        frame = sys._getframe(1)
        while offset > 0 and frame.f_back is not None:
            frame, offset = frame.f_back, offset - 1
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return self.HEURISTIC_USED if offset > 0 else self.SUCCESS

    def copy_metadata(self):
        """The place without the thing."""
        return type(self)(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of TraceableObjects."""

    def __init__(self, existing_stack=None):
        self._stack = list(existing_stack or ())

    def push_obj(self, obj, offset=0):
        """Puts a thing on top with the place of the caller, or of the one `offset` calls above it."""
        entry = TraceableObject(obj)
        self._stack.append(entry)
        return entry.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self):
        """Takes the thing on top away and returns it."""
        return self._stack.pop().obj

    def peek_top_obj(self):
        """The thing on top."""
        return self._stack[-1].obj

    def peek_objs(self):
        """The things from the top on."""
        return (entry.obj for entry in reversed(self._stack))

    def peek_traceable_objs(self):
        """The entries from the top on."""
        return reversed(self._stack)

    def __len__(self):
        return len(self._stack)

    def copy(self):
        """Another stack of the same entries."""
        return TraceableStack(self._stack)
