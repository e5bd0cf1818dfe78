"""The commands of penstock: one help, time, freeze, optimize, inspect of all files, draw by ending."""
import os
import subprocess
import sys

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.__main__ import COMMANDS, main, usage
from penstock._src.tools import inspect


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A SavedModel, a checkpoint with its graph, and an event file of y = relu(x w), which has a loss and a saver."""
    folder = tmp_path_factory.mktemp("files")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(np.ones([3, 2], np.float32), name="w")
        y = tf.nn.relu(tf.identity(tf.matmul(x, w), name="middle"), name="y")
        tf.summary.scalar("loss", tf.reduce_sum(y))
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder / "model"), {"in": x}, {"out": y})
        tf.train.Saver().save(session, str(folder / "trained" / "m"))
        with tf.summary.FileWriter(str(folder / "events"), session.graph) as writer:
            for step in range(16):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=16.0 - step)]), step)
    return folder


def test_one_help_lists_all_commands(capsys):
    for name in "check time freeze optimize inspect draw doctor records saved-model alias".split():
        assert f"\n  {name} " in usage() and name in COMMANDS
        assert main([name, "--help"]) == 0 and f"usage: penstock {name}" in capsys.readouterr().out
    assert main(["run", "--help"]) == 0 and "run a program" in capsys.readouterr().out
    assert main(["inspekt"]) == 2 and "(inspect?)" in capsys.readouterr().err


def test_a_closed_pipe_is_quiet(files):
    command = f"{sys.executable} -m penstock inspect {files}/model {files}/model | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert done.stdout.startswith("==> ") and done.stderr == ""


def test_freeze_optimize_and_time(files, capsys):
    for model, outputs in (("model", []), ("trained/m", ["--outputs", "y"])):
        frozen = str(files / "frozen.pb")
        assert main(["freeze", str(files / model), "-o", frozen, *outputs]) == 0
        assert "inputs  x:0" in capsys.readouterr().out
        assert main(["optimize", frozen, "-o", str(files / "quick.pbtxt")]) == 0, capsys.readouterr().err
        with tf.Graph().as_default(), tf.Session() as session:
            from penstock._src.tools import graph_files
            for name in ("frozen.pb", "quick.pbtxt"):
                graph_def = graph_files.load_graph(str(files / name))
                out, = tf.import_graph_def(graph_def, return_elements=["y:0"], name=name.partition(".")[0])
                fed = session.graph.get_tensor_by_name(name.partition(".")[0] + "/x:0")
                assert session.run(out, {fed: [[1, 2, 3]]}).tolist() == [[6, 6]]
            assert not any(node.op == "Identity" for node in graph_def.node)
    capsys.readouterr()
    for model in ("model", "trained/m", "frozen.pb"):
        assert main(["time", str(files / model), "--runs", "5", "--batch", "4"]) == 0
        out = capsys.readouterr().out
        assert out.startswith("5 steps, ") and all(word in out for word in ("median", "p90", "p99", "at most")), out
    assert main(["time", str(files / "none")]) == 1 and "no such file" in capsys.readouterr().err
    assert main(["time", str(files / "model"), "--signature", "x"]) == 1
    assert "it has: serving_default" in capsys.readouterr().err


def test_inspect_shows_outputs_and_tags(files, capsys):
    assert main(["inspect", str(files / "trained" / "m.meta"), str(files / "trained" / "checkpoint")]) == 0
    out = capsys.readouterr().out
    assert "output  op\nSum     Sum\n" in out and "/m (latest)" in out and "[3, 2]" in out
    event_file, = (files / "events").iterdir()
    assert main(["inspect", str(event_file)]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("loss  "))
    assert row.split() == ["loss", "16", "16", "1", "1", "16", "██▇▇▆▆▅▅▄▄▃▃▂▂▁▁"]
    assert inspect.sparkline([1, 1]) == "▄▄" and inspect.sparkline([0, float("nan"), 7]) == "▁ █"


def test_inspect_of_kerass_files(tmp_path, capsys):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "weights.h5", "w") as f:
        f["dense/kernel"] = np.zeros([3, 2], np.float32)
    assert main(["inspect", str(tmp_path / "weights.h5")]) == 0
    out = capsys.readouterr().out
    assert "1 arrays, 24 bytes" in out and "dense/kernel" in out and "[3, 2]" in out
    import json
    import zipfile
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as f:
        f.writestr("metadata.json", json.dumps({"keras_version": "3.15.0"}))
        f.writestr("config.json", json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": [
            {"class_name": "Dense", "config": {"name": "first"}, "build_config": {"input_shape": [None, 3]}}]}}))
        f.write(tmp_path / "weights.h5", "model.weights.h5")
    assert main(["inspect", str(tmp_path / "model.keras")]) == 0
    out = capsys.readouterr().out
    assert "Keras 3.15.0: Sequential s" in out and "Dense" in out and "[None, 3]" in out and "dense/kernel" in out


def test_draw_leaves_out_what_is_not_the_computation(files, tmp_path, capsys):
    meta = str(files / "trained" / "m.meta")
    assert main(["draw", meta, "-o", str(tmp_path / "a.dot")]) == 0
    text = (tmp_path / "a.dot").read_text()
    assert text.startswith("digraph {") and 'label="y"' in text and "->" in text
    assert not any(word in text for word in ("save", "init", "loss"))
    assert main(["draw", "--all", meta, "-o", str(tmp_path / "b.dot")]) == 0
    assert "save" in (tmp_path / "b.dot").read_text() and "init" in (tmp_path / "b.dot").read_text()
    assert main(["draw", meta, "-o", str(tmp_path / "a.svg")]) == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    if main(["draw", meta, "-o", str(tmp_path / "a.png")]):
        assert "cairosvg" in capsys.readouterr().err
    else:
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
