"""Reads checkpoints without a graph."""
from penstock import _core
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.base import compat


class CheckpointReader:
    """A checkpoint of either version: names, types, shapes and values of its tensors."""

    def __init__(self, filepattern):
        self._path = compat.as_str_any(compat.path_to_str(filepattern))
        self._reader = _core.CheckpointReader(self._path)

    def _names(self):
        """(the name, as it is in the file) of each tensor. DataLossError if a name is no UTF-8."""
        for key in self._reader.names():
            try:
                yield key.decode(), key
            except UnicodeDecodeError:
                raise errors.DataLossError(
                    None, None, "A tensor's name in the checkpoint %s is no UTF-8: %s" % (
                        self._path, ascii(key)[1:])) from None

    def get_variable_to_shape_map(self):
        """{name: shape as a list}. DataLossError if a name is no UTF-8."""
        return {name: list(self._reader.shape(key)) for name, key in self._names()}

    def get_variable_to_dtype_map(self):
        """{name: DType}. DataLossError if a name is no UTF-8."""
        return {name: dtypes.as_dtype(self._reader.dtype(key)) for name, key in self._names()}

    def has_tensor(self, name):
        """Whether there is a tensor of that name (a string or bytes)."""
        return self._reader.has(compat.as_bytes(name))

    def get_tensor(self, name):
        """Its value. NotFoundError if there is none; DataLossError if the file is damaged."""
        return self._reader.read(compat.as_bytes(name))

    def debug_string(self):
        """A line for each tensor, as bytes: name, type, shape."""
        lines = []
        for key in self._reader.names():
            kind = {"float32": "float", "float64": "double"}.get(dtypes.as_dtype(self._reader.dtype(key)).name)
            kind = kind or dtypes.as_dtype(self._reader.dtype(key)).name
            shape = ",".join(map(str, self._reader.shape(key)))
            lines.append(key + compat.as_bytes(" (DT_%s) [%s]\n" % (kind.upper(), shape)))
        return b"".join(lines)


def NewCheckpointReader(filepattern):  # noqa: N802
    """A CheckpointReader. NotFoundError if there is no such checkpoint."""
    return CheckpointReader(filepattern)
