"""Random ops refuse shapes that are no vectors, with TensorFlow's words."""
import numpy as np
import pytest

import penstock.v1 as tf

SEED = [1, 2]
KEY = {"key": np.uint64([1]), "counter": np.uint64([1, 2]), "alg": 1}
OPS = {
    "RandomUniform": {"dtype": tf.float32},
    "RandomStandardNormal": {"dtype": tf.float32},
    "TruncatedNormal": {"dtype": tf.float32},
    "RandomUniformInt": {"minval": 0, "maxval": 3},
    "RandomGamma": {"alpha": [1.0]},
    "RandomPoissonV2": {"rate": [1.0]},
    "ParameterizedTruncatedNormal": {"means": 0.0, "stdevs": 1.0, "minvals": -1.0, "maxvals": 1.0},
    "StatelessRandomUniform": {"seed": SEED},
    "StatelessRandomNormal": {"seed": SEED},
    "StatelessTruncatedNormal": {"seed": SEED},
    "StatelessRandomUniformInt": {"seed": SEED, "minval": 0, "maxval": 3},
    "StatelessRandomUniformFullInt": {"seed": SEED, "dtype": tf.int32},
    "StatelessRandomBinomial": {"seed": SEED, "counts": [3.0], "probs": [0.5]},
    "StatelessRandomPoisson": {"seed": SEED, "lam": [1.0], "dtype": tf.float32},
    "StatelessRandomGammaV2": {"seed": SEED, "alpha": [1.0]},
    "StatelessRandomUniformV2": KEY,
    "StatelessRandomUniformIntV2": {**KEY, "minval": 0, "maxval": 3},
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("shape", [4, -1, [[2]]])
def test_a_shape_is_a_vector(op, shape):
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(ValueError, match=f"Shape must be rank 1 but is rank {np.ndim(shape)}"):
            getattr(tf.raw_ops, op)(shape=np.int32(shape), **OPS[op])
        fed = tf.placeholder(tf.int32)
        drawn = getattr(tf.raw_ops, op)(shape=fed, **OPS[op])
        with pytest.raises(tf.errors.InvalidArgumentError, match="hape (must|should) be a vector"):
            sess.run(drawn, {fed: shape})


def test_what_makes_a_tensor_of_a_shape_wants_a_vector_while_the_graph_is_built():
    with tf.Graph().as_default():
        for make in (lambda: tf.fill(3, 1.0), lambda: tf.reshape([1.0, 2.0], 2), lambda: tf.broadcast_to(1.0, 2)):
            with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0"):
                make()


def test_numbers_between_bounds_follow_from_the_seed():
    """Numbers of 2.21; the parameters broadcast to the end of the shape."""
    import penstock.v2 as tf2
    draw = tf2.random.stateless_parameterized_truncated_normal
    inf = np.inf
    cases = [(draw([6], [1, 2], 0.0, 1.0, -1.0, 1.0),
              [0.6881208419799805, -0.6159093379974365, 0.9924464225769043, -0.6792252063751221, -0.12129712104797363,
               -0.8304636478424072]),
             (draw([2, 3], [7, 8], [0.0, 1.0, 2.0], [1.0, 2.0, 0.5], [-1.0, -10.0, 5.0], [1.0, 0.5, inf]),
              [[-0.4345545768737793, -1.7102375030517578, 5.085174560546875],
               [-0.1659858226776123, 0.01607072353363037, 5.0655927658081055]]),
             (draw([3], [7, 8], *(tf.constant(x, tf.float64) for x in (0.0, 1.0, -0.1, 0.1))),
              [-0.03356373895603318, -0.032788480331659695, -0.042443487011422136]),
             (draw([2, 2], [3, 4], [[0.0], [5.0]], [1.0, 2.0], -2.0, [-1.0, 8.0]),
              [[-1.9346113204956055, -1.2306492328643799], [-1.1150822639465332, 3.3820624351501465]])]
    bad = [(draw([3], [1, 2], [0.0, 1.0]), "Shape passed in must end with broadcasted shape"),
           (draw([2], [1, 2], 0.0, -1.0), "Invalid parameters")]
    with tf.Session() as sess:
        for numbers, expected in cases:
            np.testing.assert_allclose(sess.run(numbers), expected, rtol=1e-6)
        for numbers, message in bad:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(numbers)


@pytest.mark.parametrize("count, probability, expected", [
    (5.0, np.nan, np.nan), (np.inf, 1.0, np.inf), (np.inf, np.nan, np.nan), (np.nan, np.nan, np.nan), (0.0, np.nan, 0),
    (np.nan, 0.0, 0), (-1.0, 0.5, 0), (5.0, -np.inf, 0), (5.0, 2.0, 5)])
def test_binomials_that_need_no_draw(version_two, count, probability, expected):
    for dtype in (tf.float32, tf.float64):
        y = tf.raw_ops.StatelessRandomBinomial(shape=[3], seed=SEED, counts=tf.constant(count, dtype),
                                               probs=tf.constant(probability, dtype), dtype=dtype)
        np.testing.assert_array_equal(y, [expected] * 3)
    generator = tf.random.Generator.from_seed(3)
    np.testing.assert_array_equal(generator.binomial([3], count, probability, tf.float64), [expected] * 3)
