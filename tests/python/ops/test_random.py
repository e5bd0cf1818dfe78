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
