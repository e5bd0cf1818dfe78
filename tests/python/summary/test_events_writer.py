"""The writer of event files that loggers of reinforcement learning use."""
import os

import pytest

import penstock.v1 as tf
from penstock._src.summary.events_writer import EventsWriter


def test_events_are_in_the_file(tmp_path):
    writer = EventsWriter(os.fsencode(tmp_path / "events"))
    event = tf.Event(wall_time=1., step=3, summary=tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2.)]))
    writer.WriteEvent(event)
    assert writer.Flush()
    name = writer.FileName()
    assert name.startswith(os.fsencode(tmp_path / "events.out.tfevents."))
    first, second = tf.train.summary_iterator(name.decode())
    assert first.file_version == "brain.Event:2"
    assert second == event
    assert writer.Close()


def test_only_events_are_written(tmp_path):
    writer = EventsWriter(str(tmp_path / "events"))
    writer.InitWithSuffix(".x")
    assert writer.FileName().endswith(b".x")
    with pytest.raises(TypeError, match="event_pb2.Event"):
        writer.WriteEvent(tf.Summary())
    with pytest.raises(TypeError, match="str"):
        writer.WriteEvent("event")
    writer.Close()
