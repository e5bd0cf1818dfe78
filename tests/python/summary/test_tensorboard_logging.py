"""Messages in event files."""
import glob
import logging

import pytest

import penstock.v1 as tf
from penstock._src.training import tensorboard_logging


@pytest.fixture
def writer(tmp_path):
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
    tensorboard_logging.set_summary_writer(writer)
    yield writer
    tensorboard_logging._clear_summary_writer()
    tensorboard_logging.set_verbosity(tensorboard_logging.WARN)


def messages(writer):
    writer.close()
    path, = glob.glob(writer.get_logdir() + "/*")
    return [(e.log_message.level, e.log_message.message) for e in tf.train.summary_iterator(path)
            if e.HasField("log_message")]


def test_messages_of_the_verbosity_are_in_the_file(writer, caplog):
    with caplog.at_level(logging.DEBUG, logger="tensorflow"):
        tensorboard_logging.info("quiet")
        tensorboard_logging.error("loss is %d", 3)
        tensorboard_logging.set_verbosity(tensorboard_logging.INFO)
        tensorboard_logging.info("loud")
    assert messages(writer) == [(tf.LogMessage.ERROR, "loss is 3"), (tf.LogMessage.INFO, "loud")]


def test_levels_and_writers_are_checked(writer):
    with pytest.raises(ValueError, match="not a valid"):
        tensorboard_logging.set_verbosity("LOUD")
    with pytest.raises(ValueError, match="not a valid"):
        tensorboard_logging.log("LOUD", "message")
    tensorboard_logging._clear_summary_writer()
    with pytest.raises(RuntimeError, match="set_summary_writer"):
        tensorboard_logging.info("message")
    tensorboard_logging.set_summary_writer(None)
    tensorboard_logging.error("for the log only")
