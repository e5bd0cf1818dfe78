"""subscribe: side effects on tensors of a finished graph."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools.subscribe import subscribe


def test_side_effects():
    with tf.Graph().as_default(), tf.Session() as sess:
        seen = []

        def note(tag):
            return lambda t: [tf.py_func(lambda x: seen.append((tag, float(x))) or np.int32(0), [t], tf.int32)]

        a, b = tf.constant(1.0), tf.constant(2.0)
        total = a + b
        with tf.control_dependencies([total]):
            after = tf.constant(7.0)
        result = total * 3.0
        copy = subscribe(total, note("first"))
        assert copy is not total and list(result.op.inputs)[0] is copy and after.op.control_inputs == [copy.op]
        assert sess.run(result) == 9.0 and seen == [("first", 3.0)]
        assert subscribe(total, note("second")) is copy and subscribe(copy, note("third")) is copy
        seen.clear()
        assert sess.run([copy, after]) == [3.0, 7.0]
        assert sorted(seen) == [("first", 3.0), ("second", 3.0), ("third", 3.0)]
        assert sess.run(subscribe({"x": [a, (b,)]}, [])) == {"x": [1.0, (2.0,)]}
        with pytest.raises(TypeError, match="invalid type"):
            subscribe(3, note("x"))
