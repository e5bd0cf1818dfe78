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
