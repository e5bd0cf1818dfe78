"""map_fn, folds, scans and switch_case under version 2, eagerly and in functions."""
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.control_flow.map_fn import map_fn_v2


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def squares(x):
    return map_fn_v2(lambda e: e * e, x)


def signatures(x):
    signature = (tf.TensorSpec([], tf.int32), tf.float32)
    return map_fn_v2(lambda e: (tf.cast(e, tf.int32), e), x, fn_output_signature=signature)[0]


def folds(x):
    return tf.foldl(lambda a, e: a * 2 + e, x) + tf.foldr(lambda a, e: a * 2 + e, x)


def scans(x):
    return tf.scan(lambda a, e: a + e, x, reverse=True)


def branches(x):
    return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: x * 3, lambda: -x])


@pytest.mark.parametrize("fn, expected", [
    (squares, [1, 4, 9]), (signatures, [1, 2, 3]), (folds, 28), (scans, [6, 5, 3]), (branches, [3, 6, 9])])
def test_values(fn, expected):
    x = tf.constant([1.0, 2.0, 3.0])
    assert fn(x).numpy().tolist() == expected
    assert tf.function(fn)(x).numpy().tolist() == expected


@pytest.mark.parametrize("fn, expected", [(squares, [2, 4, 6]), (folds, [5, 4, 5]), (scans, [1, 2, 3]),
                                          (branches, [3, 3, 3])])
def test_gradients(fn, expected):
    x = tf.constant([1.0, 2.0, 3.0])
    for f in (fn, tf.function(fn)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy().tolist() == expected


def test_where_broadcasts():
    a = tf.constant([1, 2, 3])
    assert tf.where(a > 1, a, 0).numpy().tolist() == [0, 2, 3]
    assert tf.where(a > 1).numpy().tolist() == [[1], [2]]


def test_nothing_is_mapped():
    result = tf.map_fn(lambda x: tf.constant(""), tf.constant([]), fn_output_signature=tf.string)
    assert result.dtype == tf.string and result.shape == (0,)
