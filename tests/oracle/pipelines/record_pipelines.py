"""Runs every pipeline of pipelines.py under real TensorFlow 2.21, as version 1, and writes elements.json.gz beside it.

    python record_pipelines.py        (with TensorFlow 2.21's Python)
"""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
LIMIT = 100


def pipelines():
    """{name: function} of all pipelines."""
    import pipelines as module
    return {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}


def plain(value):
    """An element as JSON has it."""
    import numpy as np
    if hasattr(value, "dense_shape"):
        return {"indices": plain(value.indices), "values": plain(value.values), "shape": plain(value.dense_shape)}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in sorted(value.items())}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    value = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [plain(part) for part in value]
    return np.asarray(value).tolist()


def run_in_graph(tf, pipeline):
    """The elements; the name of the error's class at the end if there is one."""
    found = []
    with tf.Graph().as_default():
        try:
            iterator = tf.data.make_initializable_iterator(pipeline(tf))
            element = iterator.get_next()
            with tf.Session() as sess:
                sess.run(iterator.initializer)
                while len(found) < LIMIT:
                    found.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            pass
        except (tf.errors.OpError, TypeError, ValueError) as e:
            found.append("raises " + type(e).__name__)
    return found


def main():
    import tensorflow.compat.v1 as tf
    assert tf.__version__.startswith("2.21"), tf.__version__
    tf.disable_v2_behavior()
    tf.get_logger().setLevel("ERROR")
    records = {name: run_in_graph(tf, pipeline) for name, pipeline in sorted(pipelines().items())}
    with gzip.GzipFile(os.path.join(HERE, "elements.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(records, sort_keys=True, separators=(",", ":")).encode())
    print(len(records), "pipelines")


if __name__ == "__main__":
    main()
