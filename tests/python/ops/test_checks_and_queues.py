"""Checks, order between ops, queues, random numbers, Python functions: at run time and when the graph is built."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def test_checks_known_when_built():
    with tf.Graph().as_default():
        for check, arguments in ((tf.assert_equal, (1, 2)), (tf.assert_less, (2, 1)), (tf.assert_positive, (-1,)),
                                 (tf.assert_none_equal, (1, 1)), (tf.assert_greater_equal, (1, 2)),
                                 (tf.assert_non_positive, (3,))):
            with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
                check(*arguments)
        with pytest.raises(ValueError, match="must have rank 2.  Received rank 1"):
            tf.assert_rank([1], 2)
        with pytest.raises(ValueError, match="must have rank at least 2"):
            tf.assert_rank_at_least([1], 2)
        with pytest.raises(ValueError, match=r"must have rank in .*  Received rank 1"):
            tf.assert_rank_in([1], [0, 2])
        with pytest.raises(TypeError, match="integer"):
            tf.assert_integer(1.0)
        with pytest.raises(TypeError, match="must be of type"):
            tf.assert_type(1.0, tf.int32)
        with pytest.raises(ValueError, match="Expected scalar"):
            tf.assert_scalar([1])
        with pytest.raises(ValueError, match="must have size 3"):
            tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", "M")), (tf.ones([4, 2]), ("K", "M"))])
        with pytest.raises(TypeError, match="iterable"):
            tf.assert_proper_iterable("text")


def test_checks_at_run_time(session):
    x = tf.placeholder(tf.int32, [None])
    check = tf.assert_less(x, 5, message="too large")
    with tf.control_dependencies([check]):
        y = tf.identity(x)
    np.testing.assert_array_equal(session.run(y, {x: [1, 2]}), [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        session.run(y, {x: [9]})
    rank = tf.assert_rank(tf.placeholder_with_default([1], None), 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank"):
        session.run(rank)


def test_order(session):
    x = tf.constant(1.0)
    many = tf.group(x, x.op, name="many")
    assert many.type == "NoOp" and [op.name for op in many.control_inputs] == ["Const"]
    a, none, b = tf.tuple([x, None, tf.constant(2.0)])
    assert none is None and session.run([a, b]) == [1.0, 2.0]
    with pytest.raises(TypeError, match="group"):
        tf.group(3)
    with pytest.raises(ValueError, match="at least one Tensor"):
        tf.tuple([None])
    with pytest.raises(ValueError, match="Unknown keyword"):
        tf.group(x, nome="x")


def test_monotony(session):
    assert session.run([tf.is_non_decreasing([1, 1, 2]), tf.is_strictly_increasing([1, 1, 2]),
                        tf.is_strictly_increasing([1]), tf.is_non_decreasing([2, 1])]) == [True, False, True, False]


def test_confusion_matrix(session):
    got = session.run([tf.confusion_matrix([1, 2, 2], [1, 2, 0]),
                       tf.confusion_matrix([0, 1], [1, 1], 2, weights=[3, 4])])
    np.testing.assert_array_equal(got[0], [[0, 0, 0], [0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(got[1], [[0, 3], [0, 4]])


def test_queues(session):
    queue = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []])
    session.run(queue.enqueue_many([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [7, 8, 9]]))
    assert session.run(queue.size()) == 3
    one = session.run(queue.dequeue())
    np.testing.assert_array_equal(one[0], [1, 2])
    many = queue.dequeue_many(2)
    assert many[0].shape.as_list() == [2, 2]
    np.testing.assert_array_equal(session.run(many)[1], [8, 9])
    session.run(queue.close())
    assert session.run(queue.is_closed())
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(queue.dequeue())
    with pytest.raises(tf.errors.CancelledError):
        session.run(queue.enqueue([[1.0, 2.0], 3]))


def test_queues_with_names_priorities_and_padding(session):
    named = tf.FIFOQueue(4, [tf.int32, tf.string], names=["number", "text"])
    session.run(named.enqueue({"number": 3, "text": "x"}))
    assert session.run(named.dequeue()) == {"number": 3, "text": b"x"}
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        named.enqueue([1, "x"])
    with pytest.raises(ValueError, match="do not match names"):
        named.enqueue({"number": 1})
    priority = tf.PriorityQueue(4, tf.string, shapes=[()])
    session.run(priority.enqueue_many([np.array([5, 1, 3]), ["e", "a", "c"]]))
    assert [session.run(priority.dequeue())[1] for _ in range(3)] == [b"a", b"c", b"e"]
    padded = tf.PaddingFIFOQueue(4, tf.int32, [[None]])
    for values in ([1], [2, 3]):
        session.run(padded.enqueue([values]))
    np.testing.assert_array_equal(session.run(padded.dequeue_many(2)), [[1, 0], [2, 3]])


def test_bad_queues():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="fully defined"):
            tf.FIFOQueue(1, tf.int32, shapes=[[None]])
        with pytest.raises(ValueError, match="same length as dtypes"):
            tf.FIFOQueue(1, [tf.int32, tf.int32], shapes=[[1]])
        with pytest.raises(ValueError, match="same length as the list of dtypes"):
            tf.FIFOQueue(1, [tf.int32], names=["a", "b"])
        with pytest.raises(TypeError, match="list of queues"):
            tf.QueueBase.from_list(0, [])


def test_seeds_follow_the_graph():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        tf.constant(1)
        x = tf.random_uniform([2])
        node = next(op for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform")
        assert (node.get_attr("seed"), node.get_attr("seed2")) == (7, 4)
        assert x.op.name == "random_uniform"
        y = tf.random_shuffle([1, 2], seed=5)
        assert (y.op.get_attr("seed"), y.op.get_attr("seed2")) == (7, 5)
    with tf.Graph().as_default():
        y = tf.random_shuffle([1, 2])
        assert (y.op.get_attr("seed"), y.op.get_attr("seed2")) == (0, 0)
        with pytest.raises(ValueError, match="Must specify maxval"):
            tf.random_uniform([2], dtype=tf.int32)
        with pytest.raises(ValueError, match="Invalid dtype"):
            tf.random_uniform([2], dtype=tf.string)


def test_py_func(session):
    def f(x, n, text):
        assert isinstance(x, np.ndarray) and isinstance(n, np.int32) and text == b"t"
        return x * np.float32(n), "é"

    product, text = tf.py_func(f, [tf.constant([1.0, 2.0]), 3, "t"], [tf.float32, tf.string])
    np.testing.assert_array_equal(session.run(product), [3, 6])
    assert session.run(text) == "é".encode()
    calls = []
    session.run(tf.py_func(lambda: calls.append(1), [], []))
    assert calls == [1]


@pytest.mark.parametrize("raised, error", [
    (ValueError("told"), tf.errors.InvalidArgumentError), (TypeError("told"), tf.errors.InvalidArgumentError),
    (StopIteration("told"), tf.errors.OutOfRangeError), (NotImplementedError("told"), tf.errors.UnimplementedError),
    (MemoryError("told"), tf.errors.ResourceExhaustedError), (KeyError("told"), tf.errors.UnknownError)])
def test_py_func_errors(session, raised, error):
    def f(x):
        raise raised

    with pytest.raises(error, match="told"):
        session.run(tf.py_func(f, [1.0], tf.float32))


def test_py_func_must_return_what_it_promised(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="double, but expects float"):
        session.run(tf.py_func(lambda x: np.float64(1), [1.0], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects to see 1"):
        session.run(tf.py_func(lambda x: (x, x), [1.0], tf.float32))
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [1.0], tf.float32)


def test_sparse(session):
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    got = session.run([tf.sparse_tensor_to_dense(sparse), tf.sparse_tensor_dense_matmul(sparse, [[1.0], [2.0]]),
                       tf.sparse_reduce_sum(sparse, 1), tf.sparse_tensor_to_dense(tf.sparse_transpose(sparse)),
                       tf.sparse_tensor_to_dense(sparse * [10.0, 20.0])])
    for value, expected in zip(got, ([[0, 2], [3, 0]], [[4], [3]], [2, 3], [[0, 3], [2, 0]], [[0, 40], [30, 0]])):
        np.testing.assert_array_equal(value, expected)


def test_strings(session):
    got = session.run([tf.string_join(["a", "b"], "-"), tf.reduce_join([["a", "b"], ["c", "d"]], 1),
                       tf.strings.length("abc"), tf.substr("hello", 1, 3), tf.string_to_number("2.5")])
    assert got[0] == b"a-b" and list(got[1]) == [b"ab", b"cd"] and got[2:] == [3, b"ell", 2.5]


def test_what_an_assertion_says_is_escaped():
    with tf.Graph().as_default(), tf.Session() as session:
        false = tf.placeholder_with_default(False, [])
        said = tf.Assert(false, [tf.constant("it's \"q\"\n\\ \x01 é"), tf.constant([1, 2])])
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(said)
        assert r"""assertion failed: [it\'s \"q\"\n\\ \001 é] [1 2]""" in caught.value.message
