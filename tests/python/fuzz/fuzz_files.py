"""Reads damaged checkpoints: python fuzz_files.py SEED SECONDS PART..., a part being index, data, meta or state."""

import os
import random
import shutil
import sys
import tempfile

import forked
import numpy as np

import penstock.v1 as tf

_ALLOWED = (tf.errors.OpError, OSError, TypeError, ValueError, KeyError)
# Names, types and slices to read by.
_READS = [
    ("numbers", tf.float32, ""),
    ("numbers", tf.float32, "30 10 5,3:0,10"),
    ("numbers", tf.int32, ""),
    ("words", tf.string, ""),
    ("small", tf.int32, ""),
    ("parts", tf.float32, ""),
    ("parts", tf.float32, "6 4 1,4:-"),
    ("parts", tf.float32, "6 4 5,4:-"),
    ("parts", tf.float32, "nonsense"),
    ("nobody", tf.float32, ""),
]


def _variables():
    tf.get_variable("numbers", initializer=np.arange(300, dtype=np.float32).reshape(30, 10))
    tf.get_variable("small", initializer=np.int32(7))
    tf.get_variable("words", initializer=np.array([b"", b"word", b"w" * 200], object))
    tf.get_variable("parts", [6, 4], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(3))


def _try(chance, part, folder):
    with tf.Graph().as_default(), tf.Session() as session:
        _variables()
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, os.path.join(folder, "model"))
        name = {"index": ".index", "data": ".data-00000-of-00001", "meta": ".meta"}.get(part)
        forked.damage(chance, os.path.join(folder, "checkpoint") if part == "state" else prefix + name)
        attempts = [
            lambda: saver.restore(session, prefix),
            *(
                lambda n=n, t=t, s=s: session.run(
                    tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[n], shape_and_slices=[s], dtypes=[t])
                )
                for n, t, s in _READS
            ),
            lambda: tf.train.latest_checkpoint(folder),
            lambda: tf.train.import_meta_graph(prefix + ".meta", import_scope="again"),
        ]
        for attempt in attempts:
            try:
                attempt()
            except _ALLOWED as error:
                line = forked.confused(error)
                if line:
                    raise AssertionError(line) from error


def call(part, seed):
    """One damaged checkpoint: None, or a line about an exception that it should not have made."""
    folder = tempfile.mkdtemp()
    try:
        _try(random.Random(f"{part}{seed}"), part, folder)
    except Exception as error:
        if type(error).__name__ != "DecodeError":
            return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)
    return None


if __name__ == "__main__":
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
