"""Variables and variable scopes: values, and what is refused."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(*fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(f) for f in fetches]


@pytest.mark.parametrize("resource", [False, True])
def test_assignments(resource):
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert list(sess.run(v)) == [1, 2, 3]
        sess.run(v.assign([4.0, 5.0, 6.0]).op)
        sess.run(v.assign_add([1.0, 1.0, 1.0]).op)
        assert list(sess.run(v.assign_sub([0.5, 0.5, 0.5]))) == [4.5, 5.5, 6.5]
        sess.run(tf.scatter_update(v, [0, 2], [0.0, 9.0]).op)
        sess.run(v.scatter_add(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([1, 1]))).op)
        assert list(sess.run(v)) == [0, 7.5, 9]
        sess.run(v[1].assign(3.0).op)
        sess.run(v.scatter_nd_update([[0]], [8.0]).op)
        assert list(sess.run(v)) == [8, 3, 9]
        v.load([1.0, 1.0, 1.0], sess)
        assert list(v.eval(sess)) == [1, 1, 1]


@pytest.mark.parametrize("resource", [False, True])
def test_initial_values_that_depend_on_variables(resource):
    a = tf.Variable(tf.random_normal([3], seed=1), use_resource=resource)
    b = tf.Variable(a * 2.0 + 1.0, use_resource=resource)
    c = tf.Variable(b.initialized_value(), use_resource=resource)
    with tf.Session() as sess:
        for variable in (a, b, c):  # all at once they would race
            sess.run(variable.initializer)
        va, vb, vc = sess.run([a, b, c])
    np.testing.assert_allclose(vb, va * 2 + 1)
    np.testing.assert_allclose(vc, vb)


def test_uninitialized():
    v = tf.Variable(1.0, name="lonely")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="lonely"):
            sess.run(v)
        assert list(sess.run(tf.report_uninitialized_variables())) == [b"lonely"]
        assert not sess.run(tf.is_variable_initialized(v))
        sess.run(v.initializer)
        assert sess.run(v) == 1.0 and len(sess.run(tf.report_uninitialized_variables())) == 0


def test_partitioned():
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
        v = tf.get_variable("v", initializer=tf.constant(np.arange(10.0)))
    parts, whole = run(list(v), tf.convert_to_tensor(v))
    assert [len(p) for p in parts] == [4, 3, 3]
    np.testing.assert_array_equal(whole, np.arange(10.0))


def test_operators():
    v = tf.Variable([1.0, 2.0])
    assert [list(x) for x in run(v + 1, 2 - v, v * v, -v, v ** 2, v > 1.5)] == [
        [2, 3], [1, 0], [1, 4], [-1, -2], [1, 4], [False, True]]
    w = v
    w += 1.0
    assert isinstance(w, tf.Tensor)
    r = tf.Variable(1.0, use_resource=True)
    with pytest.raises(RuntimeError, match="assign_add"):
        r += 1.0
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)


@pytest.mark.parametrize("resource", [False, True])
def test_to_and_from_proto(resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource, trainable=False)
    text = v.to_proto().SerializeToString()
    definition = type(v.to_proto())()
    definition.ParseFromString(text)
    again = type(v).from_proto(definition)
    assert again.name == v.name and not again.trainable and again.op is v.op and again.initializer is v.initializer


@pytest.mark.parametrize("make, error, words", [
    (lambda: tf.Variable(None), ValueError, "initial_value must be specified"),
    (lambda: tf.Variable(1.0, collections="x"), ValueError, "must be a list, tuple, or set"),
    (lambda: tf.Variable(1.0, constraint=3), ValueError, "callable"),
    (lambda: tf.Variable(tf.placeholder(tf.float32)), ValueError, "must have a shape specified"),
    (lambda: tf.get_variable("x"), ValueError, "initializer passed is not valid"),
    (lambda: tf.get_variable("x", [1], initializer=tf.constant([1.0])), ValueError, "do not specify shape"),
    (lambda: tf.get_variable("x", initializer=tf.constant([1.0]), dtype=tf.int32), ValueError, "don't match"),
    (lambda: tf.variable_scope(None), TypeError, "default_name is None"),
    (lambda: tf.variable_scope("a", reuse=3), ValueError, "reuse parameter"),
    (lambda: tf.variable_scope("a", auxiliary_name_scope=1), TypeError, "auxiliary_name_scope"),
    (lambda: tf.variable_scope(5).__enter__(), TypeError, "must be a string or VariableScope"),
    (lambda: tf.get_variable("x", [2, 2], partitioner=lambda shape, dtype: [2, 2]), ValueError, "one dimension"),
    (lambda: tf.get_variable("x", [2], partitioner=lambda shape, dtype: 3), ValueError, "must return a sequence"),
    (lambda: tf.get_variable("x", [2], custom_getter=3), ValueError, "not callable"),
    (lambda: tf.Variable(1.0, aggregation="x"), ValueError, "aggregation"),
])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_reuse_modes():
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
        with pytest.raises(ValueError, match="already exists, disallowed(.|\n)*test_variables.py"):
            tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2]) is v
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("w", [2])
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            tf.get_variable("v", [3])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
            tf.get_variable("v", [2], tf.int32)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE) as scope:
        assert tf.get_variable("v", [2]) is v and tf.get_variable("w", [2]) is not v
        assert scope.trainable_variables() == tf.trainable_variables()
    with tf.variable_scope("b", default_name="x"):
        with pytest.raises(ValueError, match="without a name_or_scope"):
            with tf.variable_scope(None, "c", reuse=True):
                pass
    assert tf.get_variable_scope().name == ""


def test_control_flow_initializer_is_refused():
    def branch():
        x = tf.identity(1.0)
        with pytest.raises(ValueError, match="control-flow"):
            tf.Variable(x)
        tf.Variable(lambda: tf.identity(2.0))
        return x

    tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))


def test_improper_nesting():
    with tf.variable_scope("a"):
        inner = tf.variable_scope("b")
        inner.__enter__()
        with tf.variable_scope("c"):
            with pytest.raises(RuntimeError, match="nesting"):
                inner.__exit__(None, None, None)
        inner.__exit__(None, None, None)
        assert tf.get_variable_scope().name == "a"


def test_both_kinds_of_variables_behave_like_tensors():
    from penstock._src.graph import tensor_util
    from penstock._src.ops.state import resource_variable_ops
    with tf.Graph().as_default():
        for use_resource in (False, True):
            v = tf.Variable([1.0, 2.0], use_resource=use_resource)
            assert tf.is_tensor(v) and tensor_util.constant_value(v) is None
        assert tensor_util.constant_value(resource_variable_ops.variable_shape(v.handle)).tolist() == [2]


def test_constant_value_sees_as_far_as_version_1():
    from penstock._src.graph import tensor_util
    with tf.Graph().as_default():
        two = tf.constant([2, 3])
        assert tensor_util.constant_value(tf.cast(tf.concat([two, [1]], 0), tf.int64)).tolist() == [2, 3, 1]
        assert tensor_util.constant_value(tf.fill([2], 7)).tolist() == [7, 7]
        assert tensor_util.constant_value(two + 1) is None and tensor_util.constant_value(tf.identity(two)) is None
        shape = tf.stack([tf.reduce_prod(two), 4])
        assert tensor_util.constant_value_as_shape(shape).as_list() == [None, 4]
        assert tensor_util.constant_value_as_shape(tf.concat([shape, two], 0)[1:3]).as_list() == [4, 2]


@pytest.mark.parametrize("width", [1, 3, 100])
def test_many_updates_of_the_same_rows_are_made_in_order(width):
    numbers = np.random.RandomState(0)
    start, rows = numbers.randn(50, width).astype("f"), numbers.randint(0, 50, 1000)
    updates = numbers.randn(1000, width).astype("f")
    added, divided = start.copy(), start.copy()
    for row, update in zip(rows, updates):
        added[row] += update
        divided[row] /= np.float32(1.5)
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = tf.Variable(start), tf.Variable(start)
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.scatter_add(v, rows, updates)), added)
        np.testing.assert_array_equal(session.run(tf.scatter_div(w, rows, np.float32(1.5))), divided)


@pytest.mark.parametrize("resource", [False, True])
def test_scattered_updates_that_do_not_fit(resource):
    v = tf.Variable(tf.zeros([2, 2, 2]), use_resource=resource)
    with pytest.raises(ValueError, match=r"The outer 2 dimensions of indices\.shape=\[3,2,2\] must match the outer 2 "
                                         r"dimensions of updates\.shape=\[2,2,2\]"):
        tf.scatter_nd_update(v, np.zeros([3, 2, 2], np.int32), np.zeros([2, 2, 2], np.float32))
    with pytest.raises(ValueError, match=r"The inner 2 dimensions of input\.shape=\[2,2,2\] must match the inner 0 "
                                         r"dimensions of updates\.shape=\[2,2\]"):
        tf.scatter_nd_update(v, np.zeros([2, 2, 1], np.int32), np.zeros([2, 2], np.float32))
    scalar = tf.Variable(0.0, use_resource=resource)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Output must be at least 1-D"):
        run(tf.scatter_nd_update(scalar, [[0]], [0.22]))


def test_initializers_may_not_ask_for_partitions():
    """Keras' and version 2's do not, nor do plain functions: version 2 gives them what they ask for."""
    class Rows:
        def __call__(self, shape, dtype=None):
            return tf.ones(shape, dtype)

    asked = []

    def parts(shape, dtype, partition_info):
        asked.append(partition_info if partition_info is None else partition_info.var_offset)
        return tf.zeros(shape, dtype)

    two = tf.fixed_size_partitioner(2)
    for kind in Rows, Rows(), lambda shape, dtype=None: tf.ones(shape, dtype), tf.compat.v2.ones_initializer():
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", [4], initializer=kind)
            w = tf.get_variable("w", [4], initializer=kind, partitioner=two)
            session.run(tf.global_variables_initializer())
            assert session.run([v, tf.convert_to_tensor(w)])[1].tolist() == [1, 1, 1, 1]
    with tf.Graph().as_default():
        tf.get_variable("v", [4], initializer=parts)
        tf.get_variable("w", [4], initializer=parts, partitioner=two)
    assert asked == [None, [0], [2]]
