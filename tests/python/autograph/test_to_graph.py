"""`tf.autograph.to_graph`. Expected values: TensorFlow 2.21's."""
import pytest

import penstock.v2 as tf


@pytest.fixture(autouse=True)
def eager(version_two):
    """`tf.function` of version 2."""


def inner(x):
    if x > 0:
        return x
    return -x


def outer(x):
    return inner(x)


def test_what_the_twin_calls_is_converted_where_autograph_is_off():
    twin = tf.autograph.to_graph(outer)
    assert tf.function(twin, autograph=False)(tf.constant(-3)).numpy() == 3
    assert tf.function(tf.autograph.experimental.do_not_convert(lambda x: twin(x)))(tf.constant(-3)).numpy() == 3
    assert tf.function(tf.autograph.to_graph(lambda x: tf.map_fn(inner, x)), autograph=False)(
        tf.constant([-3, 4])).numpy().tolist() == [3, 4]


def test_what_it_calls_stays_as_it_is_unless_recursive():
    twin = tf.autograph.to_graph(outer, recursive=False)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(twin, autograph=False)(tf.constant(-3))


def test_the_twin_of_a_method_takes_the_object():
    class Absolute:
        def __call__(self, x):
            return inner(x)

        def of(self, x):
            return self(x)

    twin = tf.autograph.to_graph(Absolute().of)
    assert tf.function(lambda x: twin(Absolute(), x), autograph=False)(tf.constant(-3)).numpy() == 3
