"""Gradients of first, second and third order of functions with gradients of their own, called in branches and loops:
the values are those of the powers of x that the programs compute. TensorFlow 2.21 agrees where it can; many of these
fail there (AssertionError, or a placeholder that is not fed)."""
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager(version_two):
    with context.eager_mode():
        yield


@tf.custom_gradient
def square(x):
    return x * x, lambda dy: dy * 2 * x


@tf.custom_gradient
def cube(x):
    return x * x * x, lambda dy: dy * 3 * x * x


@tf.custom_gradient
def cube_of_square(x):
    return x * x * x, lambda dy: dy * 3 * square(x)


# All are x^3.
CUBES = {
    "custom": lambda x: cube(x),
    "custom in custom": lambda x: cube_of_square(x),
    "recomputed": lambda x: tf.recompute_grad(lambda y: y * y * y)(x),
    "function that captures": lambda x: tf.function(lambda: square(x) * x)(),
}


def repeated(x, n, step):
    return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, step(i, y)), [0, x])[1]


# What is made of them, and which power of x that is for i = 0 and 1.
PLACES = {
    "switch": (lambda i, x, f: tf.switch_case(i, [lambda: f(x), lambda: f(x) * x]), (3, 4)),
    "switch of one": (lambda i, x, f: tf.switch_case(i, [lambda: f(x)]), (3, 3)),
    "switch of functions": (lambda i, x, f: tf.switch_case(i, [tf.function(lambda: f(x)),
                                                               tf.function(lambda: f(x) * x)]), (3, 4)),
    "cond": (lambda i, x, f: tf.cond(i > 0, lambda: f(x) * x, lambda: f(x)), (3, 4)),
    "cond in a cond": (lambda i, x, f: tf.cond(i >= 0, lambda: tf.cond(i > 0, lambda: f(x) * x, lambda: f(x)),
                                               lambda: x), (3, 4)),
    "while": (lambda i, x, f: repeated(x, i + 1, lambda _, y: f(y) * x), (4, 13)),
    "cond in a while": (lambda i, x, f: repeated(x, i + 1, lambda j, y: tf.cond(j > 0, lambda: f(y),
                                                                               lambda: f(x) * y)), (4, 12)),
    "while in a switch": (lambda i, x, f: tf.switch_case(i, [lambda: repeated(x, 2, lambda _, y: f(y)),
                                                             lambda: f(x) * x]), (9, 4)),
    "call": (lambda i, x, f: f(x), (3, 3)),
}


def derivatives(power):
    """The first three of x^power at 1.25."""
    found, factor = [], 1.0
    for order in range(1, 4):
        factor *= power - order + 1
        found.append(factor * 1.25 ** (power - order))
    return found


def of_tapes(f, x, order):
    if order == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = of_tapes(f, x, order - 1)
    return tape.gradient(y, x)


def of_graphs(f, x, order):
    y = f(x)
    for _ in range(order):
        y = tf.gradients(y, x)[0]
    return y


def tape_inside(f, i, order):
    return tf.function(lambda x, i: of_tapes(lambda x: f(i, x), x, order))(tf.constant(1.25), tf.constant(i))


def tape_outside(f, i, order):
    f = tf.function(f)
    return of_tapes(lambda x: f(tf.constant(i), x), tf.constant(1.25), order)


def graph(f, i, order):
    return tf.function(lambda x, i: of_graphs(lambda x: f(i, x), x, order))(tf.constant(1.25), tf.constant(i))


def session(f, i, order):
    with tf.Graph().as_default():
        x, number = v1.placeholder(tf.float32, []), v1.placeholder(tf.int32, [])
        y = of_graphs(lambda x: f(number, x), x, order)
        with v1.Session() as sess:
            return sess.run(y, {x: 1.25, number: i})


WAYS = [tape_inside, tape_outside, graph, session]


@pytest.mark.parametrize("called", CUBES)
@pytest.mark.parametrize("place", PLACES)
def test_three_orders(place, called):
    build, powers = PLACES[place]
    how = WAYS[(list(PLACES).index(place) + list(CUBES).index(called)) % len(WAYS)]
    # A gradient function that calls another in a loop's body has no second gradient, nor has it in TensorFlow.
    orders = 1 if "while" in place and called == "custom in custom" else 3
    for i, power in enumerate(powers):
        for order, expected in enumerate(derivatives(power)[:orders], 1):
            assert float(how(lambda i, x: build(i, x, CUBES[called]), i, order)) == pytest.approx(expected, rel=1e-5)
