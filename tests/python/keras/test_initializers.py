"""tf.keras.initializers and regularizers: numbers of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

init, reg = tf.keras.initializers, tf.keras.regularizers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(*values):
    with tf.Session() as session:
        return session.run(values)


def test_random_initializers_are_narrower():
    normal, uniform, truncated, he = run(init.RandomNormal(seed=1)([2]), init.uniform(seed=1)([2]),
                                         init.TruncatedNormal(seed=1)([2]), init.he_normal(seed=1)([2, 2]))
    np.testing.assert_allclose(normal, [-.04056591, .07422994], rtol=1e-6)
    np.testing.assert_allclose(uniform, [-.02609626, .04203996], rtol=1e-6)
    np.testing.assert_allclose(truncated, [-.04056591, .07422994], rtol=1e-6)
    np.testing.assert_allclose(he, [[-.92234486, 1.687762], [.07426952, .11283027]], rtol=1e-6)


def test_initializers_by_name_and_by_configuration():
    assert isinstance(init.get("random_normal"), init.RandomNormal) and init.get("normal").stddev == .05
    assert isinstance(init.get("he_normal"), init.VarianceScaling) and init.get(None) is None
    form = init.serialize(init.RandomNormal(seed=1))
    assert form == {"class_name": "RandomNormal",
                    "config": {"mean": 0., "stddev": .05, "seed": 1, "dtype": "float32"}}
    assert init.get(form).get_config() == form["config"]
    assert run(init.get({"class_name": "Constant", "config": {"value": 2.}})([1]))[0] == [2.]
    with pytest.raises(ValueError, match="Nope"):
        init.deserialize({"class_name": "Nope", "config": {}})


def test_regularizers():
    x = tf.constant([[1., -2.]])
    found = run(reg.l1()(x), reg.l2()(x), reg.l1_l2()(x), reg.L1L2()(x), reg.get("l2")(x))
    np.testing.assert_allclose(found, [.03, .05, .08, 0, .05], rtol=1e-6)
    form = reg.serialize(reg.l1_l2(.5, .25))
    assert form == {"class_name": "L1L2", "config": {"l1": .5, "l2": .25}}
    assert reg.get(form).get_config() == form["config"] and reg.get(None) is None and reg.get(abs) is abs
    for bad in ("nope", 3):
        with pytest.raises(ValueError, match="regularizer"):
            reg.get(bad)
