"""What makes items of a record."""
import abc


class DataDecoder(metaclass=abc.ABCMeta):
    """Decodes records into items, each a tensor that has a name."""

    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of those items in the record `data`, in that order."""

    @abc.abstractmethod
    def list_items(self):
        """The names of all items."""
