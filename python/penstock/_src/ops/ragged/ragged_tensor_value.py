"""A ragged tensor's value: what session.run gives and takes."""
import numpy as np


class RaggedTensorValue:
    """Values, an array or a RaggedTensorValue, and where each row of them begins."""

    def __init__(self, values, row_splits):
        if not (isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.dtype in (np.int64, np.int32)
                and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits

    row_splits = property(lambda self: self._row_splits, doc="Where each row begins, and the end of the last.")
    values = property(lambda self: self._values, doc="The rows, one behind the other.")
    dtype = property(lambda self: self._values.dtype, doc="The NumPy type of the values.")

    @property
    def flat_values(self):
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self):
        """The splits of all ragged dimensions."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits,) + inner

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """The shape, with None for ragged dimensions."""
        return (self._row_splits.shape[0] - 1, None) + self._values.shape[1:]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def to_list(self):
        """Nested lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[begin:end] for begin, end in zip(self._row_splits[:-1], self._row_splits[1:])]
