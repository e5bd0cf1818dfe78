"""The file of a SavedModel that tells in which lines of the program the nodes of its functions were made."""
import os

from penstock._src.graph import stack
from penstock._src.files import file_io
from penstock.proto import graph_debug_info_pb2
from penstock._src.checkpoint import constants
from penstock._src.base import compat


class _Builder:
    """A GraphDebugInfo that holds each file, line and trace once."""

    def __init__(self):
        self.message = graph_debug_info_pb2.GraphDebugInfo()
        self._files, self._frames, self._traces = {}, {}, {}

    def add(self, name, traceback):
        """Adds a node with its frames, outermost first."""
        trace = tuple(self._frame(*frame[:3]) for frame in reversed(traceback))
        if trace not in self._traces:
            self._traces[trace] = len(self._traces)
            self.message.traces_by_id[self._traces[trace]].frame_id.extend(trace)
        self.message.name_to_trace_id[name] = self._traces[trace]

    def _frame(self, file, line, function):
        if file not in self._files:
            self._files[file] = len(self._files)
            self.message.files.append(file)
        frame = self._files[file], line, function
        if frame not in self._frames:
            number = self._frames[frame] = len(self._frames)
            made = self.message.frames_by_id[number]
            made.file_index, made.line, made.func = frame
        return self._frames[frame]


def of(functions):
    """The GraphDebugInfo of traces: each node is called NODE@FUNCTION."""
    builder = _Builder()
    for function in functions:
        for op in function.graph.get_operations():
            frames = stack.convert(stack.user_frames(op._traceback or ()))
            builder.add(f"{op.name}@{compat.as_str(function.name)}", frames)
    return builder.message


def write(functions, export_dir):
    """Writes it to a model's folder."""
    folder = os.path.join(export_dir, constants.DEBUG_DIRECTORY)
    file_io.recursive_create_dir(folder)
    file_io.atomic_write_string_to_file(os.path.join(folder, constants.DEBUG_INFO_FILENAME_PB),
                                        of(functions).SerializeToString(deterministic=True))
