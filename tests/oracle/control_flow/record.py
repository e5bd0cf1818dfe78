"""Runs every program under real TensorFlow and writes results.json.gz beside this file.

    python record.py        (with TensorFlow 2's Python: 1.15's passes abort on some of the loops)
"""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def main():
    import tensorflow.compat.v1 as tf
    from programs import COUNT, results
    tf.disable_v2_behavior()
    tf.get_logger().setLevel("ERROR")
    records = []
    for number in range(COUNT):
        try:
            records.append(results(tf, number))
        except tf.errors.InvalidArgumentError as e:  # some of TensorFlow's own gradients are dead
            print(number, e.message.splitlines()[0])
            records.append(None)
    with gzip.GzipFile(os.path.join(HERE, "results.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(records, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
