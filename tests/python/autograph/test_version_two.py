"""What AutoGraph of TensorFlow 2.21 does and says."""
import functools
import linecache
import pickle

import pytest

import penstock as tf
from penstock.compat import v1
from penstock._src.graph import context
from penstock._src.base.mode import mode
from penstock._src.base import tf_decorator


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class _Object:
    pass


def returns_in_finally(x):
    try:
        return 2
    finally:
        if x > 0:
            return 1  # noqa: B012
        return 0  # noqa: B012


def returns_before_finally(x):
    try:
        if x > 0:
            return 1
        return 0
    finally:
        x = x + 1


@pytest.mark.parametrize("function", [returns_in_finally, returns_before_finally])
@pytest.mark.parametrize("kind", [int, tf.constant])
def test_returns_around_finally(function, kind):
    assert [int(tf.function(function)(kind(x))) for x in (3, -3)] == [1, 0]


def attribute_of_one_branch(x):
    c = _Object()
    if x > 0:
        c.a = x
    return c.a


def element_of_one_branch(x):
    d = {"k": {}}
    if x > 0:
        pass
    else:
        d["k"]["a"] = x
    return d


def none_in_a_loop(x):
    y = 0
    while x > 0:
        x -= 1
        y = None
    return y


def two_types(x):
    return 1 if x > 0 else 2.5


@pytest.mark.parametrize("function, error, match", [
    (attribute_of_one_branch, ValueError, "'c.a' must also be initialized in the else branch"),
    (element_of_one_branch, ValueError, r"'d\['k'\]\['a'\]' must also be initialized in the main branch"),
    (none_in_a_loop, ValueError, "'y' is None at the end of the iteration"),
    (two_types, TypeError, "'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch")])
def test_what_cannot_be_converted(function, error, match):
    with pytest.raises(error, match=match):
        tf.function(function)(tf.constant(-3))


def test_an_attribute_that_one_branch_of_pythons_sets():
    assert int(tf.function(attribute_of_one_branch)(3)) == 3
    with pytest.raises(AttributeError):
        tf.function(attribute_of_one_branch)(-3)


def elements_of_a_loop(n):
    d, x = {"inner": {}}, 5
    same = d
    for i in range(n):
        x -= i
        d["a"] = x
        d["inner"]["b"] = 2 * x
    return same


def test_elements_that_only_a_loop_sets():
    made = tf.function(elements_of_a_loop)(tf.constant(3))
    assert tf.nest.map_structure(int, made) == {"a": 2, "inner": {"b": 4}}
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize"):
        tf.function(elements_of_a_loop)(tf.constant(0))


def test_builtin_functions_of_datasets_and_tensors():
    numbers = tf.data.Dataset.from_tensor_slices([-1, 2])

    @tf.function
    def f(t):
        return next(iter(abs(numbers))), sorted(t, key=lambda x: (x - 2) * (x - 2)), sorted(
            t, key=lambda x: -x, reverse=True)

    first, by_distance, down = f(tf.constant([5, 1, 2, 4]))
    assert first.numpy() == 1 and by_distance.numpy().tolist() == [2, 1, 4, 5]
    assert down.numpy().tolist() == [1, 2, 4, 5]
    for function in (any, all):
        with pytest.raises(ValueError, match=f'"{function.__name__}" builtin only supports datasets that return bool'):
            tf.function(lambda: function(numbers))()  # noqa: B023


def ends_further_left_than_it_begins(x):
    return_value = tf.add(tf.constant(1), tf.abs(
        x)) if x > 0 else tf.add(tf.constant(2), tf.abs(
            x))
    return return_value


def test_an_expression_of_several_lines_is_converted():
    assert [tf.function(ends_further_left_than_it_begins)(tf.constant(x)).numpy() for x in (3, -3)] == [4, 5]


def _undecorated(x):
    return x + 1


def test_functions_are_pickled():
    function = tf.function(_undecorated, input_signature=[tf.TensorSpec([])], autograph=False)
    assert function(1.0).numpy() == 2
    copy = pickle.loads(pickle.dumps(function))
    assert copy(2.0).numpy() == 3 and copy.input_signature == function.input_signature and not copy._autograph
    assert copy.experimental_get_tracing_count() == 1
    converted = tf.function(_undecorated)
    assert converted(1.0).numpy() == 2 and pickle.loads(pickle.dumps(tf.function(_undecorated)))(1.0).numpy() == 2


def test_under_a_session_ops_are_built():
    with v1.Session() as session:
        assert not tf.executing_eagerly() and v1.get_default_graph() is session.graph
        assert session.run(tf.constant(1) + 2) == 3
    assert tf.executing_eagerly()


def widened(numbers):
    v = tf.SparseTensor(indices=[[0, 0], [1, 1]], values=[1, 2], dense_shape=[3, 3])
    for _ in numbers:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape(None))])
        v = tf.sparse.expand_dims(v)
    return v


def test_a_sparse_value_whose_rank_a_loop_changes():
    for n in range(3):
        for numbers in (tf.range(n), tf.data.Dataset.range(n), range(n)):
            assert tf.function(widened)(numbers).dense_shape.numpy().tolist() == [3, 3] + [1] * n


def appended(numbers):
    rows = {"all": tf.zeros([0], tf.int64)}
    shapes = [(rows["all"], tf.TensorShape([None]))]
    for i in numbers:
        tf.autograph.experimental.set_loop_options(shape_invariants=shapes)
        rows["all"] = tf.concat([rows["all"], [i]], 0)
    return rows["all"]


def test_shape_invariants_that_are_put_together_before_the_loop():
    """They hold the values from before the loop, and parts of what it carries."""
    for numbers in (tf.data.Dataset.range(3), iter(tf.data.Dataset.range(3)), tf.range(3, dtype=tf.int64)):
        assert tf.function(appended)(numbers).numpy().tolist() == [0, 1, 2]


def test_code_of_no_file_whose_lines_are_known():
    """Doctests and notebooks put what they run into linecache, under a name that is no path."""
    lines = "def larger(x, y):\n    if x > y:\n        return x\n    return y\n"
    names = {}
    linecache.cache["<example 1>"] = (len(lines), None, lines.splitlines(True), "<example 1>")
    try:
        exec(compile(lines, "<example 1>", "exec"), names)
        larger = tf.function(names["larger"])
        assert larger(tf.constant(3), tf.constant(5)).numpy() == 5
        assert larger(tf.constant(7), tf.constant(5)).numpy() == 7
    finally:
        del linecache.cache["<example 1>"]


def _size(x):
    if x > 0:
        return x
    return -x


def test_a_decorator_of_what_was_converted_before_runs():
    assert int(tf.function(_size)(tf.constant(-2))) == 2  # from now on its converted form is kept

    @functools.wraps(_size)
    def wrapped(x):
        return 2 * _size(x) + 100

    made = tf_decorator.make_decorator(_size, lambda x: _size(x) + 1)
    x = tf.constant(-2)
    assert [int(tf.function(f)(x)) for f in (wrapped, made)] == [104, 3]
    assert int(tf.function(lambda x: wrapped(x) + made(x))(x)) == 107


@pytest.mark.parametrize("value", [tf.int64, tf.float32, tf.uint8])
def test_numbers_on_the_left_are_compared(value, monkeypatch):
    monkeypatch.setattr(mode, "tensor_equality", True)
    variable = tf.Variable(tf.cast(1, value))

    @tf.function
    def function(x):
        if 1 == x and 2 != x and not 1 != x:
            return 1 == variable
        return x != x

    assert bool(function(tf.cast(1, value))) and not bool(function(tf.cast(2, value)))
    with pytest.raises(TypeError, match="Expected string"):
        tf.function(lambda x: x == 1)(tf.constant("a"))


def test_what_a_loop_needs_before_it():
    def undefined(n):
        i = 0
        while i < n:
            q = q + i  # noqa: F821
            i += 1
        return q

    def none(n):
        r = None
        for i in tf.range(n):
            r = None if i is None else r
        return r

    note = r"\s+Note: AutoGraph tried to define it automatically, but ran into a UnboundLocalError: 'q' is used before"
    with pytest.raises(ValueError, match="'q' must be defined before the loop" + note):
        tf.function(undefined)(tf.constant(5))
    with pytest.raises(ValueError, match="'r' is not allowed to be None before the loop"):
        tf.function(none)(tf.constant(5))
