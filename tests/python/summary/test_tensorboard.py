"""The real TensorBoard shows what a training wrote, by the data that its web page asks for."""
import importlib.util
import json
import time
import urllib.request

import numpy as np
import pytest

import penstock.v1 as tf

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed")]


def train(directory):
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.name_scope("layer"):
            w = tf.Variable(tf.zeros([4, 3]), name="w")
            loss = tf.reduce_sum(tf.square(w - 1), name="loss")
        step = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("weights", w)
        tf.summary.image("picture", tf.ones([1, 8, 8, 3]))
        tf.summary.audio("sound", tf.zeros([1, 100, 1]), 8000.0)
        tf.summary.text("note", tf.constant("hello"))
        merged = tf.summary.merge_all()
        sess.run(tf.global_variables_initializer())
        with tf.summary.FileWriter(directory, sess.graph) as writer:
            for i in range(5):
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                _, summary = sess.run([step, merged], options=options, run_metadata=metadata)
                writer.add_summary(summary, i)
            writer.add_run_metadata(metadata, "last step", 4)


def test_tensorboard(tmp_path):
    train(str(tmp_path / "run"))
    from tensorboard import program
    board = program.TensorBoard()
    board.configure(argv=["tensorboard", "--logdir", str(tmp_path), "--port", "0", "--load_fast=false"])
    url = board.launch()

    def ask(what):
        with urllib.request.urlopen(url + "data/" + what, timeout=30) as answer:
            return answer.read()

    def tags(plugin):
        return json.loads(ask("plugin/%s/tags" % plugin)).get("run", {})

    until = time.time() + 60
    while not tags("scalars") and time.time() < until:
        time.sleep(0.5)
    assert list(tags("scalars")) == ["loss"]
    points = json.loads(ask("plugin/scalars/scalars?run=run&tag=loss"))
    assert [p[1] for p in points] == [0, 1, 2, 3, 4]
    np.testing.assert_allclose([p[2] for p in points], [12 * 0.25**i for i in range(5)], rtol=1e-5)
    for plugin, tag in (("histograms", "weights"), ("distributions", "weights"), ("images", "picture/image"),
                        ("audio", "sound/audio")):
        assert any(name.startswith(tag) for name in tags(plugin)), plugin
    graph = ask("plugin/graphs/graph?run=run").decode()
    assert '"layer/w"' in graph and "MatMul" not in graph
    assert json.loads(ask("plugin/graphs/info"))["run"]["run_graph"]
    assert b"layer" in ask("plugin/graphs/run_metadata?run=run&tag=last+step")
