"""Ops that run as they are called."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def _eager():
    with context.eager_mode():
        yield


def test_values():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.executing_eagerly()
    assert isinstance(x, tf.Tensor)
    assert x.shape.as_list() == [2, 2] and x.dtype == tf.float32
    np.testing.assert_array_equal((x + 1).numpy(), [[2, 3], [4, 5]])
    np.testing.assert_array_equal((2 * x - x / 4).numpy(), 1.75 * np.array([[1, 2], [3, 4]]))
    np.testing.assert_array_equal(tf.matmul(x, x).numpy(), [[7, 10], [15, 22]])
    np.testing.assert_array_equal(x[1].numpy(), [3, 4])
    assert float(tf.reduce_sum(x)) == 10.0
    assert bool(tf.constant(3) < 4)
    assert [int(i) for i in tf.range(3)] == [0, 1, 2]
    assert len(x) == 2
    assert list(range(10))[tf.constant(7)] == 7
    np.testing.assert_array_equal(np.asarray(x), [[1, 2], [3, 4]])


def test_strings_and_lists():
    assert tf.constant("a").numpy() == b"a"
    assert tf.constant(["a", "bc"]).numpy().tolist() == [b"a", b"bc"]
    parts = tf.split(tf.range(6), 3)
    assert [p.numpy().tolist() for p in parts] == [[0, 1], [2, 3], [4, 5]]
    values, indices = tf.nn.top_k([1.0, 5.0, 3.0], k=2)
    assert values.numpy().tolist() == [5, 3] and indices.numpy().tolist() == [1, 2]


def test_what_graphs_have_is_meaningless():
    x = tf.constant(1.0)
    for name in ("op", "graph", "name"):
        with pytest.raises(AttributeError, match=f"Tensor.{name} is meaningless when eager execution is enabled"):
            getattr(x, name)
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match="Use tf.GradientTape"):
        tf.gradients(x, [x])
    assert repr(x) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    assert str(x) == "tf.Tensor(1.0, shape=(), dtype=float32)"


def test_errors_name_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:MatMul\]"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 'False' to be true"):
        tf.Assert(False, ["no"])
    with pytest.raises(TypeError):
        len(tf.constant(1))


def test_modes_nest():
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        c = tf.constant(1)
        with context.eager_mode():
            assert int(tf.constant(2) + 1) == 3
        assert c.op.type == "Const"
        with pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor"):
            with context.eager_mode():
                e = tf.constant(1)
            tf.identity(e)
    with context.graph_mode():
        assert not tf.executing_eagerly()
    assert tf.executing_eagerly()


def test_variables():
    v = tf.Variable([1.0, 2.0], name="v")
    assert v.name == "v:0" and v.numpy().tolist() == [1, 2]
    v.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [2, 3]
    before = v.read_value()
    v.assign([7.0, 8.0])
    assert before.numpy().tolist() == [2, 3]
    assert (v * 2).numpy().tolist() == [14, 16]
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    assert w.numpy().tolist() == [1, 1]
    assert tf.gather(v, [1]).numpy().tolist() == [8]
    other = tf.Variable([0.0, 0.0], name="v")
    assert v.numpy().tolist() == [7, 8] and other.numpy().tolist() == [0, 0]
    with pytest.raises(ValueError):
        v.assign([1.0, 2.0, 3.0])


def test_seeds():
    def draw():
        return tf.random_uniform([3]).numpy().tolist(), tf.random_uniform([3], seed=1).numpy().tolist()
    tf.set_random_seed(1)
    first, second = draw(), draw()
    assert first != second
    tf.set_random_seed(1)
    assert draw() == first and draw() == second


def test_py_func_and_cond():
    assert tf.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32).numpy() == 2
    assert tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)).numpy() == 1


def test_defun():
    @tf.Defun(tf.float32)
    def square(x):
        return x * x
    assert float(square(tf.constant(3.0))) == 9.0


def test_concurrent_threads():
    import threading
    results = [None] * 8

    def run(i):
        with context.eager_mode():
            x = tf.constant(float(i))
            for _ in range(200):
                x = x + 1.0
            results[i] = float(x)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [i + 200.0 for i in range(8)]


@pytest.fixture
def hard_placement():
    before = tf.config.get_soft_device_placement()
    yield lambda: tf.config.set_soft_device_placement(False)
    tf.config.set_soft_device_placement(before)


def test_ops_for_devices_that_are_not_there_run_on_the_host(hard_placement):
    def doubled(x):
        with tf.device("/gpu:0"):
            return x * 2

    x = tf.constant(3.0)
    for f in (doubled, tf.function(doubled)):
        assert f(x).numpy() == 6.0 and f(x).device == "/job:localhost/replica:0/task:0/device:CPU:0"
    with tf.device("/job:worker/task:1"), pytest.raises(tf.errors.InvalidArgumentError, match="worker"):
        tf.identity(x)
    hard_placement()
    for f in (doubled, tf.function(doubled)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="/device:GPU:0"):
            f(x)


def test_the_class_of_values_makes_constants():
    from penstock._src.graph import eager_tensor
    assert isinstance(tf.constant(1) + 1, eager_tensor.EagerTensor)
    made = eager_tensor.EagerTensor(np.float32([1.5, 2]), device="/cpu:0", dtype=tf.float64)
    assert made.dtype == tf.float64 and made.numpy().tolist() == [1.5, 2]
    assert eager_tensor.EagerTensor(3, None, dtype=tf.int64.as_datatype_enum).dtype == tf.int64
    with pytest.raises(TypeError, match="Expecting a DataType value for dtype. Got str"):
        eager_tensor.EagerTensor(1, device=None, dtype="1")


@pytest.mark.parametrize("value", [np.float64(1.5), np.array([1.5, 0.]), np.int64(2), np.array([2, 0]), True, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", [tf.maximum, tf.pow, tf.equal, tf.math.squared_difference])
def test_numbers_before_a_tensor_take_its_type(op, dtype, value):
    """2.21: what has a type attribute in common with a tensor has the tensor's type, wherever it stands."""
    x = tf.constant([1., 2.], dtype)
    np.testing.assert_allclose(op(value, x), op(tf.constant(np.asarray(value), dtype), x))
    np.testing.assert_allclose(tf.where_v2([True, False], value, x),
                               np.where([True, False], np.asarray(value).astype(dtype), [1., 2.]))


def test_tensors_of_two_types_do_not_mix():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"input #1\(zero-based\) was expected to be a float"):
        tf.maximum(tf.constant(1.), tf.constant(1, tf.int64))
    with pytest.raises(TypeError):
        tf.maximum(1.5, tf.constant(1))


def test_a_context_taken_away_is_made_anew(monkeypatch):
    """As programs do that divide devices anew in their tests."""
    from penstock._src.graph import context as context_module
    from penstock._src.graph import ops as ops_module
    from penstock._src.base.mode import mode
    monkeypatch.setattr(mode, "eager", True)
    before = context_module.context()
    tf.set_random_seed(1)
    context_module._context = None
    ops_module.enable_eager_execution_internal()
    assert context_module.context() is not before
    assert context_module.global_seed() is None
    tf.set_random_seed(1)
    context_module._reset_context()
    assert context_module.global_seed() is None


def test_names_are_unique_when_a_program_asks_for_them():
    """As version 2's programs do for keys of their own: the default graph counts, whatever runs eagerly."""
    graph = tf.get_default_graph()
    first = graph.unique_name("slot_of_a_table")
    with tf.name_scope("scope"):
        assert tf.get_default_graph().unique_name("slot_of_a_table") == first + "_1"
    assert graph.unique_name("slot_of_a_table", mark_as_used=False) == first + "_2"
    assert graph.unique_name("slot_of_a_table") == first + "_2"
    assert tf.Variable(1, name="slot_of_a_table").name == "slot_of_a_table:0"
    for scope in (tf.name_scope("slot_of_a_table"), graph.name_scope("slot_of_a_table")):
        with scope as name:
            assert name == "slot_of_a_table/"
