"""Freezing, stripping, folding: the results compute what the graph did. What inspect prints."""
import io

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.tools import freeze_graph
from penstock.tools import inspect
from penstock.tools import optimize_for_inference_lib
from penstock.tools import strip_unused_lib


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(graph_def, fetch, feeds=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run(fetch, feeds)


@pytest.mark.parametrize("use_resource", [False, True])
def test_freeze_graph(tmp_path, use_resource):
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=3.0, use_resource=use_resource)
    tf.multiply(x, w, name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(sess, str(tmp_path / "m"))
        tf.train.write_graph(sess.graph, str(tmp_path), "graph.pb", as_text=False)
    target = str(tmp_path / "frozen.pb")
    with tf.Graph().as_default():
        freeze_graph.freeze_graph(str(tmp_path / "graph.pb"), "", True, checkpoint, "y", "", "", target, True, "")
    with open(target, "rb") as f:
        frozen = tf.GraphDef.FromString(f.read())
    assert not any("Var" in node.op for node in frozen.node)
    assert list(run(frozen, "y:0", {"x:0": [1, 2]})) == [3, 6]
    with pytest.raises(ValueError, match="doesn't exist"):
        freeze_graph.freeze_graph("", "", True, "nowhere", "y", "", "", "", True, "")


def test_strip_unused():
    a = tf.constant(1.0, name="a")
    b = tf.add(a, 1.0, name="b")
    tf.add(b, 1.0, name="c")
    tf.add(b, 2.0, name="d")
    stripped = strip_unused_lib.strip_unused(tf.get_default_graph().as_graph_def(), ["b"], ["c"],
                                             tf.float32.as_datatype_enum)
    assert {node.name for node in stripped.node} == {"b", "c", "c/y"}
    assert run(stripped, "c:0", {"b:0": 5.0}) == 6
    with pytest.raises(KeyError, match="not found"):
        strip_unused_lib.strip_unused(stripped, ["zz"], ["c"], 1)


def test_folding_of_batch_normalization():
    random = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [1, 6, 6, 2], name="x")
    conv = tf.nn.conv2d(x, random.randn(3, 3, 2, 4).astype(np.float32), [1, 1, 1, 1], "SAME")
    mean, var, beta, gamma = (random.rand(4).astype(np.float32) for _ in range(4))
    y = tf.nn.fused_batch_norm(conv, gamma, beta, mean, var, is_training=False)[0]
    tf.identity(y, name="out")
    value = random.randn(1, 6, 6, 2).astype(np.float32)
    before = tf.get_default_graph().as_graph_def()
    after = optimize_for_inference_lib.optimize_for_inference(before, ["x"], ["out"], tf.float32.as_datatype_enum)
    assert not any("BatchNorm" in node.op for node in after.node) and len(after.node) < len(before.node)
    np.testing.assert_allclose(run(after, "out:0", {"x:0": value}), run(before, "out:0", {"x:0": value}), rtol=1e-4,
                               atol=1e-5)


def printed(path):
    out = io.StringIO()
    status = inspect.inspect(str(path), out)
    return status, out.getvalue()


def test_inspect(tmp_path):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("weights", [3, 2])
    y = tf.matmul(x, w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(sess, str(tmp_path / "m"))
        builder = tf.saved_model.Builder(str(tmp_path / "saved"))
        signature = tf.saved_model.predict_signature_def({"in": x}, {"out": y})
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature}, saver=tf.train.Saver())
        builder.save()
        tf.train.write_graph(sess.graph, str(tmp_path), "g.pbtxt")
        with tf.summary.FileWriter(str(tmp_path / "log"), sess.graph) as writer:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2.5)]), 7)
    for path in prefix, prefix + ".index", prefix + ".data-00000-of-00001", tmp_path:
        status, text = printed(path)
        assert status == 0 and "weights  float32  [3, 2]  24" in text
    assert "float32  [?, 3]" in printed(tmp_path / "g.pbtxt")[1]
    assert "collection" in printed(prefix + ".meta")[1]
    status, text = printed(tmp_path / "saved")
    assert status == 0 and "signature serving_default (tensorflow/serving/predict)" in text and "weights" in text
    event_file = next((tmp_path / "log").iterdir())
    assert "loss=2.5" in printed(event_file)[1]
    event_file.write_bytes(event_file.read_bytes()[:-3])
    status, text = printed(event_file)
    assert status == 1 and "damaged after 3 records" in text
    assert printed(tmp_path / "nothing")[0] == 1
    (tmp_path / "garbage").write_bytes(b"garbage" * 20)
    assert printed(tmp_path / "garbage")[0] == 1
