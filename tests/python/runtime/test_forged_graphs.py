"""Graphs that no front end builds: whoever runs them gets an error, and the session goes on."""

import os
import sys

import pytest

import penstock.v1 as tf

raw = tf.raw_ops


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as sess:
        sum_of_two = tf.constant(1) + 2
        yield sess
        assert sess.run(sum_of_two) == 3


def enter(value, frame, **attrs):
    return raw.Enter(data=value, frame_name=frame, **attrs)


def refused(session, fetch, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(fetch, options=tf.RunOptions(timeout_in_ms=5000))


def test_a_merge_of_values_from_two_loops(session):
    merge = raw.Merge(inputs=[enter(1, "one"), enter(2, "two")])
    refused(session, raw.Exit(data=merge[0]), "inputs from different frames.*'two'.*'one'")


def test_a_merge_of_a_loop_and_what_is_around_it(session):
    merge = raw.Merge(inputs=[enter(1, "one"), tf.placeholder_with_default(2, [])])
    refused(session, raw.Exit(data=merge[0]), "inputs from different frames")


def test_control_edges_between_loops(session):
    one, two = enter(1, "one"), enter(2, "two")
    with tf.control_dependencies([one]):
        refused(session, raw.Exit(data=tf.identity(two)), "inputs from different frames")


def test_an_iteration_that_goes_on_in_another_loop(session):
    other = enter([1] * 100, "other")
    merge = raw.Merge(inputs=[other, other])
    following = raw.NextIteration(data=enter(1, "loop") + enter(1, "loop", is_constant=True))
    merge[0].op._update_input(1, following)
    refused(session, raw.Exit(data=merge[0]), "of frame 'loop' goes on in another one, in .* of frame 'other'")


@pytest.mark.parametrize("op", [raw.Exit, raw.NextIteration])
def test_ends_of_loops_outside_of_any(session, op):
    refused(session, op(data=tf.constant(1)).op, "is in no frame")


def test_a_constant_of_another_type_than_its_output(session):
    graph = tf.get_default_graph()
    names = tf.constant(["a", "b"], name="names")
    raw.RestoreV2(prefix="model", tensor_names=names, shape_and_slices=names, dtypes=[tf.float32] * 2, name="restore")
    definition = graph.as_graph_def()
    for node in definition.node:
        if node.name == "names":
            node.attr["value"].tensor.dtype = tf.int64.as_datatype_enum
    tf.import_graph_def(definition, name="forged")  # its shape functions read the constant
    refused(session, "forged/names:0", "Type mismatch between value .int64. and dtype .string.")
    refused(session, "forged/restore:0", "Type mismatch")


def test_a_forked_child_ends_though_its_parent_has_iterators(session):
    dataset = tf.data.Dataset.range(100).map(lambda x: x + 1, 2).prefetch(2)
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    product = tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    assert session.run(following) == 1
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with pytest.raises(tf.errors.FailedPreconditionError, match="forked"):
                session.run(following)
            assert session.run(product)[0, 0] == 300
            session.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert session.run(following) == 2


def test_a_long_chain_of_shape_arithmetic():
    """What it gives is known when it is imported, however long it is: no thread's stack holds it."""
    graph_def = tf.GraphDef()

    def add(name, op, *inputs, **types):
        node = graph_def.node.add(name=name, op=op, input=inputs)
        for attr, value in types.items():
            node.attr[attr].type = value
        return node

    add("x", "Const", dtype=3).attr["value"].tensor.CopyFrom(tf.make_tensor_proto(7))
    last = "x"
    for i in range(6000):
        add(f"pack_{i}", "Pack", last, T=3).attr["N"].i = 1
        last = f"squeeze_{i}"
        add(last, "Squeeze", f"pack_{i}", T=3)
    add("shape", "Pack", last, T=3).attr["N"].i = 1
    add("zero", "Const", dtype=1).attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0.0))
    add("filled", "Fill", "shape", "zero", T=1)
    with tf.Graph().as_default():
        filled, = tf.import_graph_def(graph_def, return_elements=["filled:0"])
        assert filled.shape == [7]
        with tf.Session() as sess:
            assert sess.run(filled).tolist() == [0.0] * 7


def nested_calls(levels):
    """A graph that calls a function that calls one twice that calls one twice ..., 2**levels times in all."""
    graph_def = tf.GraphDef()

    def call(nodes, name, function, given):
        node = nodes.add(name=name, op="PartitionedCall", input=[given])
        node.attr["f"].func.name = function
        node.attr["Tin"].list.type.append(1)
        node.attr["Tout"].list.type.append(1)

    for level in range(levels + 1):
        function = graph_def.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        if level == 0:
            function.node_def.add(name="neg", op="Neg", input=["x"]).attr["T"].type = 1
            function.ret["y"] = "neg:y:0"
            continue
        call(function.node_def, "first", f"f{level - 1}", "x")
        call(function.node_def, "second", f"f{level - 1}", "first:output:0")
        function.ret["y"] = "second:output:0"
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    call(graph_def.node, "y", f"f{levels}", "x")
    return graph_def


def test_many_nested_calls():
    """Compiled in a time that grows with their number: it took a minute when it grew with its cube."""
    for levels in (0, 1, 12, 16):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(nested_calls(levels), name="")
            assert sess.run("y:0", {"x:0": 3.0}) == (3.0 if levels else -3.0)
