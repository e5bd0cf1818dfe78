"""smart_cond and smart_case: conditionals that are decided at once where they can be."""
import pytest

import penstock.v1 as tf
from penstock._src.control_flow.smart_cond import smart_case, smart_cond


def never():
    raise AssertionError("called")


def test_smart_case():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.int32, [])
        for exclusive in (False, True):
            first = smart_case([(True, lambda: tf.constant(1)), (x > 0, never)], never, exclusive)
            assert sess.run(first, {x: 0}) == 1
            assert sess.run(smart_case([(False, never)], lambda: tf.constant(2), exclusive)) == 2
        assert smart_cond(tf.constant(True), lambda: 5, never) == 5
        assert not any(op.type == "Switch" for op in graph.get_operations() if "ssert" not in op.name)
        mixed = smart_case([(x > 1, lambda: tf.constant(1)), (tf.constant(3) < 1, never),
                            (True, lambda: tf.constant(3))], never)
        assert sess.run([mixed, mixed], {x: 2}) == [1, 1] and sess.run(mixed, {x: 0}) == 3
        with pytest.raises(TypeError, match="pred must be a Tensor or bool, got: 1"):
            smart_case([(1, never)])
        with pytest.raises(TypeError, match="pred must be a Tensor, got: True"):
            tf.case([(True, never)])
