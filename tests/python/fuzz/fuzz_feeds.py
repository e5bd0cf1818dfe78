"""Runs sessions with random feeds and fetches: python fuzz_feeds.py SEED SECONDS NAME, any name.

Ends with status 3 if a run crashed, hung, or raised anything but TensorFlow's errors, TypeError, ValueError and
RuntimeError, or if the session was of no use afterwards."""

import random
import sys

import forked
import numpy as np

import penstock.v1 as tf

_ALLOWED = (tf.errors.OpError, TypeError, ValueError, RuntimeError, OverflowError)


class _Odd:
    """Claims to be an array and is none."""

    def __array__(self, *args, **kwargs):
        raise ZeroDivisionError("no array")

    def __len__(self):
        return 3


def _value(chance):
    return chance.choice(
        (
            lambda: None,
            lambda: 1,
            lambda: 2**70,
            lambda: -1.5,
            lambda: float("nan"),
            lambda: True,
            lambda: "text",
            lambda: b"\xff\x00",
            lambda: [],
            lambda: [[1, 2], [3]],
            lambda: [[1, 2], [3, 4]],
            lambda: [1, "a", None],
            lambda: {"a": 1},
            lambda: {1, 2},
            lambda: (1.0, 2.0),
            lambda: np.zeros(
                (2, 3), chance.choice(("f", "d", "i4", "i8", "?", "c8", "S3", "U3", object, "M8[s]", "u2"))
            ),
            lambda: np.zeros((2, 3), "f")[:, ::-1],
            lambda: np.asfortranarray(np.ones((3, 2), "f")),
            lambda: np.zeros((2, 3), ">f4"),
            lambda: np.zeros((0, 3), "f"),
            lambda: np.float32(3),
            lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
            lambda: np.zeros(2, [("a", "f"), ("b", "i4")]),
            lambda: (
                np.zeros((1,) * chance.choice((3, 9, 33)), "f") if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 1
            ),
            lambda: tf.SparseTensorValue([[0, 0]], [1.0], [2, 3]),
            lambda: tf.SparseTensorValue([[0]], [1.0, 2.0], "shape"),
            lambda: tf.constant(1.0),
            lambda: _Odd(),
            lambda: object(),
            lambda: range(3),
            lambda: iter([1, 2]),
        )
    )()


def _try(chance):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(
            chance.choice((tf.float32, tf.int32, tf.string, tf.bool, tf.complex64)),
            chance.choice((None, [2, 3], [None, 3])),
        )
        s = tf.sparse_placeholder(tf.float32)
        v = tf.get_variable("v", initializer=2.0, use_resource=chance.random() < 0.5)
        queue = tf.FIFOQueue(2, tf.float32)
        add = tf.add(tf.constant(1.0), 2.0, name="add")
        y, total = tf.identity(x), tf.sparse_reduce_sum(s)
        session.run(tf.global_variables_initializer())
        keys = [
            x,
            y,
            s,
            v,
            add,
            queue.queue_ref,
            foreign,
            "Placeholder:0",
            "add",
            "nobody:0",
            "add:7",
            None,
            3,
            x.op,
            (x, y),
            [x],
            _Odd(),
        ]
        fetches = [
            x,
            y,
            total,
            v,
            add,
            add.op,
            queue.size(),
            foreign,
            "add:0",
            "nobody",
            None,
            3,
            [x, [y]],
            {"a": y},
            (),
            [],
            s,
            _Odd(),
            b"add:0",
        ]
        for _ in range(4):
            feed = {}
            for _ in range(chance.choice((0, 1, 1, 2))):
                try:
                    feed[chance.choice(keys)] = _value(chance)
                except TypeError:
                    pass  # no key of a dict
            fetch = chance.choice(fetches)
            if chance.random() < 0.3:
                fetch = [fetch, chance.choice(fetches)]
            try:
                session.run(
                    fetch,
                    chance.choice((feed, feed, feed, None, [], "feed", _Odd())),
                    options=tf.RunOptions(timeout_in_ms=3000),
                )
            except ZeroDivisionError:
                pass  # what the value itself raised
            except _ALLOWED as error:
                line = forked.confused(error)
                if line:
                    raise AssertionError(line) from error
            if session.run(add) != 3.0:
                raise AssertionError("the session is of no use")


def call(name, seed):
    """Some runs of one session: None, or a line about an exception that they should not have made."""
    try:
        _try(random.Random(f"{name}{seed}"))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
