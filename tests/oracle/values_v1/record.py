"""Runs every program of values_*.py under real TensorFlow 1.15.5 and writes values.json.gz beside this file.

    python record.py        (with TensorFlow 1.15.5's Python)

A program takes the module `tf` and returns {name: value}, values being numbers or arrays.
"""
import glob
import gzip
import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def programs():
    """{"file.program": function} of all files."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "values_*.py"))):
        name = os.path.basename(path)[:-3]
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if callable(value) and not key.startswith("_") and getattr(value, "__module__", None) == name:
                found["%s.%s" % (name[len("values_"):], key)] = value
    return found


def plain(value):
    """A value as JSON has it: nested lists of numbers."""
    import numpy as np
    return np.asarray(value).tolist()


def main():
    import tensorflow as tf
    assert tf.__version__ == "1.15.5", tf.__version__
    import tensorflow.contrib  # noqa: F401
    tf.get_logger().setLevel("ERROR")
    records = {}
    for name, program in sorted(programs().items()):
        with tf.Graph().as_default():
            records[name] = {key: plain(value) for key, value in program(tf).items()}
    with gzip.GzipFile(os.path.join(HERE, "values.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(records, sort_keys=True, separators=(",", ":")).encode())
    print(len(records), "programs")


if __name__ == "__main__":
    main()
