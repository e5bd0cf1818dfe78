"""The files of tfdbg's second format, written from Python."""
import time

from penstock import _core
from penstock import proto

DEFAULT_CIRCULAR_BUFFER_SIZE = 1000

_SOURCE_FILES, _STACK_FRAMES, _GRAPHS, _EXECUTION, _TRACES = range(1, 6)


class DebugEventsWriter:
    """Writes the events of a run to a directory. Writers of one directory write to the same files.

    dump_root: the directory, made if need be. tfdbg_run_id: tells this run from others. circular_buffer_size: how many
    events of executions, and of values in graphs, are kept until they are flushed; all are written at once if 0 or
    less. ValueError: no directory.
    """

    def __init__(self, dump_root, tfdbg_run_id, circular_buffer_size=DEFAULT_CIRCULAR_BUFFER_SIZE):
        if not dump_root:
            raise ValueError("Empty or None dump root")
        self._dump_root = dump_root
        self._devices = {}
        self._files = _core.DebugEvents(str(dump_root), tfdbg_run_id, circular_buffer_size)

    @property
    def dump_root(self):
        return self._dump_root

    def _write(self, file, **what):
        event = proto.message("tensorflow.DebugEvent")(wall_time=time.time(), **what)
        self._files.write(file, event.SerializeToString())

    def WriteSourceFile(self, source_file):  # noqa: N802
        """Writes a SourceFile message."""
        self._write(_SOURCE_FILES, source_file=source_file)

    def WriteStackFrameWithId(self, stack_frame_with_id):  # noqa: N802
        """Writes a StackFrameWithId message."""
        self._write(_STACK_FRAMES, stack_frame_with_id=stack_frame_with_id)

    def WriteGraphOpCreation(self, graph_op_creation):  # noqa: N802
        """Writes a GraphOpCreation message."""
        self._write(_GRAPHS, graph_op_creation=graph_op_creation)

    def WriteDebuggedGraph(self, debugged_graph):  # noqa: N802
        """Writes a DebuggedGraph message."""
        self._write(_GRAPHS, debugged_graph=debugged_graph)

    def WriteExecution(self, execution):  # noqa: N802
        """Writes an Execution message."""
        self._write(_EXECUTION, execution=execution)

    def WriteGraphExecutionTrace(self, graph_execution_trace):  # noqa: N802
        """Writes a GraphExecutionTrace message."""
        self._write(_TRACES, graph_execution_trace=graph_execution_trace)

    def RegisterDeviceAndGetId(self, device_name):  # noqa: N802
        """The number of a device, which is written down when it is first asked for."""
        if device_name not in self._devices:
            self._devices[device_name] = len(self._devices) + 1
            self._write(_GRAPHS, debugged_device=proto.message("tensorflow.DebuggedDevice")(
                device_name=device_name, device_id=self._devices[device_name]))
        return self._devices[device_name]

    def FlushNonExecutionFiles(self):  # noqa: N802
        """Returns when all events but those of executions are in their files."""
        self._files.flush_non_execution()

    def FlushExecutionFiles(self):  # noqa: N802
        """Returns when the events of executions that are kept are in their files."""
        self._files.flush_execution()

    def Close(self):  # noqa: N802
        """Flushes and closes the files. What is written after it is lost."""
        self._files.close()
