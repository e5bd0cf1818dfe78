"""Reference variables whose value is used behind an update: as in TensorFlow, the update is seen."""
import numpy as np
import pytest

import penstock.v1 as tf


def variable():
    return tf.Variable([1., 2.])


def behind_an_addition(x):
    with tf.control_dependencies([tf.assign_add(x, [1., 1.])]):
        return x * 2.


def behind_an_assignment(x):
    with tf.control_dependencies([tf.assign(x, x + 1.)]):
        return x * 2.


def behind_a_scattered_update(x):
    with tf.control_dependencies([tf.scatter_update(x, [0], [9.])]):
        return tf.identity(x)


def behind_two_updates(x):
    with tf.control_dependencies([x.assign_add([1., 1.])]):
        with tf.control_dependencies([x.assign(x * 2.)]):
            return x + 0.


def reshaped_before(x):
    column = tf.reshape(x, [2, 1])
    with tf.control_dependencies([x.assign_add([1., 1.])]):
        return column * 2.


def in_a_branch(x):
    with tf.control_dependencies([x.assign_add([1., 1.])]):
        return tf.cond(tf.constant(True), lambda: x * 2., lambda: x * 3.)


def updated_in_a_branch(x):
    updated = tf.cond(tf.constant(True), lambda: tf.identity(x.assign_add([1., 1.])), lambda: x * 1.)
    with tf.control_dependencies([updated]):
        return x * 2.


def updated_in_a_branch_not_taken(x):
    updated = tf.cond(tf.constant(False), lambda: tf.identity(x.assign_add([1., 1.])), lambda: x * 1.)
    with tf.control_dependencies([updated]):
        return x * 2.


def computed_before(x):
    product = x * 1.
    with tf.control_dependencies([x.assign_add([1., 1.])]):
        return product * 2.


# What three runs give in TensorFlow 1.15.5.
@pytest.mark.parametrize("program, expected", [
    (behind_an_addition, [[4, 6], [6, 8], [8, 10]]),
    (behind_an_assignment, [[4, 6], [6, 8], [8, 10]]),
    (behind_a_scattered_update, [[9, 2], [9, 2], [9, 2]]),
    (behind_two_updates, [[4, 6], [10, 14], [22, 30]]),
    (reshaped_before, [[[4], [6]], [[6], [8]], [[8], [10]]]),
    (in_a_branch, [[4, 6], [6, 8], [8, 10]]),
    (updated_in_a_branch, [[4, 6], [6, 8], [8, 10]]),
    (updated_in_a_branch_not_taken, [[2, 4], [2, 4], [2, 4]]),
    (computed_before, [[2, 4], [4, 6], [6, 8]]),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_value_behind_an_update_is_the_new_one(program, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        result = program(variable())
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal([session.run(result) for _ in range(3)], expected)


def test_averages_behind_a_training_step_are_those_of_the_new_values():
    with tf.Graph().as_default(), tf.Session() as session:
        x = variable()
        step = tf.train.GradientDescentOptimizer(.1).minimize(tf.reduce_sum(x * x))
        averages = tf.train.ExponentialMovingAverage(.5)
        with tf.control_dependencies([step]):
            both = averages.apply([x])
        session.run(tf.global_variables_initializer())
        session.run(both)
        np.testing.assert_allclose(session.run(averages.average(x)), [.9, 1.8], rtol=1e-6)


def test_gradients_are_of_the_values_before_the_step_that_applies_them():
    """A layer's weights change only when the layers below have used them to propagate the gradient."""
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = tf.Variable([[2.]]), tf.Variable([[3.]])
        with tf.control_dependencies([first.assign_add([[1.]])]):
            loss = tf.matmul(tf.matmul(tf.ones([1, 1]), first), second)
        step = tf.train.GradientDescentOptimizer(1.).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run([first, second]), [[[0.]], [[0.]]])


def test_a_counter_is_read_behind_its_step():
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.Variable(0)
        with tf.control_dependencies([tf.assign_add(counter, 1)]):
            now = tf.identity(counter)
        session.run(tf.global_variables_initializer())
        assert [session.run(now) for _ in range(3)] == [1, 2, 3]
        assert session.run(now, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)) == 4


@pytest.mark.parametrize("read", [lambda x: x, lambda x: x.value(), lambda x: x.read_value(), tf.identity,
                                  lambda x: tf.stop_gradient(tf.identity(x)), lambda x: tf.reshape(x, [2, 1])])
@pytest.mark.parametrize("update, expected", [
    (lambda x: x.assign_add([1., 1.]).op, [2., 3.]), (lambda x: x.assign(x * 3).op, [3., 6.]),
    (lambda x: tf.scatter_add(x, [0], [5.]).op, [6., 2.]),
    (lambda x: tf.train.GradientDescentOptimizer(1.).minimize(tf.reduce_sum(x)), [0., 1.])])
def test_what_is_fetched_has_seen_the_updates_of_its_step(update, expected, read):
    """1.15.5: a fetched variable is its memory, looked at when the step is done, whatever the order of the fetches."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = variable()
        step, value = update(x), read(x)
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(np.ravel(session.run([value, step])[0]), expected)


@pytest.mark.parametrize("read, expected", [
    (lambda c, v, w: tf.cond(c, lambda: v, lambda: w), 6.), (lambda c, v, w: tf.case([(c, lambda: v)], lambda: w), 6.),
    (lambda c, v, w: tf.cond(c, lambda: tf.cond(c, lambda: tf.identity(v), lambda: w), lambda: w), 6.),
    (lambda c, v, w: tf.reshape(tf.cond(c, lambda: v, lambda: w * 2.), [1]), 6.),
    (lambda c, v, w: tf.cond(tf.logical_not(c), lambda: v, lambda: w), 20.),
    (lambda c, v, w: tf.cond(c, lambda: tf.assign_add(v, 2.), lambda: w), 8.)])
def test_the_result_of_a_conditional_is_the_memory_of_the_variable_that_a_branch_gives(read, expected):
    """1.15.5: it is looked at when the step is done, or by what is ordered behind the update."""
    with tf.Graph().as_default(), tf.Session() as session:
        v, w, c = tf.Variable(1.), tf.Variable(10.), tf.placeholder_with_default(True, [])
        result = read(c, v, w)
        with tf.control_dependencies([result]):
            updates = [tf.assign_add(v, 5.), tf.assign_add(w, 10.)]
        with tf.control_dependencies(updates):
            behind = tf.identity(result)
        for fetched in ([result, updates], [behind]):
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(np.ravel(session.run(fetched)[0]), [expected])


def updated_in_a_branch_of_a_branch(c, v, w):
    return tf.cond(c, lambda: tf.cond(c, lambda: tf.assign_add(v, 2.), lambda: w), lambda: w)


def updated_by_a_loop(c, v, w):
    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1.)]):
            return i + 1

    return tf.while_loop(lambda i: i < 2, body, [0])


def updated_by_a_loop_in_a_branch(c, v, w):
    return tf.cond(c, lambda: updated_by_a_loop(c, v, w), lambda: 0)


@pytest.mark.parametrize("update, expected", [
    (lambda c, v, w: tf.cond(c, lambda: tf.assign_add(v, 2.), lambda: w), [3., 3., 9.]),
    (lambda c, v, w: tf.cond(tf.logical_not(c), lambda: tf.assign_add(v, 2.), lambda: w), [1., 1., 3.]),
    (lambda c, v, w: tf.cond(tf.logical_not(c), lambda: w * 1., lambda: tf.assign(v, 4.) * 2.), [4., 4., 12.]),
    (updated_in_a_branch_of_a_branch, [3., 3., 9.]), (updated_by_a_loop, [3., 3., 9.]),
    (updated_by_a_loop_in_a_branch, [3., 3., 9.])], ids=lambda value: getattr(value, "__name__", None))
def test_what_is_fetched_has_seen_the_updates_in_branches_and_loops(update, expected):
    """1.15.5: of the variable itself, of a conditional that hands it on, and of what is computed behind the update."""
    with tf.Graph().as_default(), tf.Session() as session:
        v, w, c = tf.Variable(1.), tf.Variable(10.), tf.placeholder_with_default(True, [])
        handed_on = tf.cond(c, lambda: v, lambda: w)
        updated = update(c, v, w)
        with tf.control_dependencies([updated]):
            behind = handed_on * 3.
        for fetched in ([v, handed_on, behind, updated], [updated, v, handed_on, behind]):
            session.run(tf.global_variables_initializer())
            results = session.run(fetched)
            assert [results[fetched.index(f)] for f in (v, handed_on, behind)] == expected


def test_a_conditional_of_two_updates_is_memory_of_both_variables():
    with tf.Graph().as_default(), tf.Session() as session:
        v, w, c = tf.Variable(1.), tf.Variable(10.), tf.placeholder_with_default(True, [])
        either = tf.cond(c, lambda: tf.cond(c, lambda: tf.assign_add(v, 2.), lambda: tf.assign_add(w, 2.)), lambda: 0.)
        with tf.control_dependencies([either]):
            again = tf.assign_add(v, 5.)
        session.run(tf.global_variables_initializer())
        assert session.run([either, again]) == [8., 8.]


def test_a_loop_behind_an_update_takes_the_new_value():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.)
        with tf.control_dependencies([tf.assign_add(v, 2.)]):
            total = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + v), [0, 0.])[1]
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 9.


def test_the_step_that_is_fetched_with_the_training_is_the_new_one():
    with tf.Graph().as_default(), tf.Session() as session:
        step, x = tf.train.get_or_create_global_step(), variable()
        loss = tf.reduce_sum(x * x)
        train = tf.train.AdamOptimizer(.1).minimize(loss, step)
        session.run(tf.global_variables_initializer())
        assert [session.run([train, step, loss])[1] for _ in range(3)] == [1, 2, 3]
        assert session.run([step, loss])[1] < 5.  # and the loss is that of the values before the step


def test_assignments_in_one_step_are_fetched_as_the_last_of_them_left_the_variable():
    with tf.Graph().as_default(), tf.Session() as session:
        x = variable()
        first = x.assign_add([1., 1.])
        with tf.control_dependencies([first]):
            second = x.assign_add([10., 10.])
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run([first, second]), [[12., 13.]] * 2)


def test_updates_in_a_branch_that_is_not_taken_keep_nobody_waiting():
    with tf.Graph().as_default(), tf.Session() as session:
        x, taken = variable(), tf.placeholder(tf.bool, [])
        branch = tf.cond(taken, lambda: tf.assign_add(x, [1., 1.]), lambda: tf.zeros([2]))
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run([x, branch], {taken: False})[0], [1., 2.])


def repeated(times, update):
    """A loop of so many rounds, each behind the update of the one before."""
    def body(i):
        with tf.control_dependencies([update(i)]):
            return i + 1

    return tf.while_loop(lambda i: i < times, body, [0])


def doubled_until_large(x):
    def body(i):
        with tf.control_dependencies([x.assign(x * 2.)]):
            return i + 1

    return tf.while_loop(lambda i: x < 50., body, [0])


def trained(x):
    return repeated(3, lambda i: tf.train.GradientDescentOptimizer(0.01).minimize(tf.square(x * 3. - 1.)))


def nested(x):
    def update(i):
        with tf.control_dependencies([repeated(2, lambda j: tf.assign_add(x, x))]):
            return tf.assign(x, x + 0.5)

    return repeated(2, update)


# The results of the loop and the variable's value, which was 2, in TensorFlow 1.15.5.
@pytest.mark.parametrize("program, expected", [
    (lambda x: repeated(4, lambda i: x.assign(tf.square(x))), (4, 65536)),
    (lambda x: repeated(4, lambda i: tf.cond(tf.constant(True), lambda: x.assign(tf.square(x)), lambda: x)),
     (4, 65536)),
    (lambda x: repeated(4, lambda i: tf.cond(tf.equal(i % 2, 0), lambda: x.assign(x * 2.), lambda: x + 1.)), (4, 8)),
    (doubled_until_large, (5, 64)),
    (trained, (3, 1.25228)),
    (nested, (2, 34.5)),
    (lambda x: tf.cond(tf.constant(True), lambda: repeated(3, lambda i: x.assign(x * 2.)), lambda: 0), (3, 16)),
])
def test_a_loop_sees_its_own_updates(program, expected):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.get_variable("x", [], initializer=tf.constant_initializer(2.), use_resource=False)
        result = program(x)
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose((sess.run(result), sess.run(x)), expected, rtol=1e-6)


def test_rows_of_a_variable_follow_from_each_other_in_a_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.get_variable("x", [4], initializer=tf.ones_initializer(), use_resource=False)
        loop = repeated(4, lambda i: tf.scatter_update(x, [i], [tf.gather(x, tf.maximum(i - 1, 0)) * 2.]))
        sess.run(tf.global_variables_initializer())
        assert sess.run(loop) == 4 and sess.run(x).tolist() == [2, 4, 8, 16]
