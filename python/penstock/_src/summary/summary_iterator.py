"""Reads event files."""
from penstock import _core
from penstock._src.graph import core as _errors  # noqa: F401  (connects the errors)
from penstock.proto import event_pb2
from penstock._src.base import compat


class _SummaryIterator:
    """The events of a file. A file that is still written can be read on after the end was met."""

    def __init__(self, path):
        self._records = _core.RecordReader(compat.as_str_any(path))

    def __iter__(self):
        return self

    def __next__(self):
        record = self._records.next()
        if record is None:
            raise StopIteration
        return event_pb2.Event.FromString(record)

    next = __next__


def summary_iterator(path):
    """An iterator over the Event messages of an event file. DataLossError if it is damaged."""
    return _SummaryIterator(path)
