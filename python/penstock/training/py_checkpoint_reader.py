"""Reads checkpoints without a graph."""
from penstock import _core
from penstock.framework import core as _errors  # noqa: F401  (connects the errors)
from penstock.framework import dtypes
from penstock.util import compat


class CheckpointReader:
    """A checkpoint of either version: names, types, shapes and values of its tensors."""

    def __init__(self, filepattern):
        self._reader = _core.CheckpointReader(compat.as_str_any(compat.path_to_str(filepattern)))

    def get_variable_to_shape_map(self):
        """{name: shape as a list}."""
        return {name: list(self._reader.shape(name)) for name in self._reader.names()}

    def get_variable_to_dtype_map(self):
        """{name: DType}."""
        return {name: dtypes.as_dtype(self._reader.dtype(name)) for name in self._reader.names()}

    def has_tensor(self, name):
        """Whether there is a tensor of that name."""
        return self._reader.has(compat.as_str(name))

    def get_tensor(self, name):
        """Its value. NotFoundError if there is none; DataLossError if the file is damaged."""
        return self._reader.read(compat.as_str(name))

    def debug_string(self):
        """A line for each tensor: name, type, shape."""
        lines = []
        for name in self._reader.names():
            kind = {"float32": "float", "float64": "double"}.get(dtypes.as_dtype(self._reader.dtype(name)).name)
            kind = kind or dtypes.as_dtype(self._reader.dtype(name)).name
            lines.append("%s (DT_%s) [%s]\n" % (name, kind.upper(), ",".join(map(str, self._reader.shape(name)))))
        return compat.as_bytes("".join(lines))


def NewCheckpointReader(filepattern):  # noqa: N802
    """A CheckpointReader. NotFoundError if there is no such checkpoint."""
    return CheckpointReader(filepattern)
