"""Functions, datasets and resources that a model takes with it; expected values are TensorFlow 2.21's."""
import gc
import os
import typing
import weakref

import numpy as np
import pytest

import penstock as tf
import penstock.v1 as v1
from penstock._src.graph import errors
from penstock._src.graph import gen
from penstock._src.saved_model import loader_impl
from penstock._src.data import nested_structure_coder
from penstock._src.ops.state import tracking

pytestmark = pytest.mark.usefixtures("version_two")


def reloaded(path, model, **options):
    tf.saved_model.save(model, str(path), options=tf.saved_model.SaveOptions(**options))
    return tf.saved_model.load(str(path))


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * e  # the wrong gradient, so that it is seen


def test_gradients_of_the_program_within_functions_that_are_called(tmp_path):
    @tf.function
    def inner(x):
        y = log1pexp(x)
        return tf.function(lambda: log1pexp(y))()

    model, v = tf.Module(), tf.Variable(1.)
    model.f = tf.function(lambda x: log1pexp(inner(x * x)))

    def gradients(f):
        with tf.GradientTape() as second:
            with tf.GradientTape() as first:
                y = f(v)
            gradient = first.gradient(y, v)
        return gradient.numpy(), second.gradient(gradient, v).numpy()

    expected = (95.378525, 2732.7124)
    np.testing.assert_allclose(gradients(model.f), expected, rtol=1e-6)
    loaded = reloaded(tmp_path / "a", model, experimental_custom_gradients=True)
    np.testing.assert_allclose(gradients(loaded.f), expected, rtol=1e-6)
    again = reloaded(tmp_path / "b", loaded, experimental_custom_gradients=True)
    np.testing.assert_allclose(gradients(again.f), expected, rtol=1e-6)


def test_what_a_trace_takes_and_gives(tmp_path):
    model, y = tf.Module(), tf.constant(1)
    model.f = tf.function(lambda x: {"input": x, "capture": y}).get_concrete_function(tf.TensorSpec([], tf.int32))
    x, = model.f.function_type.parameters.values()
    assert x.name == "x" and x.type_constraint == tf.TensorSpec([], tf.int32) and not x.optional
    kind = reloaded(tmp_path, model).f.function_type
    x, = kind.parameters.values()
    assert x.name == "x" and x.type_constraint == tf.TensorSpec([], tf.int32, name="x")
    assert list(kind.captures.values()) == [tf.TensorSpec([], tf.int32)] == kind.flat_captures
    assert kind.output.mapping == {"input": tf.TensorSpec([], tf.int32, name="input"),
                                   "capture": tf.TensorSpec([], tf.int32, name="capture")}
    f = tf.function(lambda x, y=3, *a, k=2, **more: (x, [x]))
    assert str(f.function_type) == "(x, y=<captured_default_value>, *a, k=<captured_default_value>, **more)"
    traced = f.get_concrete_function(tf.TensorSpec([], tf.float32), 4, tf.constant(1), k=tf.constant(3),
                                     z=[1, {"a": tf.constant(1)}])
    assert str(traced.function_type) == (
        "(x: TensorSpec(shape=(), dtype=tf.float32, name=None), y: Literal[4], a_0: TensorSpec(shape=(), "
        "dtype=tf.int32, name=None), /, *, k: TensorSpec(shape=(), dtype=tf.int32, name=None), z: List[Literal[1], "
        "Dict[['a', TensorSpec(shape=(), dtype=tf.int32, name=None)]]]) -> Tuple[TensorSpec(shape=(), "
        "dtype=tf.float32, name=None), List[TensorSpec(shape=(), dtype=tf.float32, name=None)]]")
    assert len(traced.function_type.flat_inputs) == 4 and len(traced.function_type.flat_outputs) == 2
    assert [spec.name for spec in tf.nest.flatten(traced.structured_input_signature) if hasattr(spec, "name")] == [
        "x", "a_0", "k", "z_1_a"]


def test_attributes_of_functions(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x: x * 2., input_signature=[tf.TensorSpec(None, tf.float32)],
                          experimental_implements="twice",
                          experimental_attributes={"disable_summaries_at_runtime": ["x", "y"]})
    loaded = reloaded(tmp_path, model)
    for function in loaded.f.concrete_functions[0], loaded.signatures["serving_default"]:
        assert list(function.function_def.attr["disable_summaries_at_runtime"].list.s) == [b"x", b"y"]
    assert loaded.f.concrete_functions[0].function_def.attr["_implements"].s == b"twice"
    for attributes, message in (({"foo": 1}, "`foo is not supported by tf.function as an attribute."),
                                ({"_noinline": [None]}, "Attributes for _noinline must be bool, int, float, or")):
        with pytest.raises(ValueError, match=message):
            tf.function(lambda: 1, experimental_attributes=attributes).get_concrete_function()


def test_shapes_stay_known(tmp_path):
    model, signatures = tf.Module(), None
    model.f = tf.function(lambda x, y: tf.concat([x, y], axis=1), input_signature=[
        tf.TensorSpec([None, 3], tf.int32), tf.TensorSpec([None, 2], tf.int32)])
    for i in range(3):
        tf.saved_model.save(model, str(tmp_path / str(i)), signatures=signatures)
        model = tf.saved_model.load(str(tmp_path / str(i)))
        signatures = model.signatures
    assert signatures["serving_default"].outputs[0].shape.as_list() == [None, 5]


class HasFiles(tf.Module):

    def __init__(self, path):
        super().__init__()
        self.lines = tf.data.TextLineDataset([path]).map(lambda line: line + "!")

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def __call__(self, x):
        total = tf.constant(0)
        for line in self.lines:
            total += x * tf.strings.length(line)
        return total


def test_files_that_datasets_read(tmp_path):
    (tmp_path / "a.txt").write_text("a\nbb\n")
    reloaded(tmp_path / "first", HasFiles(str(tmp_path / "a.txt")))
    (tmp_path / "a.txt").unlink()
    os.rename(tmp_path / "first", tmp_path / "second")
    loaded = tf.saved_model.load(str(tmp_path / "second"))
    assert loaded(tf.constant(3)).numpy() == 15
    assert reloaded(tmp_path / "third", loaded)(tf.constant(2)).numpy() == 10
    (tmp_path / "second" / "assets" / "a.txt").unlink()
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        info = tf.compat.v1.saved_model.load(sess, ["serve"], str(tmp_path / "third")).signature_def["serving_default"]
        assert sess.run(info.outputs["output_0"].name, {info.inputs["x"].name: 2}) == 10


def _handle():
    return gen.var_handle_op(shape=[], dtype=tf.float32, shared_name="a_name", container="theirs")


class Counter(tracking.TrackableResource):

    def _create_resource(self):
        return _handle()

    def _initialize(self):
        gen.assign_variable_op(self.resource_handle, 1.)

    def _destroy_resource(self):
        gen.destroy_resource_op(_handle(), ignore_lookup_error=True)


class HasCounter(tf.Module):

    def __init__(self):
        super().__init__()
        self.counter = Counter()

    @tf.function(input_signature=[])
    def increase(self):
        handle = self.counter.resource_handle  # made while this is traced
        gen.assign_add_variable_op(handle, 10.)
        return gen.read_variable_op(handle, tf.float32)


def test_resources_end_with_their_model(tmp_path):
    loaded = reloaded(tmp_path, HasCounter())
    assert [loaded.increase().numpy(), loaded.increase().numpy()] == [11, 21]
    handle, counter = loaded.counter.resource_handle, weakref.ref(loaded.counter)
    gc.collect()
    gc.disable()
    try:
        del loaded
        assert counter() is None
    finally:
        gc.enable()
    with pytest.raises(errors.NotFoundError, match="does not exist"):
        gen.destroy_resource_op(handle, ignore_lookup_error=False)


class HasDefaults(tf.Module):

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(self, x, y=5., training=False, *, k=2):
        return x + y


def test_defaults_behind_an_input_signature(tmp_path):
    model = HasDefaults()
    assert model.f.get_concrete_function().structured_input_signature == (
        (tf.TensorSpec([], tf.float32, name="x"), 5., False), {"k": 2})
    for one in model, reloaded(tmp_path, model):
        assert [one.f(1.).numpy(), one.f(1., 5.).numpy(), one.f(x=1., training=False).numpy(),
                one.f(1., k=2).numpy()] == [6, 6, 6, 6]
        with pytest.raises(TypeError, match=r"Can not cast 6.0 to Literal\[5.0\]"):
            one.f(1., 6.)
        with pytest.raises(TypeError, match=r"Can not cast True to Literal\[False\]"):
            one.f(1., training=True)


def test_a_loaded_model_is_saved_with_its_signature(tmp_path):
    loaded = reloaded(tmp_path / "b", reloaded(tmp_path / "a", HasDefaults()))
    assert list(loaded.signatures) == ["serving_default"]
    assert loaded.signatures["serving_default"](x=tf.constant(2.))["output_0"].numpy() == 7
    assert "(*, x: TensorSpec(shape=(), dtype=tf.float32, name='x'))" in repr(loaded.signatures["serving_default"])


class Logged(tf.Module):

    def __init__(self, logdir):
        super().__init__()
        self.writer = tf.summary.create_file_writer(logdir, experimental_trackable=True)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def train(self, step):
        with self.writer.as_default():
            tf.summary.write("tag", "text", step=step)
        return tf.constant(0)


def test_writers_of_summaries(tmp_path):
    logdir = str(tmp_path / "logs")
    model = Logged(logdir)

    def events_of_new_file(known):
        path, = set(os.listdir(logdir)) - known
        return [event.step for event in v1.train.summary_iterator(os.path.join(logdir, path))][1:]

    known = set(os.listdir(logdir))
    loaded = reloaded(tmp_path / "model", model)
    loaded.train(1)
    loaded.train(2)
    assert events_of_new_file(known) == [1, 2]
    known = set(os.listdir(logdir))
    with tf.Graph().as_default(), v1.Session() as sess:
        info = v1.saved_model.load(sess, ["serve"], str(tmp_path / "model")).signature_def["serving_default"]
        for step in 3, 4:
            sess.run(info.outputs["output_0"].name, {info.inputs["step"].name: step})
    assert events_of_new_file(known) == [3, 4]


def test_a_summary_that_is_not_recorded_needs_no_step(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(), tf.summary.record_if(False):
        assert not tf.summary.write("tag", 42).numpy()


class Dense(tf.Module):

    def __init__(self):
        super().__init__()
        self.w, self.b = tf.Variable(1.), tf.Variable(0., trainable=False)


def test_lists_and_dictionaries_have_the_variables_of_their_modules():
    model = tf.Module()
    model.parts = [Dense(), [Dense(), tf.Variable(3.)], tf.Variable(4.)]
    model.named = {"a": Dense(), "b": {"c": tf.Variable(5.)}}
    assert [float(v) for v in model.parts.variables] == [1, 1, 3, 4, 0, 0]
    assert [float(v) for v in model.named.trainable_variables] == [1, 5]
    assert len(model.parts.non_trainable_variables) == 2
    model.parts.trainable = False
    assert not model.parts.trainable_variables and len(model.parts.non_trainable_variables) == 6
    model.shape = [2]
    assert model.shape + tf.TensorShape([3]) == [2, 3] and [1] + model.shape == [1, 2]


def test_tensors_as_defaults_behind_an_input_signature(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x, y=tf.constant(5.): x + y, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(model, str(tmp_path), signatures=model.f)
    for one in model, tf.saved_model.load(str(tmp_path)):
        assert [one.f(1.).numpy(), one.f(1., 2.).numpy(), one.f(1., y=tf.constant(3.)).numpy()] == [6, 3, 4]
    signature = loader_impl.parse_saved_model(str(tmp_path)).meta_graphs[0].signature_def["serving_default"]
    assert sorted(signature.inputs) == ["x", "y"] and signature.defaults["y"].float_val[0] == 5


def test_shapes_of_what_functions_call_are_saved(tmp_path):
    model, v = tf.Module(), tf.Variable(2.)
    model.v = v
    model.f = tf.function(lambda x: (v * x, v * (x + 1), None), input_signature=[tf.TensorSpec([None], tf.float32)])
    model.g = tf.function(lambda x: model.f(x)[1], input_signature=[tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(model, str(tmp_path), signatures=model.g)
    library = loader_impl.parse_saved_model(str(tmp_path)).meta_graphs[0].graph_def.library
    calls = [node for function in library.function for node in function.node_def if "Partitioned" in node.op]
    assert sorted([[d.size for d in shape.dim] for shape in call.attr["_output_shapes"].list.shape]
                  for call in calls) == [[[-1]], [[-1], [-1]]]


class Masked(tf.experimental.ExtensionType):
    __name__ = "penstock_test.Masked"
    values: tf.Tensor
    mask: tf.Tensor
    kind: str = "plain"


class Zoo(tf.experimental.ExtensionType):
    __name__ = "penstock_test.Zoo"
    keepers: typing.Tuple[str, ...]
    animals: typing.Mapping[str, tf.Tensor]
    inner: Masked


def test_types_of_the_program(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x: Masked(x.values * 2., x.mask))
    model.g = tf.function(lambda x: x.values, input_signature=[
        Masked.Spec(tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.bool), "plain")])
    model.h = tf.function(lambda z: z.animals["a"] + z.inner.values)
    masked = Masked([1., 2.], [True, False])
    zoo = Zoo(["Zoey", "Zack"], {"a": tf.constant([3.])}, masked)
    model.f(masked)
    model.h(zoo)
    loaded = reloaded(tmp_path, model)
    made = loaded.f(masked)
    assert isinstance(made, Masked) and made.values.numpy().tolist() == [2, 4] and made.kind == "plain"
    assert loaded.g(masked).numpy().tolist() == [1, 2] and loaded.h(zoo).numpy().tolist() == [4, 5]
    message = nested_structure_coder.encode_structure(zoo._type_spec).type_spec_value
    assert message.type_spec_class_name == "penstock_test.Zoo.Spec" and message.num_flat_components == 3
    state = [nested_structure_coder.decode_proto(pair) for pair in message.type_state.tuple_value.values]
    assert state[:2] == [("keepers", ("Zoey", "Zack")), ("animals", {"a": tf.TensorSpec([1], tf.float32)})]
    with pytest.raises(ValueError, match="Name penstock_test.Masked.Spec has already been registered"):
        type("Other", (tf.experimental.ExtensionType,), {"__name__": "penstock_test.Masked"})


class WithoutArguments(tf.Module):

    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.)

    @tf.function
    def reset(self):
        self.v.assign(0.)

    @tf.function
    def read(self):
        return self.v + 1.


def test_functions_without_arguments_are_saved_though_they_were_never_called(tmp_path):
    loaded = reloaded(tmp_path / "a", WithoutArguments())
    assert loaded.reset() is None and loaded.read().numpy() == 1 and loaded.read.input_signature == ()
    assert loaded.signatures["serving_default"]()["output_0"].numpy() == 1  # reset gives nothing
    assert tf.function(lambda: 1).input_signature == () and tf.function(lambda x=1: 1).input_signature is None


def test_a_codec_stands_for_values_of_a_program():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    class Codec:
        def can_encode(self, value):
            return isinstance(value, Celsius)

        def do_encode(self, value, encode):
            return encode(("celsius", value.degrees))

        def can_decode(self, message):
            return message.tuple_value.values[:1] == [nested_structure_coder.encode_structure("celsius")]

        def do_decode(self, message, decode):
            return Celsius(decode(message.tuple_value.values[1]))

    assert not nested_structure_coder.can_encode([Celsius(1)])
    nested_structure_coder.register_codec(Codec())
    try:
        message = nested_structure_coder.encode_structure({"a": Celsius(20), "b": (1, 2)})
        found = nested_structure_coder.decode_proto(message)
    finally:
        nested_structure_coder._codecs.clear()
    assert found["a"].degrees == 20 and found["b"] == (1, 2)
