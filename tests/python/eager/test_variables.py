"""Variables, templates and optimizers of version 1 where ops run as they are called."""
import numpy as np
import pytest

import penstock as tf2
import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.checkpoint import template
from penstock._src.ops.state import variable_scope


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def test_initial_values_may_be_eager():
    assert tf.Variable(tf.constant(3.0)).numpy() == 3.0
    assert tf.get_variable("v", initializer=tf.constant(4.0)).numpy() == 4.0


def test_a_variable_store_keeps_variables():
    store = variable_scope.EagerVariableStore()
    with store.as_default():
        v, w = tf.get_variable("v", []), tf.get_variable("w", [], trainable=False)
        assert tf.global_variables() == [v, w] and tf.trainable_variables() == [v]
        with tf.variable_scope("", reuse=True):
            assert tf.get_variable("v", []) is v
    assert store.variables() == [v, w] and store.trainable_variables() == [v]
    other = store.copy()
    v.assign(1.0)
    copy = other.variables()[0]
    copy.assign(2.0)
    assert (copy.name, v.numpy(), copy.numpy()) == (v.name, 1.0, 2.0) and other.non_trainable_variables()[0] is not w
    tf.get_variable("v", [])  # outside of a store nothing is kept
    assert tf.get_variable("v", []) is not tf.get_variable("v", [])


def inside(name):
    with tf.variable_scope(name):
        return tf.get_variable("dummy", [1])


def test_templates_hold_their_variables():
    one, two = tf.make_template("s", inside, name="in"), tf.make_template("s", inside, name="in")
    assert one.variables == [] and one.variable_scope_name is None
    assert one() is one() and two() is not one()
    assert [v.name for v in one.variables + two.variables] == ["s/in/dummy:0", "s_1/in/dummy:0"]
    assert one.trainable_variables == one.weights == one.global_variables and one.local_variables == []

    def nested():
        first, second = template.make_template("n", inside, name="a"), template.make_template("n", inside, name="a")
        return first(), second()
    around = tf.make_template("outer", nested)
    made = around()
    assert [v.name for v in made] == ["outer/n/a/dummy:0", "outer/n_1/a/dummy:0"] and around() == made
    assert around.variables == list(made)
    with one._template_store.as_default():  # as Sonnet does to make variables beforehand
        tf.get_variable("before", [])
    assert "before:0" in [v.name for v in tf.trainable_variables()]
    with pytest.raises(ValueError, match="unique_name_ cannot be used"):
        tf.make_template("s", inside, unique_name_="x", name="in")
    late = tf.make_template("late", lambda: tf.get_variable("v%d" % len(late.variables), []))
    late()
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
        late()


@pytest.mark.parametrize("make", [
    lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.5),
    lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.1)])
def test_optimizers_take_the_steps_of_graphs(make):
    v, optimizer, step = tf.Variable(2.0), make(), tf.Variable(0)
    for _ in range(3):
        optimizer.minimize(lambda: v * v, global_step=step)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.Variable(2.0, use_resource=True)
        train = make().minimize(x * x)
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        expected = sess.run(x)
    assert v.numpy() == pytest.approx(expected, rel=1e-6) and step.numpy() == 3
    assert len(optimizer.variables()) == len({id(s) for s in optimizer.variables()})
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        optimizer.minimize(v * v)


def test_switching_eager_execution_on_checks_its_arguments():
    for arguments, kind, message in (((1,), TypeError, "config must be a tf.ConfigProto"),
                                     ((None, 7), ValueError, "device_policy must be one of"),
                                     ((None, None, 7), ValueError, "execution_mode must be one of")):
        with pytest.raises(kind, match=message):
            tf.enable_eager_execution(*arguments)
    calls = []
    with tf.control_dependencies([lambda: calls.append(1)]):
        assert calls == [1]


def test_what_no_tensor_holds_is_named():
    for value, leaf in (({}, r"\{\}"), ([{1: 2}], r"\{1: 2\}")):
        with pytest.raises(ValueError, match=rf"Attempt to convert a value \({leaf}\) with an unsupported type"):
            tf.convert_to_tensor(value)


def test_a_function_computed_again_has_the_gradient_of_the_first():
    v = tf.Variable(3.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda t: t * t * v)(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [12.0, 4.0]


def test_an_assignment_returns_the_variable_by_another_name():
    v = tf.Variable([1.0, 2.0])
    for updated in (v.assign([3.0, 4.0]), v.assign_add([0.0, 0.0]), v.assign_sub([0.0, 0.0]),
                    v.scatter_update(tf.IndexedSlices([3.0], [0]))):
        assert isinstance(updated, tf.Variable)
        assert updated.op is None and updated.name == "UnreadVariable"
        assert repr(updated).startswith("<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([3., 4.]")
        np.testing.assert_array_equal(updated + 1, [4.0, 5.0])
    updated.assign([5.0, 6.0])
    np.testing.assert_array_equal(v.numpy(), [5.0, 6.0])
    assert v.assign([1.0, 2.0], read_value=False) is None and v.name == "Variable:0"
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v.assign_add([1.0, 1.0]) ** 2)
    np.testing.assert_array_equal(tape.gradient(loss, v), [4.0, 6.0])


@pytest.mark.parametrize("made, error, text", [
    (lambda: tf2.Variable(), ValueError, "The `initial_value` arg to `tf.Variable` must be specified"),
    (lambda: tf2.Variable(3.0, constraint=5), ValueError, "must be None or a callable.*<class 'int'>"),
    (lambda: tf2.Variable([1.0]).scatter_add(3), TypeError, "must be a `tf.IndexedSlices`. Received arg: 3")])
def test_what_version_two_says_of_wrong_arguments(made, error, text, version_two):
    with pytest.raises(error, match=text):
        made()


def test_scopes_of_what_runs_at_once_have_any_name(version_two):
    with tf2.name_scope("a b") as name:
        assert name == "a b/"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not a valid scope name"):
        with tf2.name_scope("a b"):
            pass
