"""Windows that slide over a dataset."""
from penstock._src.data.util import nest
from penstock._src.graph import dtypes, gen, ops
from penstock._src.data.ops.dataset_ops import UnaryDataset, flat_structure
from penstock._src.base import deprecation


class _SlideDataset(UnaryDataset):
    """Overlapping batches."""

    def __init__(self, input_dataset, window_size, window_shift, window_stride):
        numbers = [ops.convert_to_tensor(value, dtype=dtypes.int64, name=word) for value, word in (
            (window_size, "window_stride"), (window_shift, "window_shift"), (window_stride, "window_stride"))]
        self._structure = nest.map_structure(lambda spec: spec._batch(None), input_dataset.element_spec)
        super().__init__(input_dataset, gen.experimental_sliding_window_dataset(
            input_dataset._variant_tensor, *numbers, **flat_structure(self._structure)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


@deprecation.deprecated_args(None, "stride is deprecated, use window_shift instead", "stride")
def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """For Dataset.apply: batches of `window_size` elements; a new one begins every `window_shift` elements."""
    if stride is None and window_shift is None:
        window_shift = 1
    elif stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    return lambda dataset: _SlideDataset(dataset, window_size, stride if window_shift is None else window_shift,
                                         window_stride)
