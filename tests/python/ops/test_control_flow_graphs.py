"""Functional control flow in version 1's graphs: what runs, what shapes are known, gradients inside of branches and
bodies. The expected values are those of TensorFlow 1.15.5."""
import collections
import concurrent.futures
import threading

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.function import defun as function


@pytest.fixture(params=[False, True], ids=["frames", "functional"])
def session(request):
    before = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if request.param else tf.disable_control_flow_v2)()
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.functional = request.param
        yield sess
    (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()


def test_a_branch_does_what_is_asked_for(session):
    variables = [tf.Variable(7, use_resource=True) for _ in range(3)]

    def run():
        done = tf.cond(tf.constant(3) > 2,
                       lambda: [variables[0].assign(1).op, variables[1].assign(2).op],
                       lambda: [variables[2].assign(3).op, tf.constant(10).op])
        return done[1]

    session.run(tf.global_variables_initializer())
    session.run(run())
    assert session.run(variables) == [7, 2, 7]
    session.run(tf.function(run)())  # in a function all of the branch's effects count
    assert session.run(variables) == [1, 2, 7]


def test_what_nothing_waits_for_is_left_out_of_branches_and_bodies(session):
    v = tf.Variable(1, use_resource=True)

    def branch():
        v.assign_add(1)
        return tf.constant(0)

    def conditional():
        return tf.cond(tf.constant(True), branch, lambda: tf.constant(1))

    session.run(v.initializer)
    result = conditional()
    with tf.control_dependencies([result.op.inputs[0].op if session.functional else result]):
        assert session.run(tf.identity(v.read_value())) == 1
    outer = tf.cond(tf.constant(True), lambda: (conditional(), tf.constant(2.0))[1], lambda: tf.constant(3.0))
    first = tf.while_loop(lambda i: i < 3, lambda i: (conditional(), i + 1)[1], [0])
    second = tf.while_loop(lambda i: i < 3, lambda i: (v.assign_add(1), i + 1)[1], [0])
    assert session.run([result, outer, first, second, v]) == [0, 2.0, 3, 3, 1]
    session.run(tf.function(lambda: (conditional(), tf.constant(0))[1])())
    assert session.run(v) == 2


def test_slices_with_indices_of_different_types(session):
    values = tf.constant([10])
    result = tf.cond(tf.constant(1) < 2, lambda: tf.IndexedSlices(values + 1, tf.constant([0])),
                     lambda: tf.IndexedSlices(values - 1, tf.constant([0], tf.int64)))
    assert result.indices.dtype == tf.int64
    assert session.run(result.values) == [11] and session.run(result.indices) == [0]
    small, large = tf.constant([0]), tf.constant([0], tf.int64)  # outside of the branches
    result = tf.cond(tf.constant(1) > 2, lambda: tf.IndexedSlices(values, small),
                     lambda: tf.IndexedSlices(values, large))
    assert result.indices.dtype == tf.int64 and session.run(result.indices) == [0]


def test_a_resource_variable_decides(session):
    v = tf.Variable(True, use_resource=True)
    x = tf.constant(1.0)
    result = tf.cond(v, lambda: tf.identity(x), lambda: x * 2.0)
    session.run(v.initializer)
    assert session.run(result) == 1.0
    session.run(v.assign(False))
    assert session.run(result) == 2.0


def loop(x):
    """1 + x + x + ... until it is 10 at least."""
    return tf.while_loop(lambda n: n < 10.0, lambda n: n + x, [tf.constant(1.0)], [tf.TensorShape(None)])


def test_a_gradient_inside_of_a_branch(session):
    x = tf.placeholder(tf.float32)
    y = tf.cond(tf.constant(1) < 2, lambda: tf.gradients(loop(x), x)[0], lambda: x)
    assert session.run(y, {x: 1.0}) == 9.0
    assert session.run(y, {x: 3.0}) == 3.0


def test_a_gradient_inside_of_a_body(session):
    n, x = tf.constant(1.0), tf.placeholder(tf.float32)

    def body(n):
        inner = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [0, n])[1]
        return n + tf.gradients(inner, n)[0]

    y = tf.while_loop(lambda n: n < 20.0, body, [n], [tf.TensorShape(None)])
    assert session.run(y, {x: 3.0}) == 28.0


def test_nested_loops_with_bounds_from_outside(session):
    bound = tf.placeholder_with_default(3, [])
    v = tf.constant(2.0)

    def inner(x):
        return tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x * v), (0, x), maximum_iterations=bound)[1]

    y = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, inner(x)), (0, 1.0), maximum_iterations=bound)[1]
    np.testing.assert_array_equal(session.run([y, tf.gradients(y, v)[0]]), [64.0, 192.0])


def test_constants_outside_are_known_inside(session):
    size = tf.constant([3, 4])

    def body(i, u):
        whole = tf.concat([[5], size], 0)
        for made in (tf.zeros(whole), tf.fill(whole, 1.0), tf.random_normal(whole), tf.reshape(u, whole)):
            assert made.shape.as_list() == [5, 3, 4]
        return i + 1, u

    tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([5, 3, 4])])
    if session.functional:
        tf.cond(tf.placeholder(tf.bool, []), lambda: body(0, tf.zeros([60]))[1], lambda: tf.zeros([60]))


def test_the_shape_of_a_ragged_variable(session):
    x = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    for invariant in (tf.TensorShape([None, None]), tf.RaggedTensorSpec([None, None], tf.int32)):
        _, y = tf.while_loop(lambda i, _: i < 2, lambda i, x: [i + 1, tf.concat([x, x], axis=1)], [0, x],
                             [tf.TensorShape([]), invariant])
        assert y.values.shape.as_list() == [None] and y.row_splits.shape.as_list() == [None]
        assert session.run(y.row_splits).tolist() == [0, 8, 12, 24]


def test_what_a_shape_cannot_describe(session):
    x = tf.SparseTensor([[0]], [1.0], [10])
    with pytest.raises(ValueError, match="Expected a shape with 1 dimension"):
        tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x), [0, x],
                      [tf.TensorShape([]), tf.TensorShape([None, None])])


def test_a_function_waits_for_its_argument(session):
    @function.Defun(tf.float32)
    def f(x):
        with tf.control_dependencies([x]):
            return tf.constant(1.0, name="one")

    assert session.run(f(tf.constant(2.0))) == 1.0
    node, = [n for n in f.definition.node_def if n.op == "Const"]
    assert list(node.input) == ["^x"]
    again = tf.Graph()
    with again.as_default():
        tf.import_graph_def(session.graph.as_graph_def(), name="")
    library = again.as_graph_def().library
    assert [list(n.input) for f in library.function for n in f.node_def if n.op == "Const"] == [["^x"]]


def test_a_result_alone_is_unpacked():
    single = collections.namedtuple("single", "a")
    with tf.Graph().as_default(), tf.Session() as sess:
        for make in (lambda x: [x], lambda x: (x,), single):
            both = [lambda i=i, make=make: make(tf.constant(i)) for i in (1, 3)]
            assert sess.run(tf.cond(tf.constant(True), *both)) == 1
            kept = sess.run(tf.cond(tf.constant(False), *both, strict=True))
            assert type(kept) is type(make(0)) and kept[0] == 3


def test_a_function_that_calls_itself_for_ever():
    graph_def = tf.GraphDef()
    forever = graph_def.library.function.add()
    forever.signature.name = "forever"
    forever.signature.input_arg.add(name="x", type=tf.float32.as_datatype_enum)
    forever.signature.output_arg.add(name="y", type=tf.float32.as_datatype_enum)
    forever.node_def.add(name="call", op="forever", input=["x"])
    forever.ret["y"] = "call:y:0"
    with tf.Graph().as_default(), tf.Session() as sess:
        graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
        graph_def.node.add(name="y", op="forever", input=["x"])
        y, = tf.import_graph_def(graph_def, name="again", return_elements=["y:0"])
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"Function forever is called .*\d+ levels deep"):
            sess.run(y, {"again/x:0": 1.0})
        before = threading.stack_size(512 * 1024)  # less than the calls need
        try:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                run = pool.submit(sess.run, y, {"again/x:0": 1.0})
                with pytest.raises(tf.errors.ResourceExhaustedError, match="the thread's stack has no more room"):
                    run.result()
        finally:
            threading.stack_size(before)


def test_branches_with_lists_and_tuples_of_one():
    with tf.Graph().as_default(), tf.Session() as sess:
        result = tf.cond(tf.constant(False), lambda: [tf.constant(2)], lambda: (tf.constant(3),))
        assert sess.run(result) == 3
