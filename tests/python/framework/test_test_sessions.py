"""Sessions that tf.test.TestCase makes."""
import pytest

import penstock.v1 as tf


class Case(tf.test.TestCase):
    def runTest(self):  # noqa: N802
        """Its sessions are used from outside."""


@pytest.mark.parametrize("kind", ["session", "cached_session", "test_session"])
def test_devices_that_are_not_there_are_replaced(kind):
    case = Case()
    with tf.Graph().as_default() as graph, tf.device("/gpu:0"):
        x = tf.constant(3)
        with getattr(case, kind)(graph=graph) as session:
            assert session.run(x) == 3
        case._clear_cached_session()
        for options in (dict(force_gpu=True), dict(config=tf.ConfigProto())):
            with getattr(case, kind)(graph=graph, **options) as session:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
                    session.run(x)
            case._clear_cached_session()
