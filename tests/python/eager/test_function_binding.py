"""What a tf.function calls; calls that fit neither it nor one of its traces, for which 2.21's words give the reason."""
import functools
import inspect

import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf_decorator

SPEC = tf.TensorSpec


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def _message(call, kind=TypeError):
    with pytest.raises(kind) as info:
        call()
    return str(info.value).split("\n")


@tf.function(input_signature=[SPEC([2], tf.float32), SPEC([], tf.int32)])
def signed(x, n):
    return x


@tf.function
def plain(a, b=3, *, k=4):
    return a


PAIR = "(x: TensorSpec(shape=(2,), dtype=tf.float32, name=None), n: TensorSpec(shape=(), dtype=tf.int32, name=None))"


@pytest.mark.parametrize("args, kwargs, reason", [
    (([1.0, 2.0, 3.0], 1), {}, "Can not cast TensorSpec(shape=(3,), dtype=tf.float32, name=None) to TensorSpec("
                               "shape=(2,), dtype=tf.float32, name=None)"),
    (([1.0, 2.0], 1.5), {}, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    (([1.0, 2.0], None), {}, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
                             "Tensor."),
    (([1.0, 2.0],), {}, "missing a required argument: 'n'"),
    (([1.0, 2.0], 1, 2), {}, "too many positional arguments"),
    (([1.0, 2.0], 1), {"x": 2}, "multiple values for argument 'x'"),
    (([1.0, 2.0], 1), {"m": 2}, "got an unexpected keyword argument 'm'"),
])
def test_a_signature(args, kwargs, reason):
    assert _message(lambda: signed(*args, **kwargs))[0] == (
        f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
        f"signature: {PAIR}.")


@pytest.mark.parametrize("args, kwargs, reason", [
    ((), {}, "missing a required argument: 'a'"),
    ((1, 2, 3), {}, "too many positional arguments"),
    ((1,), {"z": 3}, "got an unexpected keyword argument 'z'"),
])
def test_a_function_without_a_signature(args, kwargs, reason):
    assert _message(lambda: plain(*args, **kwargs)) == [
        f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
        "signature: (a, b=<captured_default_value>, *, k=<captured_default_value>)."]


@pytest.mark.parametrize("value, reason", [
    ([1, 2], "Can not cast [1, 2] to a Dict type."),
    ({"a": 1}, "{'a': 1} has different keys with the TraceType Dict[['a', TensorSpec(shape=(), dtype=tf.int32, "
               "name=None)], ['b', TensorSpec(shape=(), dtype=tf.int32, name=None)]]."),
])
def test_structures(value, reason):
    f = tf.function(lambda x: x["a"], input_signature=[{"a": SPEC([], tf.int32), "b": SPEC([], tf.int32)}])
    assert _message(lambda: f(value))[0].startswith(f"Binding inputs to tf.function failed due to `{reason}`.")


@pytest.mark.parametrize("value, reason", [([1, 2], "Can not cast [1, 2] to tuple type."),
                                           ((1,), "Expected (1,) to have length of 2")])
def test_tuples(value, reason):
    f = tf.function(lambda x: x[0], input_signature=[(SPEC([], tf.int32), SPEC([], tf.int32))])
    assert _message(lambda: f(value))[0].startswith(f"Binding inputs to tf.function failed due to `{reason}`.")


@pytest.mark.parametrize("args, kwargs, reason, flat", [
    ((), {}, "missing a required argument: 'a'", " missing required arguments: a."),
    (([1.0, 2.0], 4), {}, "missing a required argument: 'k'", " takes 1 positional arguments, got 2."),
    (([1.0, 2.0],), {"k": 5}, "missing a required argument: 'b'", " got unexpected keyword arguments: k."),
    (([1.0, 2.0],), {"a": 5}, "multiple values for argument 'a'", " got two values for 'a'."),
    (("x",), {}, "missing a required argument: 'b'", ": expected argument #0(zero-based) to be a Tensor; got str (x)."),
])
def test_a_trace(args, kwargs, reason, flat):
    concrete = plain.get_concrete_function(SPEC([2], tf.float32))
    assert _message(lambda: concrete(*args, **kwargs))[:2] == [
        f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
        "signature: (a: TensorSpec(shape=(2,), dtype=tf.float32, name=None), b: Literal[3], *, k: Literal[4]) -> "
        "TensorSpec(shape=(2,), dtype=tf.float32, name=None).",
        f"Fallback to flat signature also failed due to: plain(a){flat}"]


def test_a_trace_takes_values_equal_to_those_it_was_made_of_and_variables():
    concrete = plain.get_concrete_function(SPEC([2], tf.float32), 3)
    assert concrete(tf.Variable([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
    assert concrete(tf.constant([1.0, 2.0]), 3, k=4).numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("function, signature, message", [
    (lambda x: x, [SPEC([], tf.int32)] * 2, "input_signature contains 1 extra type constraints."),
    (lambda x, y: x, [SPEC([], tf.int32)], "input_signature missing type constraint for y"),
])
def test_signatures_of_other_functions(function, signature, message):
    assert _message(lambda: tf.function(function, input_signature=signature)) == [message]
    with pytest.raises(TypeError, match="keyword-only parameter `y` must have a default value"):
        tf.function(lambda x, *, y: x, input_signature=signature[:1])


def test_a_proxy_of_a_function_is_called_itself():
    class Proxy:  # as the decorators of the package wrapt
        def __init__(self, wrapped):
            self._wrapped = wrapped

        __class__ = property(lambda self: type(self._wrapped))

        def __getattr__(self, name):
            return getattr(object.__getattribute__(self, "_wrapped"), name)

        def __get__(self, instance, owner):
            return Proxy(self._wrapped.__get__(instance, owner))

        def __call__(self, *args):
            return 10 * self._wrapped(*args)

    class Module:
        @Proxy
        def method(self, x):
            return x + 1

    @Proxy
    def function(x):
        return x + 2

    assert tf.function(Module().method)(tf.constant(1)).numpy() == 20
    assert tf.function(function)(tf.constant(1)).numpy() == 30
    assert tf.function(lambda x: function(x) + 1)(tf.constant(1)).numpy() == 31


def test_attributes_of_what_is_wrapped():
    class Scale:
        def __init__(self):
            self.factor = tf.Variable(2.0)

        def __call__(self, x):
            return x * self.factor

    def plain():
        pass
    plain.notes = ["kept"]
    scale = Scale()
    f = tf.function(scale)
    assert f.factor is scale.factor and f(3.0).numpy() == 6 and tf.function(plain).notes is plain.notes
    with pytest.raises(AttributeError):
        f.other


def test_parameters_behind_one_that_a_partial_binds_by_its_name():
    """As in Python they can be given by name only; numbers of TensorFlow 2.21."""
    def f(x, y=1, z=2, *, w=3):
        return x + 10 * y + 100 * z + 1000 * w

    def call(bound, *args, **kwargs):
        return tf.function(functools.partial(f, **bound))(*args, **kwargs).numpy()

    one = tf.constant(1)
    assert [call({"y": 5}, one), call({"y": 5}, one, y=tf.constant(6)), call({"y": 5}, one, z=tf.constant(6))] == [
        3251, 3261, 3651]
    assert [call({"w": 7}, one), call({"w": 7}, one, w=tf.constant(2))] == [7211, 2211]
    assert call({"x": tf.constant(1)}, y=tf.constant(3)) == 3231
    with pytest.raises(TypeError):
        call({"y": 5}, one, tf.constant(6))


def test_tensors_of_another_type_or_shape_within_structures(monkeypatch):
    from penstock._src.base import tf2
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    f = tf.function(lambda x: x)
    trace = f.get_concrete_function({"a": SPEC([None], tf.int32)})
    assert trace({"a": tf.constant([1, 2])})["a"].numpy().tolist() == [1, 2]
    for value, given in ((tf.constant([1.0]), "shape=(1,), dtype=tf.float32"),
                         (tf.constant(1), "shape=(), dtype=tf.int32")):
        first, second = _message(lambda: trace({"a": value}))  # noqa: B023
        assert first.startswith(f"Binding inputs to tf.function failed due to `Can not cast TensorSpec({given}, name=")
        assert "Fallback to flat signature also failed due to: <lambda>(x): expected argument #0" in second
    rows = f.get_concrete_function(tf.RaggedTensorSpec([2, None], tf.int32))
    assert rows(tf.ragged.constant([[1], [2, 3]])).to_list() == [[1], [2, 3]]
    for value in (tf.ragged.constant([[1], [2], [3]]), tf.ragged.constant([[1.0], [2.0]])):
        assert "Can not cast TensorSpec(" in "".join(_message(lambda: rows(value)))  # noqa: B023
    with pytest.raises(TypeError) as e:
        trace()
    assert type(e.value) is TypeError


def test_a_function_of_what_is_a_function_already(monkeypatch):
    from penstock._src.base import tf2
    monkeypatch.setattr(tf2, "enabled", lambda: True)

    class Minus:
        @tf.function
        def method(self, a, b):
            return a - b

        @tf.function
        def __call__(self, a, b):
            return a - b

    minus, one, two = Minus(), tf.constant(1), tf.constant(2)
    for f in (tf.function(minus.method), tf.function(minus), minus.method, minus):
        assert [int(f(one, two)), int(f(a=one, b=two)), int(f(one, b=two))] == [-1] * 3
        with pytest.raises(TypeError, match="missing a required argument: 'a'"):
            f(b=two)
    assert int(tf.function(Minus.method)(minus, one, two)) == -1
    trace = tf.function(lambda x: x + 1.0).get_concrete_function(tf.constant([1.0]))
    assert trace(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]  # eagerly nothing is checked
    with pytest.raises(TypeError, match=r"Can not cast TensorSpec\(shape=\(2,\).* to TensorSpec\(shape=\(1,\)"):
        tf.function(lambda: trace(tf.constant([1.0, 2.0])))()
    from penstock._src.graph.variable_spec import VariableSpec
    with pytest.raises(TypeError, match="input_signature doesn't support VariableSpec"):
        tf.function(lambda v: v, input_signature=[VariableSpec([], tf.int32)])


def test_the_python_function_of_a_method_is_bound():
    class Scaled:
        def __init__(self):
            self.factor = 3

        @tf.function
        def call(self, x, y=2):
            return x * self.factor + y

    scaled = Scaled()
    bound = scaled.call.python_function
    assert bound(1) == 5 and bound(1, y=5) == 8 and Scaled.call.python_function(scaled, 1) == 5
    assert str(inspect.signature(bound)) == str(inspect.signature(scaled.call)) == "(x, y=2)"
    assert str(inspect.signature(Scaled.call.python_function)) == "(self, x, y=2)"
    assert tf.function(bound)(tf.constant(1)).numpy() == 5


@pytest.mark.parametrize("declared, defaults, accepted", [
    (["x"], None, 1), (["x", "training"], (7,), 2), (["x", "mask", "training"], (None, False), 3)])
def test_a_decorator_may_declare_other_arguments(declared, defaults, accepted):
    def target(x, training=None):
        return x

    def wrapper(*args, **kwargs):
        counts.append(len(args) + len(kwargs))
        return args[0]

    counts = []
    spec = inspect.FullArgSpec(declared, None, None, defaults, [], None, {})
    decorated = tf_decorator.make_decorator(target, wrapper, decorator_argspec=spec)
    function = tf.function(decorated)
    assert function(tf.constant(1)).numpy() == 1 and counts == [accepted]
    assert list(inspect.signature(function).parameters) == function.function_spec.fullargspec.args == declared
    if "mask" in declared:
        assert function(tf.constant(1), mask=5).numpy() == 1
    else:
        with pytest.raises(TypeError, match="unexpected keyword argument 'mask'"):
            function(tf.constant(1), mask=5)
