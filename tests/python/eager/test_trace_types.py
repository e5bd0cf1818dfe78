"""The tracing protocol, types of functions, and traces as programs look at them. Answers are TensorFlow 2.21's."""
import gc
import weakref

import pytest

import penstock as tf
from penstock._src.tf_function import public_types as types

pytestmark = pytest.mark.usefixtures("version_two")


class _SizeType(types.TraceType):
    """Of things of one size; None: of any."""

    def __init__(self, size):
        self.size = size

    def is_subtype_of(self, other):
        return isinstance(other, _SizeType) and other.size in (None, self.size)

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else _SizeType(None)

    def placeholder_value(self, placeholder_context=None):
        return _Sized(self.size)

    def __eq__(self, other):
        return isinstance(other, _SizeType) and self.size == other.size

    def __hash__(self):
        return hash(self.size)

    def __repr__(self):
        return f"Size[{self.size}]"


class _Sized:
    def __init__(self, size):
        self.size = size

    def __tf_tracing_type__(self, context):
        return _SizeType(self.size)


def test_objects_say_which_of_them_share_a_trace():
    seen = []
    f = tf.function(lambda a: seen.append(tf.nest.flatten(a)[0].size))
    for size in (1, 1, 2, 1):
        f(_Sized(size))
    assert seen == [1, 2] and f.experimental_get_tracing_count() == 2
    f([_Sized(1)])
    f([_Sized(1)])
    assert seen == [1, 2, 1]
    assert f.get_concrete_function(_SizeType(2)) is f.get_concrete_function(_Sized(2))
    text = f.get_concrete_function(_Sized(2)).pretty_printed_signature(verbose=False)
    assert text == "(a: Size[2]) -> Literal[None]"


def test_objects_are_generalized():
    seen = []
    f = tf.function(lambda a: seen.append(a.size), reduce_retracing=True)
    for size in (1, 2, 3, 4):
        f(_Sized(size))
    assert seen == [1, None]


def test_what_an_object_says_is_a_trace_type():
    class Wrong:
        def __tf_tracing_type__(self, context):
            return 3

    with pytest.raises(TypeError, match="Expected an instance of TraceType for Tracing Protocol call to .* but got 3"):
        tf.function(lambda a: 1)(Wrong())
    assert isinstance(_Sized(1), types.SupportsTracingProtocol) and not isinstance(1, types.SupportsTracingProtocol)
    assert isinstance(tf.TensorSpec([]), types.TraceType) and isinstance(tf.TensorShape([]), types.TraceType)


@pytest.mark.parametrize("value", [{1, 2}, [1, {2}], {"a": {1}}])
def test_arguments_without_a_hash(value):
    with pytest.raises(TypeError, match="Could not generate a generic TraceType for ") as found:
        tf.function(lambda a: 1)(value)
    assert type(found.value) is TypeError


def test_traces_of_objects_that_are_gone_are_not_found():
    class Equal:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 3

    f = tf.function(lambda a: 1)
    gc.disable()
    try:
        f(Equal())
        f(Equal())
    finally:
        gc.enable()
    assert f.experimental_get_tracing_count() == 2
    kept = Equal()
    f(kept)
    assert f.get_concrete_function(kept).function_type.parameters["a"].type_constraint._ref == weakref.ref(kept)


def _trace(*specs, **captured):
    v, c = tf.Variable(2.0), tf.constant(3.0)
    f = tf.function(lambda a, b: {"y": a * v + c, "z": (b, None)})
    return f.get_concrete_function(tf.TensorSpec([None, 2], name="inp"), tf.TensorSpec([]))


def test_function_types():
    kind = _trace().function_type
    assert kind.is_supertype_of(kind)
    assert "dtype=tf.float32, name='inp'), b: TensorSpec(shape=(), dtype=tf.float32, name=None)) -> Dict[" in str(kind)
    narrow = tf.function(lambda a: a).get_concrete_function(tf.TensorSpec([2])).function_type
    wide = tf.function(lambda a: a).get_concrete_function(tf.TensorSpec([None])).function_type
    assert narrow.is_supertype_of(wide) and not wide.is_supertype_of(narrow)
    lists = tf.function(lambda a: 1).get_concrete_function([1, {"b": tf.TensorSpec([2])}]).function_type
    others = tf.function(lambda a: 1).get_concrete_function([1, {"b": tf.TensorSpec([None])}]).function_type
    assert lists.is_supertype_of(others) and not others.is_supertype_of(lists) and not lists.is_supertype_of(narrow)

    made = types.FunctionType.from_callable(lambda a, *b, c=3, **d: 1)
    assert [(p.name, p.optional, p.type_constraint) for p in made.parameters.values()] == [
        ("a", False, None), ("b", False, None), ("c", True, None), ("d", False, None)]
    assert types.FunctionType.get_default_values(lambda a, b=2, *, c=3: 1) == {"b": 2, "c": 3}
    with pytest.raises(TypeError, match="partially specified"):
        made.is_supertype_of(made)


def test_results_that_are_none_have_unknown_shapes():
    shapes = _trace().output_shapes
    assert shapes["z"][1] == tf.TensorShape(None) and shapes["y"].as_list() == [None, 2]


def test_the_inference_function():
    concrete = _trace()
    inner = concrete.inference_fn
    x = tf.ones([1, 2])
    assert isinstance(inner, types.AtomicFunction) and isinstance(inner, types.Callable)
    assert inner.name == concrete.name and inner.graph is concrete.graph and not inner.attributes
    assert inner.definition.signature.name == inner.cached_definition.signature.name == concrete.name.decode()
    flat = inner.call_flat(x, tf.constant(1.0), *concrete.captured_inputs)
    assert [t.numpy().tolist() for t in flat] == [[[5.0, 5.0]], 1.0]
    other = inner.call_with_captures((x, 1.0), {}, [tf.Variable(10.0).handle, tf.constant(0.0)])
    assert other["y"].numpy().tolist() == [[10.0, 10.0]] and other["z"][1] is None
    with pytest.raises(ValueError, match="The FunctionType defines captured inputs. Use call_with_captures instead"):
        inner(x, 1.0)
    assert tf.function(lambda a: a + 1).get_concrete_function(tf.TensorSpec([])).inference_fn(2.0).numpy() == 3


@pytest.mark.parametrize("wrong", [("a",), {"a": 1.0}])
def test_structures_are_no_tensors(wrong):
    f = tf.function(lambda a: a).get_concrete_function(tf.TensorSpec([]))
    assert f([[1.0]][0][0]).numpy() == 1
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        f({"a": tf.constant(1.0)})
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        f(wrong)


def test_tensors_of_a_function_are_no_arguments_outside_of_it():
    leaked = []
    f = tf.function(lambda a: leaked.append(a * 2))
    f(tf.constant(1))
    for use in (f, tf.function(lambda a: a).get_concrete_function(tf.TensorSpec([], tf.int32))):
        with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
            use(leaked[0])


@pytest.mark.parametrize("use, names", [
    (lambda a, c: a + c, ["add/y", "add"]), (lambda a, c: c + a, ["add/x", "add"]),
    (lambda a, c: tf.maximum(a, c), ["Maximum/y", "Maximum"]), (lambda a, c: c * 2.0, ["mul/x", "mul/y", "mul"]),
    (lambda a, c: a - 2.0, ["sub/y", "sub"]), (lambda a, c: tf.identity(c), ["Identity/input", "Identity"])])
def test_captures_are_named_in_their_scopes(use, names):
    c = tf.constant(3.0)
    graph = tf.function(lambda a: use(a, c)).get_concrete_function(tf.TensorSpec([])).graph
    assert [op.name for op in graph.get_operations()][1:-1] == names


@pytest.mark.parametrize("left, right, text", [
    (tf.int32, 2.5, "Expected int32 passed to parameter 'y' of op 'Sub', got 2.5 of type 'float' instead"),
    (tf.float32, None, "None values not supported")])
def test_operands_in_graphs(left, right, text):
    with pytest.raises((TypeError, ValueError), match=text):
        tf.function(lambda a: a - right)(tf.zeros([], left))


def test_side_effects_that_are_not_ordered():
    v = tf.Variable(1.0)

    def read_and_add(x):
        value = v.read_value()
        v.assign_add(x)
        return value

    spec = tf.TensorSpec([])
    ordered = tf.function(read_and_add).get_concrete_function(spec)
    free = tf.function(read_and_add, experimental_attributes={"_disable_acd": True}).get_concrete_function(spec)
    assert len(ordered.graph.control_outputs) == 2 and not free.graph.control_outputs


def test_wrapped_functions_take_numbers():
    v = tf.Variable(5.0)

    def change(x, add):
        with tf.control_dependencies([v.assign_add(x) if add else v.assign_sub(x)]):
            return v.read_value()

    add = tf.compat.v1.wrap_function(change, [tf.TensorSpec(()), True])
    assert [add(1.0).numpy(), add(tf.constant(2.0)).numpy()] == [6, 8]


@pytest.mark.parametrize("wrong", [3, [1, 2], {"a": 1}, (tf.constant, tf.constant)])
def test_values_of_another_kind_than_a_composite_spec(wrong):
    if isinstance(wrong, tuple):  # what a ragged tensor consists of
        wrong = tf.constant([1]), tf.constant([1], tf.int64)
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    asked = tf.function(lambda a: a.row_lengths(), input_signature=[spec])
    traced = tf.function(lambda a: a.row_lengths()).get_concrete_function(spec)
    assert asked(tf.ragged.constant([[1], [2, 3]])).numpy().tolist() == [1, 2]
    for call in (asked, traced):
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed due to `The two structures don't"):
            call(wrong)


def test_keyword_parameters_beside_an_input_signature():
    with pytest.raises(TypeError, match="keyword-only parameter `b` must have a default value$") as found:
        tf.function(lambda a, *, b: a, input_signature=[tf.TensorSpec([])])(1.0, b=2)
    assert type(found.value) is TypeError


def test_parallel_iterations_need_a_persistent_tape():
    x = tf.constant([[1.0, 2.0]])
    for persistent in (False, True):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x * x
        if persistent:
            assert tape.batch_jacobian(y, x, parallel_iterations=2).numpy().tolist() == [[[2.0, 0.0], [0.0, 4.0]]]
        else:
            with pytest.raises(RuntimeError, match="must be created with persistent=True to compute"):
                tape.batch_jacobian(y, x, parallel_iterations=2)


def test_errors_of_traces_keep_nothing():
    gc.disable()
    try:
        x = tf.constant([1.0, 2.0])
        with pytest.raises(ValueError, match="in user code"):
            tf.function(lambda a: tf.matmul(a, a))(x)
        known = weakref.ref(x)
        del x
        assert known() is None
    finally:
        gc.enable()
