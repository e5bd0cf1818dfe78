"""The names of files, found as they are asked for."""
from penstock.data.ops.dataset_ops import DatasetSource
from penstock.framework import dtypes, gen, ops
from penstock.framework.tensor_spec import TensorSpec


class MatchingFilesDataset(DatasetSource):
    """The names of the files that match a pattern, or one of several."""

    def __init__(self, patterns):
        self._patterns = ops.convert_to_tensor(patterns, dtype=dtypes.string, name="patterns")
        super().__init__(gen.matching_files_dataset(self._patterns))

    element_spec = property(lambda self: TensorSpec([], dtypes.string), doc="The spec of an element.")
