"""tf.config."""
import pytest

import penstock.v1 as tf
from penstock.framework import config


@pytest.fixture(autouse=True)
def untouched():
    yield
    config._config = None


def test_devices():
    assert [d.device_type for d in tf.config.list_logical_devices("CPU")] == ["CPU"]
    assert [d.name for d in tf.config.experimental.list_physical_devices("CPU")] == ["/physical_device:CPU:0"]
    assert tf.config.list_logical_devices("NONE") == []


def test_sessions_without_a_config_follow_it():
    with tf.Graph().as_default():
        with tf.device("/device:NONE:0"):
            x = tf.constant(1.0) + 2.0
        tf.config.set_soft_device_placement(True)
        assert tf.config.get_soft_device_placement()
        with tf.Session() as session:
            assert session.run(x) == 3.0
        tf.config.set_soft_device_placement(False)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(x)


def test_threads():
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.config.threading.set_inter_op_parallelism_threads(3)
    with tf.Session() as session:
        assert (session._config.intra_op_parallelism_threads, session._config.inter_op_parallelism_threads) == (2, 3)
