"""Freezing, stripping, folding: the results compute what the graph did. What inspect prints."""
import io

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools import freeze_graph
from penstock._src.tools import inspect
from penstock._src.tools import optimize_for_inference_lib
from penstock._src.tools import saved_model_utils
from penstock._src.tools import strip_unused_lib


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


def test_damaged_files_are_told_and_no_traceback(tmp_path, capsys):
    tf.get_variable("weights", [3, 2])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(sess, str(tmp_path / "m"))
    index = tmp_path / "m.index"
    index.write_bytes(index.read_bytes()[:-4])
    for path in prefix, index, tmp_path:
        status, text = printed(path)
        assert status == 1 and "m.index" in text and "damaged" in text
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"\x12\xff\xff")
    status, text = printed(tmp_path / "saved")
    assert status == 1 and "saved_model.pb" in text
    status, _, told = saved_model_cli(capsys, "show", tmp_path / "saved", "--all")
    assert status == 1 and "saved_model.pb" in told
    from penstock._src.tools import draw
    assert draw.main([str(tmp_path / "nothing"), "-o", str(tmp_path / "o.svg")]) == 1
    assert "nothing" in capsys.readouterr().err
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    assert printed(tmp_path / "saved") == (1, f"{tmp_path / 'saved'}: a SavedModel without graphs\n")
    assert draw.main([str(tmp_path / "saved"), "-o", str(tmp_path / "o.svg")]) == 1
    assert "without graphs" in capsys.readouterr().err
    for place in tmp_path, tmp_path / "none" / "o.svg":
        assert draw.main([prefix + ".meta", "-o", str(place)]) == 1
        assert f"{place};" in capsys.readouterr().err
    (tmp_path / "words").write_bytes(b"words")
    assert printed(tmp_path / "words")[0] == 1
    from penstock._src.tools import records
    assert records.main(["count", str(tmp_path / "words")]) == 1
    assert "words: no complete record" in capsys.readouterr().err
    from penstock import __main__ as command_line
    assert command_line.main(["inspect"]) == 2 and command_line.main(["records"]) == 2


def saved_model_cli(capsys, *arguments):
    from penstock._src.tools import saved_model_cli as cli
    status = cli.main([str(a) for a in arguments])
    found = capsys.readouterr()
    return status, found.out, found.err


def test_saved_model_cli(tmp_path, capsys):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.multiply(x, 2.0, name="y")
    examples = tf.placeholder(tf.string, [None], name="examples")
    parsed = tf.parse_example(examples, {"f": tf.FixedLenFeature([1], tf.float32)})["f"]
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Session() as sess:
        builder.add_meta_graph_and_variables(sess, ["serve", "more"], {
            "serving_default": tf.saved_model.predict_signature_def({"x": x}, {"y": y}),
            "parse": tf.saved_model.predict_signature_def({"e": examples}, {"f": parsed})})
    builder.save()
    model = tmp_path / "m"
    assert "'more, serve'" in saved_model_cli(capsys, "show", model)[1]
    keys = saved_model_cli(capsys, "show", model, "--tag_set", "serve,more")[1]
    assert 'SignatureDef key: "parse"\nSignatureDef key: "serving_default"' in keys
    shown = saved_model_cli(capsys, "show", "--dir", model, "--tag_set", "serve,more", "--signature_def", "parse")[1]
    assert "inputs['e'] tensor_info:\n      dtype: DT_STRING\n      shape: (-1)\n      name: examples:0" in shown
    shown = saved_model_cli(capsys, "show", model, "--all")[1]
    assert "signature_def['serving_default']:" in shown
    assert "\nThe MetaGraph with tag set ['serve', 'more'] contains the following ops: {'Const', " in shown

    def run(*more):
        return saved_model_cli(capsys, "run", model, "--tag_set", "serve,more", *more)

    np.savez(tmp_path / "in.npz", a=np.float32([[1, 2]]), b=np.float32([[3, 4]]))
    out = tmp_path / "out"
    status, text, _ = run("--signature_def", "serving_default", "--inputs", f"x={tmp_path / 'in.npz'}[b]", "--outdir",
                          out)
    assert status == 0 and "Result for output key y:\n[[6. 8.]]" in text
    assert np.load(out / "y.npy").tolist() == [[6, 8]]
    status, _, error = run("--signature_def", "serving_default", "--input_exprs", "x=np.ones((1, 2))", "--outdir", out)
    assert status == 1 and "already exists" in error
    assert "[[2. 2.]]" in run("--signature_def", "serving_default", "--input_exprs", "x=np.ones((1, 2))", "--outdir",
                              out, "--overwrite")[1]
    assert "[[1.5]]" in run("--signature_def", "parse", "--input_examples", 'e=[{"f": [1.5]}]')[1]
    for more, phrase in ((("--signature_def", "none", "--input_exprs", "x=1"), "no signature 'none'"),
                         (("--signature_def", "parse", "--input_exprs", "x=1"), "not a valid input key"),
                         (("--signature_def", "parse"), "must be required"),
                         (("--signature_def", "parse", "--inputs", "x"), "format is incorrect"),
                         (("--signature_def", "parse", "--inputs", f"e={__file__}"), "none of NumPy's"),
                         (("--signature_def", "parse", "--input_exprs", "e=1/0"), "ZeroDivisionError"),
                         (("--signature_def", "parse", "--input_exprs", "e=(1"), "SyntaxError"),
                         (("--signature_def", "parse", "--input_examples", "e={}"), "must be a list of dictionaries")):
        status, _, error = run(*more)
        assert status == 1 and phrase in error
    assert "does not contain the default denylisted ops: {" in saved_model_cli(capsys, "scan", model)[1]
    assert "contains the following denylisted ops: {'Mul'}" in saved_model_cli(
        capsys, "scan", model, "--op_denylist", "Mul,Add")[1]


def test_placeholders_of_booleans_become_constants(graph):
    tf.placeholder(tf.bool, [], name="scope/phase_train")
    tf.placeholder_with_default(True, [], name="keras_learning_phase")
    tf.placeholder(tf.float32, [], name="phase_train_of_floats")
    made = optimize_for_inference_lib.convert_placeholder_to_const(graph.as_graph_def(), ["phase_train=yes"])
    values = {node.name: optimize_for_inference_lib.values_from_const(node).item()
              for node in made.node if node.op == "Const"}
    assert values["scope/phase_train"] is True and values["keras_learning_phase"] is False
    assert [node.name for node in made.node if node.op == "Placeholder"] == ["phase_train_of_floats"]
    with pytest.raises(ValueError, match="Expected NAME=True"):
        optimize_for_inference_lib.convert_placeholder_to_const(graph.as_graph_def(), ["phase_train"])


def test_optimizing_with_a_known_phase(graph):
    phase = tf.placeholder(tf.bool, [], name="phase")
    tf.where(phase, 1., 2., name="y")
    arguments = graph.as_graph_def(), [], ["y"], tf.float32.as_datatype_enum
    made = optimize_for_inference_lib.optimize_for_inference(*arguments, placeholder_to_const_names=["phase=False"])
    with tf.Graph().as_default(), tf.Session() as session:
        y, = tf.import_graph_def(made, return_elements=["y:0"])
        assert session.run(y) == 2


def test_graphs_without_tags(tmp_path, graph):
    with tf.Session() as session:
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        tf.Variable(1.)
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, [])
        builder.save()
    assert list(saved_model_utils.get_meta_graph_def(str(tmp_path / "m"), "").meta_info_def.tags) == []
