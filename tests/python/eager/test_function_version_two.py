"""Functions as TensorFlow 2.21 has them."""
import gc
import inspect
import weakref

import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_a_variable_that_is_several_arguments():
    @tf.function
    def total(a, b, c):
        return a + b + c

    @tf.function
    def twice(a, c):
        return total(a, a, c)

    v, w, one = tf.Variable(2), tf.Variable(5), tf.constant(1)
    assert total(v, v, one).numpy() == twice(v, one).numpy() == 5
    assert total(v, w, one).numpy() == 8 and twice(w, one).numpy() == 11


def test_a_trace_is_called_by_the_names_of_the_function():
    f = tf.function(lambda x, y: x * 10 + y)
    crossed = f.get_concrete_function(x=tf.TensorSpec(None, tf.int32, "y"), y=tf.TensorSpec(None, tf.int32, "x"))
    assert crossed(x=tf.constant(5), y=tf.constant(6)).numpy() == 56


def changes(x, y):
    y.append(x)
    return x


def test_what_is_refused_is_called_by_its_name(monkeypatch):
    with pytest.raises(ValueError, match="Function to be traced should not modify structure of input arguments"):
        tf.function(changes)(tf.constant(1), [])  # version 1
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with pytest.raises(ValueError, match=r"changes\(x, y\) should not modify its Python input arguments.*modified: y"):
        tf.function(changes)(tf.constant(1), [tf.constant(2)])
    with pytest.raises(TypeError, match="in compilation of <function changes.*found return value of type object"):
        tf.function(_returning(changes, object()))()
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with pytest.raises(ValueError, match="only supports singleton tf.Variables created on the first call"):
        tf.function(lambda: tf.Variable(1.0) + 1)()


def _returning(function, value):
    def changes():
        return value

    changes.__qualname__ = function.__qualname__
    return changes


def test_values_that_left_their_function(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    kept = []
    tf.function(lambda x: kept.append(x + 1))(tf.constant(1))
    made = r" was defined here:\n(.*\n)* *File .*test_function_version_two.py.*, line \d+, in <lambda>\n"
    with pytest.raises(TypeError, match="is out of scope and cannot be used here(.*\n)*.*" + made):
        kept[0] + 1
    with pytest.raises(TypeError,
                       match="is out of scope and cannot be used here(.*\n)*.*" + made):
        tf.function(lambda: kept[0] + 1)()


def test_strict_zip():
    assert int(tf.function(lambda x: [a + b for a, b in zip([x], [x], strict=True)][0])(tf.constant(2))) == 4
    numbers = tf.data.Dataset.range(2)
    with pytest.raises(ValueError, match="strict"):
        tf.function(lambda: zip(numbers, numbers, strict=True))()


def test_devices_and_handles():
    with tf.device(tf.config.list_logical_devices()[0]):
        assert tf.constant(1.0).device.endswith("CPU:0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot convert .* resource"):
        tf.Variable(1.0).handle.numpy()


def test_a_new_seed_makes_functions_begin_anew():
    """As in TensorFlow: the random ops of functions that were traced already, too."""
    tf.random.set_seed(1)
    v = tf.Variable(0.0)

    @tf.function
    def drawn():
        v.assign_add(1.0)
        return tf.random.uniform([])

    inside = tf.function(lambda: drawn() * 1.0)
    trace = drawn.get_concrete_function()
    uniform = tf.function(lambda: tf.random.uniform([]))
    for f in (drawn, inside, trace, uniform):
        tf.random.set_seed(1)
        wanted = [float(f()) for _ in range(3)]
        tf.random.set_seed(1)
        assert len(set(wanted)) == 3 and [float(f()) for _ in range(3)] == wanted
    assert float(v) == 18.0


def test_each_call_within_a_function_has_random_state_of_its_own():
    """Numbers of TensorFlow 2.21. What the program calls itself has its own state, too."""
    drawn = tf.function(lambda: tf.random.uniform([], seed=3))
    pair = tf.function(lambda: (drawn(), drawn()))
    tf.random.set_seed(7)
    values = [float(v) for v in (drawn(), *pair(), drawn(), *pair())]
    assert values == pytest.approx([0.4011] * 3 + [0.7062] * 3, abs=1e-4)

    @tf.function
    def repeated():
        total = 0.0
        for _ in tf.range(2):
            total += drawn()
        return total

    assert float(repeated()) == pytest.approx(0.4011 + 0.7062, abs=2e-4)  # one call, made twice
    del repeated, pair
    assert float(drawn()) == pytest.approx(0.3426, abs=1e-4)


def test_a_trace_does_not_know_the_number_of_values_of_ragged_and_sparse_arguments(monkeypatch):
    """2.21 finds traces by their specs, which leave it open."""
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    shapes = []

    @tf.function
    def sizes(rows, sparse=None):
        shapes.append(rows.values.shape.as_list())
        values = 0 if sparse is None else tf.size(sparse.values)
        return tf.shape(rows.values)[0], tf.zeros(tf.shape(rows.values)), values

    for rows in ([[1, 2], [3]], [[1, 2], [3, 4]], [[], [7]]):
        count, zeros, _ = sizes(tf.ragged.constant(rows, dtype=tf.int32))
        assert int(count) == len(zeros) == sum(map(len, rows))
    for n in (1, 2):
        sparse = tf.SparseTensor([[i] for i in range(n)], [0] * n, [10])
        assert int(sizes(tf.ragged.constant([[1]]), sparse=sparse)[2]) == n
    assert shapes == [[None]] * 2


def test_shapes_of_a_call_follow_from_the_values_of_its_arguments(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)] * 3)
    def ones(a, b, c):
        return tf.ones(tf.concat([[a], [b], [c]], -1))

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def column(x):
        return tf.ones(tf.stack([tf.shape(x)[0], 5]))

    @tf.function
    def outer(x):
        inner = tf.function(lambda a, b: ones(a, b, 3))
        shapes.extend(y.shape.as_list() for y in (ones(1, 2, 3), inner(tf.constant(1), 2), inner(1, tf.shape(x)[1]),
                                                  ones(tf.size(tf.where(x)), 2, 3), column(x)))

    outer(tf.ones([3, 6]))
    assert shapes == [[1, 2, 3], [1, 2, 3], [1, 6, 3], [None, 2, 3], [3, 5]]


def test_signatures_of_traces_have_specs_of_variables(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    add = tf.function(lambda a, b: a + b)
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    for args, aliases in (((v, v), [0, 0]), ((v, w), [0, 1])):
        trace = add.get_concrete_function(*args)
        (a, b), _ = trace.structured_input_signature
        assert [a.alias_id, b.alias_id] == aliases and (a == b) is (args[1] is v)
        assert repr(a) == "VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0)" in str(trace)
        assert float(trace(*args)) == float(trace(a=args[0], b=args[1])) == float(args[0] + args[1])


def test_arguments_that_no_trace_can_be_made_for(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with pytest.raises(ValueError, match=r"Name collision after sanitization.*Original: \['a/b', 'a_b'\]"):
        tf.function(lambda **kwargs: kwargs["a/b"])(**{"a/b": 1, "a_b": 2})
    with pytest.raises(TypeError, match="weakref input .* not supported for tf.function"):
        tf.function(lambda x: 1)(weakref.ref(test_arguments_that_no_trace_can_be_made_for))
    with pytest.raises(ValueError, match="jit_compile=True"):
        tf.function(lambda: 1).experimental_get_compiler_ir()
    with pytest.raises(tf.errors.UnimplementedError):
        tf.function(lambda: 1, jit_compile=True).experimental_get_compiler_ir()


@pytest.mark.parametrize("program", [
    lambda f, x: tf.switch_case(tf.constant(0), [lambda: f()(x), lambda: x]),
    lambda f, x: tf.cond(x > 0., lambda: tf.cond(x > 0., lambda: f()(x), lambda: x), lambda: x),
    lambda f, x: tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, f()(a)), [0, x])[1]])
def test_functions_made_in_branches_and_loops_are_differentiated_when_nobody_holds_them(program):
    """As in TensorFlow: the square of x, whose derivatives are 2 x and 2."""
    @tf.function(autograph=False)
    def twice(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = program(lambda: tf.function(lambda a: a * a, autograph=False), x)
            gc.collect()
            slope = inner.gradient(y, x)
        return slope, outer.gradient(slope, x)

    assert [float(d) for d in twice(tf.constant(3.))] == [6., 2.]


def test_a_choice_in_a_branch_of_a_loop_is_differentiated():
    """As in TensorFlow: an eighth of x's square, with an index that the iteration computes."""
    def body(i, a):
        def even():
            return tf.switch_case(tf.cast(a, tf.int32), [lambda: a * 0.5, lambda: a * a])

        return i + 1, tf.cond(tf.equal(i % 2, 0), even, lambda: a * a * 0.5)

    @tf.function(autograph=False)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, a: i < 2, body, [0, x])[1]
        return y, tape.gradient(y, x)

    assert [float(value) for value in slope(tf.constant(0.5))] == [0.03125, 0.125]


def test_a_function_that_implements_another_takes_tensors_only():
    """What stands in for it in a converted model knows its arguments: numbers and variables come as tensors, and
    nothing is taken from outside. Values and attributes are TensorFlow 2.21's."""
    variable = tf.Variable(1.0)
    add = tf.function(lambda x, y: x + y, experimental_implements="add")
    assert [float(add(variable, 2.0)), float(add(2.0, variable))] == [3, 3]
    assert add(variable, [2.0]).numpy().tolist() == [3]
    traces = add._list_all_concrete_functions_for_serialization()
    assert [t.function_def.attr["_implements"].s for t in traces] == [b"add", b"add"]
    assert [[i.type for i in t.function_def.signature.input_arg] for t in traces] == [[1, 1], [1, 1]]
    with tf.GradientTape() as tape:
        total = add(variable, variable)
    assert float(tape.gradient(total, variable)) == 2

    class Twice(tf.Module):
        @tf.function(experimental_implements='name: "twice" attr { key: "times" value { i: 2 } }')
        def __call__(self, x):
            return x * 2

    twice = Twice()
    assert float(twice(variable)) == 2
    trace, = twice.__call__._list_all_concrete_functions_for_serialization()
    called = trace.function_def.attr["_implements"].func
    assert (called.name, called.attr["times"].i) == ("twice", 2)
    with pytest.raises(AssertionError, match="variables are always captured"):
        tf.function(lambda x: x * variable, experimental_implements="f")(1.0)


def test_a_trace_takes_no_numbers_for_the_tensors_of_a_structure(monkeypatch):
    """Given flat, arguments of a trace are tensors; 2.21 refuses these calls in these words."""
    monkeypatch.setattr(tf2, "enabled", lambda: True)

    @tf.function
    def first(x, y=5):
        return x

    of_pair = first.get_concrete_function({"a": tf.constant(1), "b": tf.constant(1)})
    with pytest.raises(TypeError, match=r"Can not cast .* to a Dict(?s:.*)argument #1\(zero-based\) to be a Tensor"):
        of_pair(tf.constant(1), 5)
    with pytest.raises(TypeError, match="expected argument #0"):
        first.get_concrete_function([tf.constant(1), 2])([tf.constant(1), 3])
    assert int(first.get_concrete_function(tf.constant(1))(3, 5)) == 3
    of_two = tf.function(lambda x, y: x + y).get_concrete_function(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        of_two(tf.constant(1.0), y="a")


def test_signatures_of_methods_are_without_self():
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([])])
        def call(self, x, y=3.0):
            return x * y

        @tf.function
        def other(self, x, *, z):
            return x + z

    assert str(inspect.signature(Model().call)) == "(x, y=3.0)"
    assert str(inspect.signature(Model().other)) == "(x, *, z)"
    assert str(inspect.signature(Model.other)) == "(self, x, *, z)"


def test_traces_are_parts_but_not_of_checkpoints():
    double = tf.function(lambda x: x + x)
    double(tf.constant(1))
    double(tf.constant(1.0))
    assert double._trackable_children() == {}
    assert sorted(double._trackable_children("savedmodel")) == ["trace_0", "trace_1"]
    assert tf.train.TrackableView.children(double, "savedmodel").keys() == {"trace_0", "trace_1"}


def test_a_function_that_calls_itself_is_traced_once_for_each_argument():
    seen = []

    @tf.function
    def countdown(n):
        seen.append(n)
        return countdown(n - 1) if n > 0 else tf.constant(7)

    assert int(countdown(3)) == 7
    assert seen == [3, 2, 1, 0]
    assert int(countdown(2)) == 7 and len(seen) == 4
