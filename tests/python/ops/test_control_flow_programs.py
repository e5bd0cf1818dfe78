"""Random nested loops and conditionals give the values and gradients that TensorFlow gave."""
import gzip
import json
import os
import sys

import numpy as np
import pytest

import penstock.v1 as tf

HERE = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "control_flow")
sys.path.insert(0, HERE)
from programs import COUNT, FED, build, results  # noqa: E402

with gzip.open(os.path.join(HERE, "results.json.gz")) as f:
    THEIRS = json.loads(f.read())

_GROUP = 16


@pytest.mark.parametrize("first", range(0, COUNT, _GROUP))
def test_as_recorded(first):
    for number in range(first, min(first + _GROUP, COUNT)):
        if THEIRS[number] is None:  # TensorFlow fails to run its gradient
            assert np.all(np.isfinite(results(tf, number)[0][0]))
            continue
        for ours, theirs in zip(results(tf, number), THEIRS[number]):
            for a, b in zip(ours, theirs):
                assert (a is None) == (b is None), number
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=str(number))


@pytest.mark.parametrize("number", range(2, COUNT, 20))
def test_second_order(number):
    """The gradient of the gradient is the slope of the gradient."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, _, (gradient, _) = build(tf, number)
        if gradient is None:
            return
        direction = np.array([0.6, -0.8])
        second = tf.gradients(tf.reduce_sum(gradient * direction), x)[0]
        if second is None:
            return
        step = 1e-6
        ahead, back = (session.run(gradient, {x: FED[0] + s * direction * step}) for s in (1, -1))
        slope = (ahead - back) / (2 * step)
        value = session.run(second, {x: FED[0]})
        np.testing.assert_allclose(value @ direction, slope @ direction, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("taken", [False, True])
def test_gradients_of_a_conditional_in_a_function(taken):
    """What was read on the side that is not taken stops nothing."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([[1.0], [2.0]], use_resource=True)
        w = tf.Variable([[5.0], [6.0]], use_resource=True)
        pred = tf.placeholder(tf.bool, [])

        @tf.function
        def f(pred):
            y = tf.cond(pred, lambda: tf.gather(v, [0, 0]), lambda: tf.gather(w, [1, 0]) * 3.0)
            return [y] + [tf.convert_to_tensor(g) for g in tf.gradients(y, [v, w])]

        fetched = f(pred)
        session.run(tf.global_variables_initializer())
        y, dv, dw = (value.tolist() for value in session.run(fetched, {pred: taken}))
        assert y == ([[1.0], [1.0]] if taken else [[18.0], [15.0]])
        assert dv == ([[2.0], [0.0]] if taken else [[0.0], [0.0]])
        assert dw == ([[0.0], [0.0]] if taken else [[3.0], [3.0]])
