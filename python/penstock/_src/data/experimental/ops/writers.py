"""Datasets written to files."""
from penstock._src.data.ops import dataset_ops
from penstock._src.data.util import convert, structure
from penstock._src.graph import dtypes, gen, ops
from penstock._src.graph.tensor_spec import TensorSpec


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename, compression_type=None):
        self._filename = ops.convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = convert.optional_param_to_tensor("compression_type", compression_type, "",
                                                                  dtypes.string)

    def write(self, dataset):
        """The operation that writes; done at once when executing eagerly. TypeError: elements are no strings."""
        if not isinstance(dataset, dataset_ops.DatasetV2):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if not structure.are_compatible(dataset.element_spec, TensorSpec([], dtypes.string)):
            raise TypeError("`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                            f"{dataset_ops.get_legacy_output_shapes(dataset)} and types "
                            f"{dataset_ops.get_legacy_output_types(dataset)}")
        return gen.dataset_to_tf_record(dataset._variant_tensor, self._filename, self._compression_type)
