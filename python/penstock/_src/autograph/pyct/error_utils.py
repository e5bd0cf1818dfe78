"""Errors of rewritten code, told in the lines of the original."""
import collections

from penstock._src.autograph.pyct import origin_info
from penstock._src.base import traceback_utils


class FrameInfo(collections.namedtuple("FrameInfo", (
        "filename", "lineno", "function_name", "code", "is_converted", "is_allowlisted"))):
    """A line of a traceback; is_converted: of rewritten code, is_allowlisted: called as it is by the converter."""
    __slots__ = ()


def _translated(trace, source_map, converter_filename):
    """FrameInfos of a trace, innermost first, up to the first of rewritten code."""
    frames = []
    for filename, line, function, text in reversed(trace):
        origin = source_map.get(origin_info.LineLocation(filename=filename, lineno=line))
        if origin is not None:
            return (*frames, FrameInfo(origin.loc.filename, origin.loc.lineno, origin.function_name,
                                       origin.source_code_line, True, False))
        if filename != converter_filename:
            frames.append(FrameInfo(filename, line, function, text, False, False))
        elif frames:
            frames[-1] = frames[-1]._replace(is_allowlisted=True)
    return tuple(frames)


KNOWN_STRING_CONSTRUCTOR_ERRORS = (AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError,
                                   StopIteration, TypeError, UnboundLocalError, ValueError)


class MultilineMessageKeyError(KeyError):
    """A KeyError whose message is shown as it is."""

    def __init__(self, message, original_key):
        super().__init__(original_key)
        self._message = message

    def __str__(self):
        return self._message


MultilineMessageKeyError.__name__ = KeyError.__name__


class ErrorMetadataBase:
    """What an error of rewritten code has with it: the trace in the original's lines.

    callsite_tb: (file, line, function, text) of each frame. cause_metadata: that of the error within, or None.
    converter_filename: the file that calls converted functions, whose frames are left out.
    """

    __slots__ = ("translated_stack", "cause_message")

    def __init__(self, callsite_tb, cause_metadata, cause_message, source_map, converter_filename):
        stack = _translated(callsite_tb, source_map, converter_filename)
        if cause_metadata is None:
            self.translated_stack, self.cause_message = stack, cause_message
        else:
            self.translated_stack = (*cause_metadata.translated_stack, stack[-1])
            self.cause_message = cause_metadata.cause_message

    def get_message(self):
        """The message: the trace and the cause."""
        lines = ["in user code:", ""]
        for frame in reversed(self.translated_stack):
            if traceback_utils.is_traceback_filtering_enabled() and not traceback_utils.include_frame(frame.filename):
                continue
            mark = "  *" if frame.is_converted else "  **" if frame.is_allowlisted else ""
            code = "<source unavailable>" if frame.code is None else frame.code.strip()
            lines += [f'    File "{frame.filename}", line {frame.lineno}, in {frame.function_name}{mark}',
                      f"        {code}"]
        return "\n".join([*lines, "", *("    " + line for line in self.cause_message.split("\n")), ""])

    def create_exception(self, source_error):
        """An error of the same class with the message; None if it is not known how its class is made."""
        kind = type(source_error)
        if kind.__init__ is Exception.__init__ or kind in KNOWN_STRING_CONSTRUCTOR_ERRORS:
            made = kind(self.get_message())
        elif kind is KeyError:
            made = MultilineMessageKeyError(self.get_message(), self.cause_message)
        else:
            return None
        return made.with_traceback(source_error.__traceback__)

    def to_exception(self, source_error):
        """create_exception, with itself as `ag_error_metadata`."""
        made = self.create_exception(source_error)
        made.__suppress_context__ = True
        made.ag_error_metadata = self
        return made
