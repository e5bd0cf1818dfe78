"""Builds every program of programs_*.py under real TensorFlow 1.15.5 and writes graphs.json.gz beside this file.

    python record.py        (with TensorFlow 1.15.5's Python)
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
    for path in sorted(glob.glob(os.path.join(HERE, "programs_*.py"))):
        name = os.path.basename(path)[:-3]
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if callable(value) and not key.startswith("_") and getattr(value, "__module__", None) == name:
                found["%s.%s" % (name[len("programs_"):], key)] = value
    return found


def main():
    import tensorflow as tf
    from graph_record import record
    assert tf.__version__ == "1.15.5", tf.__version__
    import tensorflow.contrib  # noqa: F401  (loaded lazily otherwise, in the middle of a program)
    tf.get_logger().setLevel("ERROR")
    records = {}
    for name, program in sorted(programs().items()):
        with tf.Graph().as_default() as graph:
            program(tf)
            records[name] = record(graph)
    with gzip.GzipFile(os.path.join(HERE, "graphs.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(records, sort_keys=True, separators=(",", ":")).encode())
    print(len(records), "programs")


if __name__ == "__main__":
    main()
