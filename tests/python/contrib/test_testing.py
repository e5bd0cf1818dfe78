"""tf.contrib.testing, as TensorFlow 1.15.5 has it."""
import os

import pytest

import penstock.v1 as tf
from penstock._src.contrib import testing

def test_what_was_written_is_read(tmp_path):
    directory = str(tmp_path)
    assert testing.latest_event_file(directory) is None and testing.latest_events(directory) == []
    with tf.summary.FileWriter(directory) as writer:
        for step, value in enumerate((1., 2.5)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)]), step)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="h", histo={})]), 3)
    assert os.path.dirname(testing.latest_event_file(directory)) == directory
    summaries = testing.latest_summaries(directory)
    assert [event.step for event in summaries] == [0, 1, 3]
    assert len(list(testing.latest_events(directory))) == 4  # with the file's version
    assert testing.simple_values_from_events(summaries, ["loss", "none"]) == {"loss": 2.5}
    with pytest.raises(ValueError, match="simple_value"):
        testing.simple_values_from_events(summaries, ["h"])
    message = testing.to_summary_proto(summaries[1].summary.SerializeToString())
    testing.assert_summary(["loss"], {"loss": 2.501}, message)
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["loss", "other"], {}, message)
    with pytest.raises(AssertionError):
        testing.assert_summary(["loss"], {"loss": 2.}, message)


def test_a_writer_in_memory(tmp_path):
    case, directory = tf.test.TestCase("assertEqual"), str(tmp_path)
    testing.FakeSummaryWriter.install()
    try:
        with pytest.raises(ValueError, match="already installed"):
            testing.FakeSummaryWriter.install()
        with tf.Graph().as_default() as graph:
            step = tf.train.get_or_create_global_step()
            tf.summary.scalar("twice", 2 * step)
            train = tf.assign_add(step, 1)
            hooks = [tf.train.SummarySaverHook(save_steps=2, output_dir=directory, summary_op=tf.summary.merge_all()),
                     tf.train.StepCounterHook(every_n_steps=2, output_dir=directory),
                     tf.train.StopAtStepHook(last_step=4)]
            with tf.train.SingularMonitoredSession(hooks=hooks) as session:
                while not session.should_stop():
                    session.run(train)
            writer = tf.summary.FileWriterCache.get(directory)
    finally:
        testing.FakeSummaryWriter.uninstall()
        tf.summary.FileWriterCache.clear()
    with pytest.raises(ValueError, match="not installed"):
        testing.FakeSummaryWriter.uninstall()
    assert isinstance(writer, testing.FakeSummaryWriter) and os.listdir(directory) == []
    assert set(writer.summaries) == {1, 3}
    values = {step: {value.tag: value.simple_value for summary in summaries for value in summary.value
                     if value.tag != "global_step/sec"} for step, summaries in writer.summaries.items()}
    writer.assert_summaries(case, expected_logdir=directory, expected_graph=graph, expected_summaries=values,
                            expected_added_graphs=[], expected_added_meta_graphs=[])
    with pytest.raises(AssertionError):
        writer.assert_summaries(case, expected_summaries={2: {}})
    with pytest.raises(AssertionError):
        writer.assert_summaries(case, expected_summaries={1: {"twice": -1.}})
    writer.add_graph(graph)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP), 5)
    writer.assert_summaries(case, expected_added_graphs=[graph], expected_session_logs=[
        tf.SessionLog(status=tf.SessionLog.START), tf.SessionLog(status=tf.SessionLog.STOP)])
    with pytest.raises(ValueError, match="Invalid global_step -1"):
        writer.add_run_metadata(None, "tag", -1)
    with pytest.raises(ValueError, match="Unexpected graph_def"):
        writer.add_graph(graph, graph_def=1)
