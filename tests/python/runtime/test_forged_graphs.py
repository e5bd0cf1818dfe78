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
