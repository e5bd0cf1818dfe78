"""Results of evaluations as summaries."""
import numpy as np
from google.protobuf import message

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.base import tf_logging as logging
from penstock.proto import summary_pb2
from penstock._src.summary import writer_cache


def _dict_to_str(dictionary):
    return ", ".join("%s = %s" % (key, value) for key, value in sorted(dictionary.items())
                     if not isinstance(value, bytes))


def _write(output_dir, proto, step):
    writer = writer_cache.FileWriterCache.get(output_dir)
    writer.add_summary(proto, step)
    writer.flush()


def write_dict_to_summary(output_dir, dictionary, current_global_step):
    """Writes numbers, arrays and serialized summaries."""
    logging.info("Saving dict for global step %d: %s", current_global_step, _dict_to_str(dictionary))
    proto = summary_pb2.Summary()
    for key, value in dictionary.items():
        if value is None or key == ops.GraphKeys.GLOBAL_STEP:
            continue
        if isinstance(value, (np.float32, float)):
            proto.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, (np.int64, np.int32, int)):
            proto.value.add(tag=key, simple_value=int(value))
        elif isinstance(value, bytes):
            try:
                inner = summary_pb2.Summary.FromString(value)
            except message.DecodeError:
                logging.warning("Skipping summary for %s, cannot parse string to Summary.", key)
                continue
            for i, part in enumerate(inner.value):
                part.tag = "%s/%d" % (key, i)
            proto.value.extend(inner.value)
        elif isinstance(value, np.ndarray):
            proto.value.add(tag=key, node_name=key, tensor=tensor_util.make_tensor_proto(value))
            logging.info("Summary for np.ndarray is not visible in Tensorboard by default. Consider using a "
                         "Tensorboard plugin for visualization.")
        else:
            logging.warning("Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
                            "np.ndarray or a serialized string of Summary.", key)
    _write(output_dir, proto, current_global_step)


def write_checkpoint_path_to_summary(output_dir, checkpoint_path, current_global_step):
    """Writes which checkpoint was evaluated."""
    logging.info("Saving '%s' summary for global step %d: %s", "checkpoint_path", current_global_step, checkpoint_path)
    proto = summary_pb2.Summary()
    proto.value.add(tag="checkpoint_path",
                    tensor=tensor_util.make_tensor_proto(checkpoint_path, dtype=dtypes.string))
    _write(output_dir, proto, current_global_step)
