"""penstock draw: what stands in the picture, and where."""
import re
import xml.etree.ElementTree as ElementTree

import pytest

import penstock.v1 as tf
from penstock import __main__ as command
from penstock._src.tools import draw

SVG = "{http://www.w3.org/2000/svg}"


def graph():
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.name_scope("layer"):
            with tf.name_scope("weights"):
                w = tf.Variable(tf.zeros([4, 3]), name="w")
            h = tf.matmul(x, w, name="product")
        with tf.control_dependencies([tf.no_op(name="tick")]):
            tf.identity(h, name="y_out")
    return g.as_graph_def()


def boxes(svg):
    """{label: (class, y, title)}"""
    found = {}
    for g in ElementTree.fromstring(svg).iter(SVG + "g"):
        rect = g.find(SVG + "rect")
        if rect is not None:
            found[g.find(SVG + "text").text] = (rect.get("class"), float(rect.get("y")), g.find(SVG + "title").text)
    return found


def lines(svg):
    return {g.find(SVG + "title").text: g.find(SVG + "path").get("class")
            for g in ElementTree.fromstring(svg).iter(SVG + "g") if g.find(SVG + "path") is not None}


def test_scopes_are_folded():
    found = boxes(draw.draw(graph()))
    folded = sum(node.name.startswith("layer/") for node in graph().node)
    assert set(found) == {"x", "layer (%d)" % folded, "tick", "y_out"}
    scope = found["layer (%d)" % folded]
    assert scope[0] == "scope" and "1 MatMul" in scope[2]
    assert found["x"][0] == "op" and found["x"][2] == "x: Placeholder"
    assert found["x"][1] < scope[1] < found["y_out"][1]  # each below what it reads
    edges = lines(draw.draw(graph()))
    assert edges["x -> layer: 1 tensors"] == "data"
    assert edges["tick -> y_out: 0 tensors, 1 control edges"] == "control"


def test_depth_and_expansion():
    deeper = boxes(draw.draw(graph(), depth=2))
    assert deeper["product"][2] == "layer/product: MatMul"
    assert any(label.startswith("weights (") for label in deeper)
    assert boxes(draw.draw(graph(), expand=["layer"])).keys() == deeper.keys()
    assert "w" not in deeper and len(boxes(draw.draw(graph(), depth=9))) == len(graph().node)


def test_loops_do_not_hang():
    with tf.Graph().as_default() as g:
        tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], name="loop")
    svg = draw.draw(g.as_graph_def(), depth=9)
    assert "back" in lines(svg).values()
    assert len(boxes(svg)) > 4


def test_command(tmp_path, capsys):
    path, picture = tmp_path / "g.pb", tmp_path / "g.svg"
    path.write_bytes(graph().SerializeToString())
    assert command.main(["draw", str(path), "-o", str(picture), "--depth", "2"]) == 0
    assert re.search("layer/product: MatMul", picture.read_text())
    assert command.main(["draw", str(tmp_path / "none"), "-o", str(picture)]) == 1
    assert "no such file" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no nodes"):
        draw.draw(tf.GraphDef())


def test_saved_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="in")
        y = tf.identity(x * 2, name="out")
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": y})
    assert command.main(["draw", str(tmp_path / "m"), "-o", str(tmp_path / "m.svg")]) == 0
    assert {"in", "out"} <= boxes((tmp_path / "m.svg").read_text()).keys()
