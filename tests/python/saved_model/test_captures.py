"""What functions of a SavedModel capture: datasets, constants, files; and what is said of what is no part of it."""
import pytest

import penstock.v1 as v1  # noqa: F401  (first: the process' behaviour stays version 1's)
import penstock as tf
from penstock._src.graph import context
from penstock._src.graph import type_spec
from penstock._src.graph import type_spec_registry
from penstock._src.saved_model import load_v1_in_v2
from penstock._src.saved_model import loader_impl
from penstock._src.data import nested_structure_coder
from penstock._src.ops.state import base


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def cycle(root, directory):
    tf.saved_model.save(root, str(directory))
    return tf.saved_model.load(str(directory))


def test_a_dataset(tmp_path):
    class Sum(tf.Module):
        def __init__(self):
            super().__init__()
            self.dataset = tf.data.Dataset.range(5).map(lambda x: x * x).filter(lambda x: x > 1)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
        def __call__(self, x):
            total = tf.constant(0, tf.int64)
            for element in self.dataset:
                total += x * element
            return total

    root = Sum()
    assert root(tf.constant(3, tf.int64)).numpy() == 3 * (4 + 9 + 16)
    loaded = cycle(root, tmp_path / "a")
    assert loaded(tf.constant(3, tf.int64)).numpy() == 3 * (4 + 9 + 16)
    assert cycle(loaded, tmp_path / "b")(tf.constant(2, tf.int64)).numpy() == 2 * (4 + 9 + 16)


def test_a_constant_of_a_graph(tmp_path):
    with v1.Graph().as_default(), v1.Session().as_default():
        root, two = tf.Module(), tf.constant(2.)
        root.f = tf.function(lambda x: two * x, input_signature=[tf.TensorSpec(None)])
        tf.saved_model.save(root, str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).f(tf.constant(4.)).numpy() == 8


def test_a_file_that_was_written_anew(tmp_path):
    def answer(label):
        (tmp_path / "asset").write_text(label)
        root = tf.Module()
        root.asset = tf.saved_model.Asset(str(tmp_path / "asset"))
        root.f = tf.function(lambda: tf.io.read_file(root.asset), input_signature=[])
        return cycle(root, tmp_path / "model").f().numpy().decode()

    assert [answer("first"), answer("second")] == ["first", "second"]


def test_what_is_no_part_is_named(tmp_path):
    root, v = tf.Module(), tf.Variable(1., name="some_unique_name")
    root.f = tf.function(lambda: v.read_value(), input_signature=[])
    with pytest.raises(AssertionError, match="'untracked' resource(?s:.*)some_unique_name"):
        tf.saved_model.save(root, str(tmp_path))


def test_a_variable_without_a_value_is_left_out(tmp_path):
    from penstock._src.ops.state import resource_variable_ops
    root = tf.Module()
    root.empty = resource_variable_ops.UninitializedVariable(shape=[], dtype=tf.float32, name="empty")
    root.v = tf.Variable(1.)
    tf.saved_model.save(root, str(tmp_path))
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "variables/variables"))]
    assert not any(name.startswith("empty/") for name in names) and any(name.startswith("v/") for name in names)


def test_what_acts_as_a_variable(tmp_path):
    class Wrapper(base.Trackable):
        _should_act_as_resource_variable = True

        def __init__(self, value):
            self.value = tf.Variable(value) if not isinstance(value, tf.Variable) else value

        _shared_name = property(lambda self: self.value._shared_name)
        handle = property(lambda self: self.value.handle)

        def _serialize_to_tensors(self):
            return self.value._serialize_to_tensors()

        def _restore_from_tensors(self, restored_tensors):
            return self.value._restore_from_tensors(restored_tensors)

    wrapper = Wrapper(5.)
    checkpoint = tf.train.Checkpoint(v=wrapper)
    path = checkpoint.write(str(tmp_path / "c"))
    wrapper.value.assign(100.)
    checkpoint.read(path).assert_consumed()
    assert wrapper.value.numpy() == 5


def test_signatures_of_version_1_tell_what_they_take(tmp_path):
    with v1.Graph().as_default(), v1.Session() as session:
        inputs = {name: v1.placeholder(tf.float32, []) for name in ("b./-", "a")}
        v1.saved_model.simple_save(session, str(tmp_path), inputs, {"y": inputs["a"] - 2 * inputs["b./-"]})
    f = load_v1_in_v2.load(str(tmp_path), None).signatures["serving_default"]
    assert f.structured_input_signature == ((), {"a": tf.TensorSpec([], tf.float32, "a"),
                                                 "b./-": tf.TensorSpec([], tf.float32, "b./-")})
    assert f(tf.constant(7.), tf.constant(1.))["y"].numpy() == 5  # in the order of the names
    assert f(**{"b./-": tf.constant(1.), "a": tf.constant(7.)})["y"].numpy() == 5
    assert f.pretty_printed_signature(verbose=False).startswith(
        "(a: TensorSpec(shape=(), dtype=tf.float32, name='a'), "
        "b___: TensorSpec(shape=(), dtype=tf.float32, name='b./-'))")


def test_specs_of_a_programs_own_classes():
    @type_spec_registry.register("test_captures.Spec")
    class Spec(type_spec.TypeSpec):
        _component_specs = property(lambda self: tf.TensorSpec([]))
        value_type = property(lambda self: int)

        def _serialize(self):
            return (1, "a")

        @classmethod
        def _deserialize(cls, parts):
            assert parts == (1, "a")
            return cls()

        _to_components = _from_components = None

    class Unknown(Spec):
        pass

    with pytest.warns(UserWarning, match="test_captures.Spec; loading this StructuredValue will require"):
        message = nested_structure_coder.encode_structure({"x": Spec()})
    assert message.dict_value.fields["x"].type_spec_value.type_spec_class_name == "test_captures.Spec"
    assert isinstance(nested_structure_coder.decode_proto(message)["x"], Spec)
    assert not nested_structure_coder.can_encode(Unknown())
    message.dict_value.fields["x"].type_spec_value.type_spec_class_name = "nobody.Spec"
    with pytest.raises(ValueError, match="'nobody.Spec' has not been registered"):
        nested_structure_coder.decode_proto(message)


def test_a_model_that_is_text_stays_text(tmp_path):
    model = tmp_path / "text"
    root = tf.Module()
    root.f = tf.function(lambda: tf.constant(1.), input_signature=[])
    tf.saved_model.save(root, str(tmp_path / "binary"))
    model.mkdir()
    (model / "saved_model.pbtxt").write_text(str(loader_impl.parse_saved_model(str(tmp_path / "binary"))))
    updater = v1.saved_model.signature_def_utils.MethodNameUpdater(str(model))
    updater.replace_method_name("serving_default", "other", tags="serve")
    updater.save(str(tmp_path / "new"))
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["saved_model.pbtxt"]
    signatures = loader_impl.parse_saved_model(str(tmp_path / "new")).meta_graphs[0].signature_def
    assert signatures["serving_default"].method_name == "other"
    with pytest.raises(ValueError, match="with key: 'nothing'"):
        updater.replace_method_name("nothing", "other")
