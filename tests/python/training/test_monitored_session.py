"""Monitored sessions: hooks, checkpoints, summaries, stopping, recovery."""
import glob

import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g
    tf.summary.FileWriterCache.clear()


def model():
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=1.0)
    tf.summary.scalar("weight", w)
    train = tf.group(w.assign(w * 2), step.assign_add(1))
    return step, w, train, tf.train.Scaffold(saver=tf.train.Saver())


def train_until(directory, last_step, hooks=(), **kwargs):
    with tf.Graph().as_default():
        step, w, train, scaffold = model()
        values = []
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(directory), scaffold=scaffold, save_checkpoint_steps=2,
                hooks=[tf.train.StopAtStepHook(last_step=last_step), *hooks], **kwargs) as sess:
            while not sess.should_stop():
                values.append(float(sess.run([w, train])[0]))
        return values


def events(directory):
    paths = sorted(glob.glob(str(directory) + "/events*"))
    return [e for path in paths for e in tf.train.summary_iterator(path)]


def test_training_is_resumed(tmp_path):
    first = train_until(tmp_path, 3)
    second = train_until(tmp_path, 5)
    assert len(first) == 3 and len(second) == 2
    reader = tf.train.latest_checkpoint(str(tmp_path))
    assert reader.endswith("model.ckpt-5")
    tf.summary.FileWriterCache.clear()
    found = events(tmp_path)
    kinds = {e.WhichOneof("what") for e in found}
    assert {"file_version", "graph_def", "meta_graph_def", "summary", "session_log"} <= kinds
    assert any(v.tag == "weight" for e in found for v in e.summary.value)
    logs = [e.session_log.status for e in found if e.HasField("session_log")]
    assert tf.SessionLog.START in logs and tf.SessionLog.CHECKPOINT in logs


class Recorder(tf.train.SessionRunHook):

    def __init__(self, fetch=None, feed=None):
        self.calls, self.fetch, self.feed, self.results = [], fetch, feed, []

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("created")

    def before_run(self, run_context):
        self.calls.append("before")
        return tf.train.SessionRunArgs(self.fetch, self.feed)

    def after_run(self, run_context, run_values):
        self.calls.append("after")
        self.results.append(run_values.results)

    def end(self, session):
        self.calls.append("end")


def test_hooks_are_called_in_order_and_fetch_and_feed():
    x = tf.placeholder(tf.float32, [])
    y, twice = x + 1, x * 2
    hook = Recorder({"y": y}, {x: 3.0})
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(twice) == 6
        with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
            sess.run(y, {x: 1.0})
    assert hook.calls == ["begin", "created", "before", "after", "before", "end"]
    assert hook.results == [{"y": 4.0}]


def test_a_lost_machine_makes_a_new_session():
    class Abort(Recorder):
        aborted = False

        def before_run(self, run_context):
            if not self.aborted:
                self.aborted = True
                raise tf.errors.AbortedError(None, None, "gone")
            return super().before_run(run_context)

    hook = Abort()
    v = tf.get_variable("v", initializer=5.0)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(v) == 5
    assert hook.calls == ["begin", "created", "created", "before", "after", "end"]
    with pytest.raises(tf.errors.AbortedError), tf.train.SingularMonitoredSession(hooks=[Abort()]) as sess:
        sess.run(v)


def test_the_end_of_the_input_ends_in_order():
    queue = tf.FIFOQueue(10, tf.int32, [])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2))
    hook, dequeued = Recorder(), queue.dequeue()
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(dequeued) == 1
        raise tf.errors.OutOfRangeError(None, None, "no more")
    assert hook.calls[-1] == "end"
    with pytest.raises(ZeroDivisionError):
        with tf.train.MonitoredSession():
            1 / 0


def test_step_functions():
    x = tf.placeholder(tf.float32, [])
    hook, twice, thrice = Recorder(x + 1), x * 2, x * 3

    def step(step_context):
        assert step_context.session.run(twice, {x: 1.0}) == 2
        return step_context.run_with_hooks(thrice, {x: 2.0})

    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run_step_fn(step) == 6
        with pytest.raises(ValueError, match="step_context"):
            sess.run_step_fn(lambda a, b: None)
        sess.run_step_fn(lambda step_context: step_context.request_stop())
    assert hook.results == [3.0]


def test_hooks_of_every_kind(tmp_path):
    step, w, train, scaffold = model()
    messages = []
    final = tf.train.FinalOpsHook(w)
    nan = tf.train.NanTensorHook(tf.where(step > 2, np.nan, 0.0), fail_on_nan_loss=False)
    logging = tf.train.LoggingTensorHook({"value": w}, every_n_iter=1, formatter=lambda v: messages.append(v) or "")
    with tf.train.SingularMonitoredSession(hooks=[final, nan, logging], scaffold=scaffold) as sess:
        while not sess.should_stop():
            sess.run(train)
    assert len(messages) >= 3 and final.final_ops_values == 2.0 ** len(messages)
    with pytest.raises(ValueError, match="exactly one of"):
        tf.train.LoggingTensorHook(["a"], every_n_iter=1, every_n_secs=1)


def test_profiler_hook_writes_a_timeline(tmp_path):
    _, _, train, scaffold = model()
    hook = tf.train.ProfilerHook(save_steps=1, output_dir=str(tmp_path))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks=[hook]) as sess:
        for _ in range(3):
            sess.run(train)
    tf.summary.FileWriterCache.clear()
    assert glob.glob(str(tmp_path) + "/timeline-*.json")
    assert any(e.HasField("tagged_run_metadata") for e in events(tmp_path))


def test_session_manager_tells_what_is_missing():
    tf.get_variable("v", initializer=5.0)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager.prepare_session("")
    with pytest.raises(RuntimeError, match="Variables not initialized: v"):
        manager.prepare_session("", init_op=tf.no_op())


def test_supervisor(tmp_path):
    step, w, train, _ = model()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.05, save_model_secs=0.05)

    def one(sess):
        if sess.run([train, step])[1] >= 30:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, one)
    assert tf.train.latest_checkpoint(str(tmp_path))
    found = events(tmp_path)
    statuses = [e.session_log.status for e in found if e.HasField("session_log")]
    assert statuses[0] == tf.SessionLog.START and statuses[-1] == tf.SessionLog.STOP
    assert any(v.tag == "weight" for e in found for v in e.summary.value)


def test_final_ops_that_run_out_of_input_say_why():
    with tf.Graph().as_default(), tf.Session() as sess:
        element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
        hook = tf.train.FinalOpsHook(element)
        hook.begin()
        hook.end(sess)
        assert hook.final_ops_values == 0
        from penstock._src.base import tf_logging
        said = []
        warning, tf_logging.warning = tf_logging.warning, lambda text, *args: said.append(text % args)
        try:
            with pytest.raises(tf.errors.OutOfRangeError):
                hook.end(sess)
        finally:
            tf_logging.warning = warning
        assert "dependency back to some input source" in said[0]


def test_checkpoints_without_graphs(tmp_path):
    train_until(tmp_path, 3, save_graph_def=False)
    assert glob.glob(str(tmp_path) + "/*.index") and not glob.glob(str(tmp_path) + "/*.meta")
    assert not (tmp_path / "graph.pbtxt").exists()
    train_until(tmp_path, 5)
    assert glob.glob(str(tmp_path) + "/*.meta")


def test_values_of_a_loaded_model_are_resumed_too(tmp_path, monkeypatch):
    """A model of version 1 that a graph of version 2 loads: its variables are initialized once."""
    from penstock._src.saved_model import load, load_v1_in_v2
    with tf.Session(graph=tf.Graph()) as session, session.graph.as_default():
        tf.Variable(5., use_resource=True)
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["foo"])
        builder.save()
    monkeypatch.setattr(load_v1_in_v2.tf2, "enabled", lambda: True)
    w = load.load(str(tmp_path / "model")).variables[0]
    more = w.assign_add(1.)
    step = tf.train.get_or_create_global_step()
    next_step = step.assign_add(1)
    for expected in ([6, 7], [8]):
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path / "run")) as session:
            for value in expected:
                assert session.run(more) == value
                session.run(next_step)
