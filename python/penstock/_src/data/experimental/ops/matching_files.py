"""The names of files, found as they are asked for."""
from penstock._src.data.ops.dataset_ops import DatasetSource
from penstock._src.graph import dtypes, gen, ops
from penstock._src.graph.tensor_spec import TensorSpec


class MatchingFilesDataset(DatasetSource):
    """The names of the files that match a pattern, or one of several."""

    def __init__(self, patterns):
        self._patterns = ops.convert_to_tensor(patterns, dtype=dtypes.string, name="patterns")
        super().__init__(gen.matching_files_dataset(self._patterns))

    element_spec = property(lambda self: TensorSpec([], dtypes.string), doc="The spec of an element.")
