"""tf.contrib.graph_editor: names and numbers are TensorFlow 1.15.5's."""
import numpy as np
import pytest

import penstock.v1 as tf

ge = tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def diamond():
    """a -> (b, c) -> d -> e, in a scope; e waits for a."""
    with tf.name_scope("s"):
        a = tf.constant(2., name="a")
        b = tf.square(a, name="b")
        c = tf.negative(a, name="c")
        d = tf.add(b, c, name="d")
        with tf.control_dependencies([a]):
            e = tf.identity(d, name="e")
    return a, b, c, d, e


def names(items):
    return [x.name for x in items]


def value(tensor, feeds=None):
    with tf.Session() as session:
        return session.run(tensor, feeds)


def test_walks(diamond):
    a, b, c, d, e = diamond
    assert sorted(names(ge.get_forward_walk_ops(b.op))) == ["s/b", "s/d", "s/e"]
    assert sorted(names(ge.get_forward_walk_ops([a], inclusive=False))) == ["s/d", "s/e"]
    assert sorted(names(ge.get_forward_walk_ops(a.op, within_ops=[a.op, b.op, d.op]))) == ["s/a", "s/b", "s/d"]
    assert sorted(names(ge.get_backward_walk_ops(d, inclusive=False))) == ["s/a", "s/b", "s/c"]
    assert sorted(names(ge.get_backward_walk_ops(e.op, stop_at_ts=[d]))) == ["s/e"]
    assert sorted(names(ge.get_backward_walk_ops(e.op, stop_at_ts=[d], control_inputs=True))) == ["s/a", "s/e"]
    assert sorted(names(ge.get_walks_intersection_ops(b, [d]))) == ["s/d"]
    assert sorted(names(ge.get_walks_union_ops(b.op, c.op))) == ["s/a", "s/b", "s/c", "s/d", "s/e"]
    with pytest.raises(TypeError):
        ge.get_forward_walk_ops([a.op, b])


def test_selection(diamond, graph):
    a, b, c, d, e = diamond
    assert names(ge.select_ops("^s/[ab]$", [d.op, b], graph=graph)) == ["s/a", "s/b", "s/d"]
    ops, ts = ge.select_ops_and_ts("s/b", "(?#ts)s/[cd]:0", graph=graph)
    assert names(ops) == ["s/b"] and names(ts) == ["s/c:0", "s/d:0"]
    assert names(ge.filter_ts_from_regex(graph, "/a")) == ["s/a:0"]
    assert names(ge.get_name_scope_ops(graph, "s/")) == ["s/a", "s/b", "s/c", "s/d", "s/e"]
    assert [names(x) for x in ge.compute_boundary_ts([b.op, d.op])] == [["s/a:0", "s/c:0"], ["s/d:0"], ["s/b:0"]]
    assert names(ge.get_within_boundary_ops(graph, [d.op], [b.op, e.op])) == ["s/a", "s/b", "s/c", "s/d", "s/e"]
    with pytest.raises(ValueError, match="graph"):
        ge.select_ops("x")


def test_views(diamond, graph):
    a, b, c, d, e = diamond
    view = ge.sgv("s/[bd]", graph=graph)
    assert names(view.inputs) == ["s/a:0", "s/c:0"] and names(view.outputs) == ["s/d:0"]
    assert names(view.remap_inputs([1, 0]).inputs) == ["s/c:0", "s/a:0"]
    assert names(ge.SubGraphView([b.op]).remap_outputs_to_consumers().outputs) == ["s/b:0"]
    assert names(view.consumers()) == ["s/e"] and view.input_index(c) == 1
    assert names(ge.SubGraphView([], [b]).passthroughs) == ["s/b:0"] and not ge.SubGraphView()
    assert names(ge.sgv_scope("s", graph).ops) == ["s/a", "s/b", "s/c", "s/d", "s/e"]
    for bad in ([0, 0], [2]):
        with pytest.raises(ValueError):
            view.remap_inputs(bad)


def test_rerouting(diamond):
    a, b, c, d, e = diamond
    assert ge.reroute_ts(c, b, can_modify=d.op) == 1
    assert value(e) == -4.
    assert ge.swap_ts([a], [d], cannot_modify=[b.op, c.op, d.op]) == 1
    assert value(e) == 2.
    with pytest.raises(ValueError, match="Dtypes"):
        ge.reroute_ts(tf.constant(1), a)
    ge.remove_control_inputs(e.op, a.op)
    assert not e.op.control_inputs
    ge.add_control_inputs(e.op, [b.op])
    with pytest.raises(ValueError, match="already"):
        ge.add_control_inputs(e.op, b.op)


def test_detaching_and_connecting(diamond):
    a, b, c, d, e = diamond
    view, inputs, outputs = ge.detach(ge.sgv(d.op))
    assert names(inputs) == ["s/geph__b_0:0", "s/geph__c_0:0"] and names(outputs) == ["s/geph__d_0:0"]
    assert value(d, {inputs[0]: 5., inputs[1]: 6.}) == 11. and value(e, {outputs[0]: 7.}) == 7.
    x = tf.constant([3., 4.])
    new = tf.add(*tf.unstack(x))
    ge.connect(ge.sgv(b.op, c.op), ge.sgv(new.op))
    assert value(new) == 2.
    ge.bypass(ge.sgv(c.op))
    assert value(new) == 6.


def test_copies(diamond, graph):
    a, b, c, d, e = diamond
    tf.add_to_collection("s/mine", d)
    x = tf.constant(3., name="x")
    view, info = ge.copy_with_input_replacements(ge.sgv(b.op, c.op, d.op), {a: x}, dst_scope="t", src_scope="s")
    assert names(view.ops) == ["t/b", "t/c", "t/d"] and names(view.outputs) == ["t/d:0"]
    assert value(info.transformed(d)) == 6. and info.original(view.ops[0]) is b.op
    assert info.transformed(e) is None
    assert names(tf.get_collection("t/mine")) == ["t/d:0"]
    with tf.Graph().as_default() as other:
        view, info = ge.copy(ge.sgv(d.op), other, "u")
        assert names(other.get_operations()) == ["u/geph__b_0", "u/geph__c_0", "u/s/d"]
        assert value(view.outputs[0], dict(zip(view.ops[0].inputs, [1., 2.]))) == 3.


def test_replacing_goes_through_loops():
    x = tf.constant(1., name="x")
    with tf.device("/cpu:0"):
        y = tf.multiply(x, 2., name="y")
    _, z = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * y), [0, y])
    np.testing.assert_allclose(value(z), 16.)
    replaced = ge.graph_replace({"z": [z], "x": x}, {x: tf.constant(2.)})
    assert replaced["x"] is x
    np.testing.assert_allclose(value(replaced["z"][0]), 256.)
    assert ge.graph_replace(y, {x: tf.constant(2.)}).device == "/device:CPU:0"
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(x, {y: x})


def test_gradients_with_a_copy_of_the_forward_pass():
    """What programs do that trade memory for time: they compute a layer again for its gradient."""
    x = tf.constant([.5, -.25])
    checkpoint = tf.tanh(x)
    loss = tf.reduce_sum(tf.sin(tf.tanh(checkpoint * 3.)))
    inner = ge.get_forward_walk_ops([checkpoint], within_ops=ge.get_backward_walk_ops(loss.op, inclusive=True))
    stopped = tf.stop_gradient(checkpoint)
    _, info = ge.copy_with_input_replacements(ge.sgv(inner), {})
    copied = info.transformed(inner)
    ge.reroute_ts([stopped], [checkpoint], can_modify=copied)
    of_checkpoint, = tf.gradients(info.transformed(loss), [stopped])
    of_x, = tf.gradients(checkpoint, [x], grad_ys=[of_checkpoint])
    found, expected = value([of_x, tf.gradients(loss, x)[0]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
