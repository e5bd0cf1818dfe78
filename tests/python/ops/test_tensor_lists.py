"""Lists of tensors: values, gradients, bad input."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.graph import gen
from penstock._src.control_flow import list_ops


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def run(fetches, feed=None):
    return tf.get_default_session().run(fetches, feed)


def numbers(shape=()):
    return list_ops.empty_tensor_list(list(shape), tf.float32)


def test_push_and_pop():
    before = gen.tensor_list_push_back(numbers(), tf.constant(1.0))
    after = gen.tensor_list_push_back(before, tf.constant(2.0))
    rest, top = list_ops.tensor_list_pop_back(after, tf.float32)
    assert run([top, gen.tensor_list_length(rest), gen.tensor_list_length(after)]) == [2.0, 1, 2]
    assert run(list_ops.tensor_list_stack(after, tf.float32)).tolist() == [1.0, 2.0]  # the list itself is unchanged


def test_bad_input():
    one = gen.tensor_list_push_back(numbers(), tf.constant(1.0))
    cases = [
        (list_ops.tensor_list_pop_back(numbers(), tf.float32)[1], "empty list"),
        (list_ops.tensor_list_get_item(one, 3, tf.float32), "access element 3 in a list with 1 elements"),
        (list_ops.tensor_list_set_item(one, 3, 1.0), "modify element 3 in a list with 1 elements"),
        (gen.tensor_list_push_back(one, tf.constant([1.0])), "incompatible shape"),
        (list_ops.tensor_list_get_item(one, 0, tf.int32), "Invalid data types"),
        (tf.raw_ops.TensorListReserve(element_shape=[1], num_elements=-3, element_dtype=tf.float32), "non negative"),
        (list_ops.tensor_list_gather(one, [0, -1], tf.float32), "gather element -1"),
        (list_ops.tensor_list_split(tf.ones([3]), [-1], tf.constant([1, 1], tf.int64)), "Unused values"),
        (gen.tensor_list_push_back(
            gen.tensor_list_push_back(list_ops.empty_tensor_list([], tf.float32, max_num_elements=1), 1.0), 2.0),
         "full list"),
        (tf.raw_ops.TensorListLength(input_handle=tf.raw_ops.TensorListConcatLists(
            input_a=one, input_b=list_ops.empty_tensor_list([], tf.int32), element_dtype=tf.float32)),
            "dtype != element_dtype"),
    ]
    for fetch, message in cases:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(fetch.op)


def test_items_that_are_not_set_are_zeros():
    unset = list_ops.tensor_list_reserve([2], 3, tf.float32)
    changed = list_ops.tensor_list_set_item(unset, 1, tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(run(list_ops.tensor_list_stack(changed, tf.float32)), [[0, 0], [1, 2], [0, 0]])
    unknown = list_ops.tensor_list_reserve(None, 3, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not fully defined"):
        run(list_ops.tensor_list_get_item(unknown, 0, tf.float32))


def _programs():
    def stacked(x):
        return list_ops.tensor_list_stack(list_ops.tensor_list_from_tensor(x * x, [2]), tf.float64)

    def items(x):
        handle = list_ops.tensor_list_from_tensor(x, [2])
        handle = list_ops.tensor_list_set_item(handle, 0, x[1] * 3.0)
        first, last = (list_ops.tensor_list_get_item(handle, i, tf.float64) for i in (0, 2))
        return first * last

    def gathered(x):
        handle = list_ops.tensor_list_scatter(x, [2, 0, 1], [2])
        return list_ops.tensor_list_gather(handle, [1, 2], tf.float64) ** 2.0

    def into(x):
        handle = list_ops.tensor_list_from_tensor(x, [2])
        handle = list_ops.tensor_list_scatter(x[:2] * 5.0, [1, 2], input_handle=handle)
        return list_ops.tensor_list_stack(handle, tf.float64) ** 2.0

    def pieces(x):
        handle = list_ops.tensor_list_split(x * x, [-1, 2], tf.constant([1, 2], tf.int64))
        return list_ops.tensor_list_concat(handle, tf.float64, [None, 2])

    def ends(x):
        handle = gen.tensor_list_push_back(list_ops.empty_tensor_list([2], tf.float64), x[0] * x[1])
        handle = gen.tensor_list_push_back(handle, tf.sin(x[2]))
        rest, top = list_ops.tensor_list_pop_back(handle, tf.float64)
        return top * list_ops.tensor_list_pop_back(rest, tf.float64)[1]

    return [stacked, items, gathered, into, pieces, ends]


@pytest.mark.parametrize("program", _programs(), ids=lambda f: f.__name__)
def test_gradients(program):
    x = tf.constant(np.arange(1.0, 7.0).reshape(3, 2) / 4)
    y = program(x)
    assert tf.test.compute_gradient_error(x, [3, 2], y, run(tf.shape(y)).tolist()) < 1e-6


def test_sums_and_zeros():
    a = list_ops.tensor_list_from_tensor(tf.constant([1.0, 2.0]), [])
    b = list_ops.tensor_list_from_tensor(tf.constant([10.0, 20.0]), [])
    total = tf.raw_ops.AddN(inputs=[a, b, tf.zeros_like(a)])
    assert run(list_ops.tensor_list_stack(total, tf.float32)).tolist() == [11.0, 22.0]
    short = list_ops.tensor_list_from_tensor(tf.constant([1.0]), [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="different lengths"):
        run(tf.raw_ops.AddN(inputs=[a, short]).op)


def test_elements_of_different_shapes_are_gathered_by_themselves():
    handle = list_ops.empty_tensor_list(None, tf.float32)
    for value in (1.0, 2.0, [3.0, 4.0]):
        handle = gen.tensor_list_push_back(handle, tf.constant(value))
    assert run(list_ops.tensor_list_gather(handle, [1, 0], tf.float32)).tolist() == [2.0, 1.0]
    assert run(list_ops.tensor_list_gather(handle, [2], tf.float32)).tolist() == [[3.0, 4.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible ranks during merge: 0 vs. 1"):
        run(list_ops.tensor_list_gather(handle, [0, 2], tf.float32))


def test_the_gradient_of_a_list_that_grows():
    x = tf.constant([1.0, 2.0, 3.0])
    handle = list_ops.tensor_list_set_item(list_ops.tensor_list_from_tensor(x, []), 3, 4.0,
                                           resize_if_index_out_of_bounds=True)
    gradient, = tf.gradients(list_ops.tensor_list_stack(handle, tf.float32) * [1.0, 2.0, 3.0, 4.0], x)
    assert run(gradient).tolist() == [1.0, 2.0, 3.0]


def test_gradients_of_elements_of_different_shapes():
    x, y = tf.constant([[4.0, 5.0]]), tf.constant(3.0)
    filled = list_ops.tensor_list_reserve(None, 3, tf.float32)
    for i, value in enumerate([x, y]):
        filled = list_ops.tensor_list_set_item(filled, i, value)
    read = [list_ops.tensor_list_get_item(filled, i, tf.float32) for i in range(2)]
    slopes = run(tf.gradients(read, [x, y], [np.float32([[2, 3]]), np.float32(-2)]))
    assert slopes[0].tolist() == [[2, 3]] and slopes[1] == -2

    pushed = list_ops.empty_tensor_list(None, tf.float32)
    for value in (x, y):
        pushed = gen.tensor_list_push_back(pushed, value)
    pushed, last = list_ops.tensor_list_pop_back(pushed, tf.float32)
    _, first = list_ops.tensor_list_pop_back(pushed, tf.float32)
    slopes = run(tf.gradients(2 * tf.reduce_sum(first) + 3 * last, [x, y]))
    assert slopes[0].tolist() == [[2, 2]] and slopes[1] == 3


def test_lists_in_lists_beyond_the_stack():
    with context.eager_mode():
        inner = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)
        empty = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.variant)
        for _ in range(200_000):
            inner = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=inner)
        for through in (lambda x: tf.raw_ops.ZerosLike(x=x), lambda x: tf.raw_ops.AddN(inputs=[x, x])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="nested more than 1000 levels deep"):
                through(inner)
        del inner
