"""Input functions of arrays and data frames."""
import numpy as np
import pytest

import penstock.v1 as tf

A, B = np.arange(5) * 1., np.arange(10).reshape(5, 2)


def batches(input_fn, most=10):
    with tf.Graph().as_default():
        given = input_fn()
        got = []
        with tf.train.MonitoredSession() as sess:
            while not sess.should_stop() and len(got) < most:
                got.append(sess.run(given))
    return got


def numpy_inputs(*args, **kwargs):
    return tf.estimator.inputs.numpy_input_fn(*args, **{"shuffle": False, "batch_size": 2, **kwargs})


def test_rows_in_order_and_a_short_last_batch():
    got = batches(numpy_inputs({"a": A, "b": B}, A * 10))
    assert [f["a"].tolist() for f, _ in got] == [[0, 1], [2, 3], [4]]
    assert [f["b"].tolist() for f, _ in got][2] == [[8, 9]]
    assert [t.tolist() for _, t in got] == [[0, 10], [20, 30], [40]]


def test_epochs_run_into_each_other():
    assert [x.tolist() for x in batches(numpy_inputs(A, num_epochs=2))] == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]
    assert len(batches(numpy_inputs(A, num_epochs=None), most=7)) == 7


def test_several_targets():
    features, targets = batches(numpy_inputs({"a": A}, {"t": A, "s": B}))[0]
    assert sorted(features) == ["a"] and targets["s"].tolist() == [[0, 1], [2, 3]] and targets["t"].tolist() == [0, 1]


def test_shuffled_rows_are_all_there():
    got = batches(numpy_inputs(np.arange(50), shuffle=True, batch_size=10))
    seen = np.concatenate(got).tolist()
    assert sorted(seen) == list(range(50)) and seen != list(range(50))


@pytest.mark.parametrize("args, kwargs, match", [
    ((A,), dict(shuffle=None), "shuffle must be provided"), (({},), {}, "empty dict"), ((A[:0],), {}, "empty array"),
    (([1],), {}, "dict or array"), (({"a": A}, A[:2]), {}, "mismatched"), (({"a": A}, {"a": A}), {}, "duplicate keys"),
    (({"a": A}, {}), {}, "cannot be empty dict")])
def test_bad_arrays(args, kwargs, match):
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError), match=match):
        numpy_inputs(*args, **kwargs)()


def test_data_frames():
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"a": A, "b": np.arange(5)})
    got = batches(tf.estimator.inputs.pandas_input_fn(x, pd.Series(A * 2), batch_size=2, shuffle=False))
    assert [f["b"].tolist() for f, _ in got] == [[0, 1], [2, 3], [4]] and got[1][1].tolist() == [4, 6]
    frame = pd.DataFrame({"a": A * 3})
    features, targets = batches(tf.estimator.inputs.pandas_input_fn(x, frame, batch_size=5, shuffle=False))[0]
    assert targets["a"].tolist() == (A * 3).tolist() and features["a"].tolist() == A.tolist()
