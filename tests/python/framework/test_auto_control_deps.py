"""The order of side effects in graphs of version 1."""
import pytest

import penstock.v1 as tf
from penstock._src.function import auto_control_deps


@pytest.mark.parametrize("outer, inner, expected", [
    (False, False, [3, 9, 27]), (False, True, [2, 4, 8]), (True, True, [2, 3, 4]), (True, False, [2, 3, 4])])
def test_what_follows_a_conditional_in_a_conditional_waits_for_it(outer, inner, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, use_resource=True)
        p, q = tf.placeholder(tf.bool), tf.placeholder(tf.bool)

        def assign(value):
            v.assign(value)
            return 1.0

        with auto_control_deps.AutomaticControlDependencies() as order:
            tf.cond(p, lambda: assign(v + 1.0),
                    lambda: tf.cond(q, lambda: assign(v * 2.0), lambda: assign(v * 3.0)) * 1.0)
            value = order.mark_as_return(v.read_value())
        session.run(v.initializer)
        assert [session.run(value, {p: outer, q: inner}) for _ in expected] == expected
