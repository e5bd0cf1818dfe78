"""The writer of event files under the methods of TensorFlow's C++ class, which loggers of their own use."""
from penstock import _core
from penstock._src.graph import core as _errors  # noqa: F401  (connects the errors)
from penstock._src.base import compat


class EventsWriter:
    """Writes Event messages to a file whose name is the prefix, the time and the host's name."""

    def __init__(self, prefix):
        """prefix: a path, as text or bytes. The file is made when the first event comes."""
        self._prefix = compat.as_str_any(compat.path_to_str(prefix))
        self._suffix = ""
        self._writer = None

    def InitWithSuffix(self, suffix):  # noqa: N802
        """Begins the file, whose name ends in `suffix`."""
        self._suffix = compat.as_str_any(suffix)
        self._open()

    def Init(self):  # noqa: N802
        """Begins the file."""
        self.InitWithSuffix("")

    def FileName(self):  # noqa: N802
        """The file's name, as bytes."""
        return compat.as_bytes(self._open().path())

    def WriteEvent(self, event):  # noqa: N802
        """Adds an Event. TypeError if it is none."""
        descriptor = getattr(event, "DESCRIPTOR", None)
        if descriptor is None or descriptor.full_name != "tensorflow.Event":
            raise TypeError("Expected an event_pb2.Event proto, but got %s" % type(event))
        self._open().write(event.SerializeToString())

    def Flush(self):  # noqa: N802
        """Returns True when all events are in the file."""
        self._open().flush()
        return True

    def Close(self):  # noqa: N802
        """Flushes and closes the file; True."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return True

    def _open(self):
        if self._writer is None:
            self._writer = _core.EventWriter(self._prefix, self._suffix)
            self._writer.open()
        return self._writer
