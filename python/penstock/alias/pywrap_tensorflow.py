"""What programs take from TensorFlow's C++ library by its own name: readers, writers and kinds of attributes."""
from penstock._src.graph.definitions.attr_values import (  # noqa: F401
    TF_ATTR_BOOL, TF_ATTR_FLOAT, TF_ATTR_FUNC, TF_ATTR_INT, TF_ATTR_PLACEHOLDER, TF_ATTR_SHAPE, TF_ATTR_STRING,
    TF_ATTR_TENSOR, TF_ATTR_TYPE)
from penstock._src.graph.dtypes import bfloat16
from penstock._src.summary.events_writer import EventsWriter as EventsWriter
from penstock._src.checkpoint.py_checkpoint_reader import CheckpointReader as CheckpointReader
from penstock._src.checkpoint.py_checkpoint_reader import NewCheckpointReader as NewCheckpointReader


def TF_bfloat16_type():  # noqa: N802
    """NumPy's type of bfloat16 values."""
    return bfloat16.as_numpy_dtype


def TF_ListPluggablePhysicalDevices():  # noqa: N802
    """There are none."""
    return []
