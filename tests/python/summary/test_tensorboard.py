"""The real TensorBoard shows what a training wrote, by the data that its web page asks for."""
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import penstock.v1 as tf

sys.path.insert(0, os.path.dirname(__file__))
import browser  # noqa: E402

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None,
                                 reason="tensorboard is not installed")]


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


@contextlib.contextmanager
def tensorboard(logdir, *launcher):
    """TensorBoard's address while it serves a directory. launcher: arguments of Python that start it, if not `-m`."""
    process = subprocess.Popen([sys.executable, *(launcher or ("-m", "tensorboard.main")), "--logdir", str(logdir),
                                "--port", "0", "--load_fast=false"], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if " at http://" in line:
                yield "http://" + line.split(" at http://")[1].split()[0]
                break
        else:
            raise RuntimeError("TensorBoard did not start")
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


def fetch(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def wait_for(get):
    """What `get` gives as soon as it is something."""
    until = time.time() + 60
    while True:
        found = get()
        if found or time.time() > until:
            return found
        time.sleep(0.5)


def test_tensorboard(tmp_path):
    train(str(tmp_path / "run"))
    with tensorboard(tmp_path) as url:
        check_data(url)


def check_data(url):
    def ask(what):
        return fetch(url + "data/" + what)

    def tags(plugin):
        return json.loads(ask("plugin/%s/tags" % plugin)).get("run", {})

    wait_for(lambda: tags("scalars"))
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


@pytest.mark.skipif(browser.executable() is None, reason="Chromium is not installed")
@pytest.mark.skipif(importlib.util.find_spec("aiohttp") is None, reason="aiohttp is not installed")
def test_pages_in_a_browser(tmp_path):
    train(str(tmp_path / "logs" / "run"))
    with tensorboard(tmp_path / "logs") as url, browser.opened(tmp_path / "profile") as chromium:
        wait_for(lambda: json.loads(fetch(url + "data/plugin/scalars/tags")).get("run"))

        def shows(page, *texts):
            browser.ask(chromium, f"{url}#{page}", browser.DEEP_TEXT, lambda text: all(t in text for t in texts))

        shows("timeseries", "loss", "0.0469", "weights", "picture/image")  # 12 / 4**4, the last step's loss
        shows("scalars", "loss")
        shows("graphs", "layer", "GradientDescent", "gradients", "last step")
        shows("histograms", "weights")
        shows("distributions", "weights")
        shows("text", "note", "hello")
        shows("images", "picture/image", "step 4")
        assert [8, 8] in browser.ask(chromium, url + "#images", browser.PICTURES, lambda sizes: [8, 8] in sizes)


PLUGINS = """
import sys
import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hp
from tensorboard.plugins.mesh import summary as mesh
from tensorboard.plugins.pr_curve import summary as pr_curve
from tensorboard.plugins import projector
log = sys.argv[1]
units, rate = hp.HParam("units", hp.Discrete([16, 32])), hp.HParam("rate", hp.RealInterval(0.1, 0.2))
with tf.summary.create_file_writer(log).as_default():
    assert hp.hparams_config(hparams=[units, rate], metrics=[hp.Metric("accuracy")])
    mesh.mesh("shape", vertices=tf.ones([1, 4, 3]), step=0)
for name, size in ("a", 16), ("b", 32):
    with tf.summary.create_file_writer(log + "/" + name).as_default():
        assert hp.hparams({units: size, rate: 0.15}, trial_id=name)
        tf.summary.scalar("accuracy", size / 64, step=1)
graph = tf.compat.v1.Graph()
with graph.as_default(), tf.compat.v1.Session() as sess:
    curve = pr_curve.op("curve", tf.constant([True, False, True]), tf.constant([0.9, 0.2, 0.6]), num_thresholds=5)
    writer = tf.compat.v1.summary.FileWriter(log + "/curves", graph)
    writer.add_summary(sess.run(curve), 0)
    w = tf.compat.v1.get_variable("w", [5, 3])
    sess.run(w.initializer)
    tf.compat.v1.train.Saver().save(sess, log + "/curves/m.ckpt")
config = projector.ProjectorConfig()
config.embeddings.add(tensor_name="w")
projector.visualize_embeddings(log + "/curves", config)
"""


def test_plugins(tmp_path):
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(PLUGINS)
    done = subprocess.run([sys.executable, "-m", "penstock", "--v2", str(program), str(log)], capture_output=True,
                          text=True, timeout=100, env=os.environ)
    assert done.returncode == 0, done.stderr
    # The projector reads checkpoints by TensorFlow's functions.
    main = importlib.util.find_spec("tensorboard.main").origin
    with tensorboard(log, "-m", "penstock", "--v2", main) as url:
        curves = wait_for(lambda: json.loads(fetch(url + "data/plugin/pr_curves/tags")).get("curves"))
        assert list(curves) == ["curve/pr_curves"]
        curve, = json.loads(fetch(url + "data/plugin/pr_curves/pr_curves?run=curves&tag=curve/pr_curves"))["curves"]
        assert curve["precision"][-2:] == [1.0, 1.0]  # at the highest thresholds
        request = {"experimentName": "", "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_RUNNING"],
                   "colParams": [], "startIndex": 0, "sliceSize": 10}

        def groups():
            try:
                answer = json.loads(fetch(url + "data/plugin/hparams/session_groups", request))["sessionGroups"]
            except urllib.error.HTTPError:  # the experiment is not loaded yet
                return None
            return answer if len(answer) == 2 and all(group.get("metricValues") for group in answer) else None
        found = wait_for(groups)
        values = {g["hparams"]["units"]: g["metricValues"][0]["value"] for g in found}
        assert values == {16.0: 0.25, 32.0: 0.5}
        embedded = json.loads(fetch(url + "data/plugin/projector/info?run=curves"))
        assert embedded["embeddings"][0]["tensorName"] == "w" and embedded["embeddings"][0]["tensorShape"] == [5, 3]
        assert len(fetch(url + "data/plugin/projector/tensor?run=curves&name=w")) == 5 * 3 * 4
        assert json.loads(fetch(url + "data/plugin/mesh/tags"))["."] == {"shape": {"samples": 1}}
