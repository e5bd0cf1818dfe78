"""Parts of a SavedModel by their paths, what an export tells of its objects, and functions as parts of all kinds."""
import collections
import functools
import inspect

import pytest

import penstock.v1  # noqa: F401  (first: the process' behaviour stays version 1's)
import penstock as tf
from penstock._src.graph import context
from penstock._src.base.mode import mode
from penstock.proto import saved_object_graph_pb2
from penstock._src.saved_model import load
from penstock._src.saved_model import loader_impl
from penstock._src.ops.state import revived_types
from penstock._src.saved_model import save
from penstock._src.base import tf_inspect

INT = tf.TensorSpec([], tf.int32)


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.fixture
def nested(tmp_path):
    """A model with root.layer.v = 5, root.layer.list = [variable of 7], root.other.v = 8, and its directory."""
    root = tf.Module()
    root.layer, root.other = tf.Module(), tf.Module()
    root.layer.v, root.layer.list, root.other.v = tf.Variable(5.), [tf.Variable(7.)], tf.Variable(8.)
    root.layer.f = tf.function(lambda: root.layer.v * 2., input_signature=[])
    tf.saved_model.save(root, str(tmp_path))
    return root, str(tmp_path)


def cycle(root, directory, **options):
    tf.saved_model.save(root, str(directory), **options)
    return tf.saved_model.load(str(directory))


def test_paths_give_their_objects_with_all_below_them(nested):
    loaded = load.load_partial(nested[1], ["root.layer", "root.layer.v"])
    assert set(loaded) == {"root.layer", "root.layer.v"}
    assert loaded["root.layer"].v is loaded["root.layer.v"] and loaded["root.layer.v"].numpy() == 5
    assert loaded["root.layer"].f().numpy() == 10 and loaded["root.layer"].list[0].numpy() == 7
    assert load.load_partial(nested[1], {"root": None})["root"].other.v.numpy() == 8


def test_objects_of_the_program_take_the_saved_parts(nested):
    layer, variable = tf.Module(), tf.Variable(0.)
    loaded = load.load_partial(nested[1], {"root": None, "root.layer": layer, "root.layer.v": (variable, setattr)})
    assert loaded["root"].layer is layer and layer.v is variable and variable.numpy() == 5
    variable.assign(1.)
    assert layer.f().numpy() == 2


def test_wrong_paths_and_objects(nested):
    for filters, error, text in ((["layer"], ValueError, "first name must be root"), ([0], TypeError, "strings"),
                                 (["root.nothing"], ValueError, "Unable to find node root.nothing"),
                                 ({"root.layer": 1}, TypeError, "expected to be a checkpointable")):
        with pytest.raises(error, match=text):
            load.load_partial(nested[1], filters)


def test_an_export_gives_its_objects_and_their_paths(nested, tmp_path):
    root, _ = nested
    objects, paths = save.save_and_return_nodes(root, str(tmp_path / "again"), experimental_skip_checkpoint=True)
    assert objects[0] is root and [ref.name for ref in paths[root.layer.v]] == ["layer", "v"]
    nodes = loader_impl.parse_saved_model(str(tmp_path / "again")).meta_graphs[0].object_graph_def.nodes
    assert len(nodes) == len(objects) and not (tmp_path / "again/variables/variables.index").exists()


def test_setters_of_kinds():
    message = saved_object_graph_pb2.SavedUserObject(identifier="trackable_dict_wrapper")
    message.version.producer = message.version.min_consumer = 1
    made = {}
    revived_types.get_setter(message)(made, "a", 1)
    assert made == {"a": 1}
    assert revived_types.get_setter(saved_object_graph_pb2.SavedUserObject(identifier="nobody's")) is None


def test_functions_in_lists_dictionaries_and_tuples(tmp_path, monkeypatch):
    monkeypatch.setattr(mode, "tensor_shape_v2", True)  # version 2 looks into tuples
    root, pair = tf.Module(), collections.namedtuple("Pair", ["first", "second"])
    root.v = tf.Variable(3.)
    root.losses = [tf.function(lambda: root.v * root.v), tf.function(lambda: root.v + 1.)]
    root.named = {"a": tf.function(lambda: root.v - 1.), "v": root.v}
    root.named["trace"] = root.named["a"].get_concrete_function()
    root.pair = pair(root.v, tf.Variable(4.))
    assert [f().numpy() for f in (*root.losses, root.named["a"])] == [9, 4, 2]
    loaded = cycle(root, tmp_path)
    assert [f().numpy() for f in loaded.losses] == [9, 4]
    assert loaded.named["a"]().numpy() == loaded.named["trace"]().numpy() == 2
    assert set(loaded.named) == {"a", "trace", "v"}
    # Elements of a named tuple are parts by their places and by their names.
    assert loaded.pair[1].numpy() == loaded.pair.second.numpy() == 4 and loaded.pair.first is loaded.v


def test_what_a_function_was_traced_with(tmp_path):
    root = tf.Module()

    def f(x, dtype=None):
        return tf.zeros(x.shape, dtype or tf.float32)

    root.f = tf.function(f)
    root.f(tf.constant([1, 2]))
    root.f(tf.constant([1, 2]), dtype=tf.int32)

    def g(x, training=True):
        number, (a, b) = x
        return 2 * a["a"] + b + number

    root.g = tf.function(g).get_concrete_function([6, ({"a": tf.constant(10)}, tf.constant(11))])
    root.h = tf.function(lambda x, y: tf.concat([x, y], 1), jit_compile=True, input_signature=[
        tf.TensorSpec([None, 3]), tf.TensorSpec([None, 2])])
    loaded = cycle(root, tmp_path, signatures={"h": root.h})
    assert len(loaded.f._list_all_concrete_functions()) == 2
    assert loaded.f(tf.constant([1, 2])).dtype == tf.float32
    assert loaded.f(tf.constant([1, 2]), dtype=tf.int32).dtype == tf.int32
    assert tf_inspect.getfullargspec(loaded.f) == inspect.getfullargspec(f)
    assert loaded.g([6, ({"a": tf.constant(1)}, tf.constant(2))], True).numpy() == 10
    for wrong in (7, "6"):
        with pytest.raises(TypeError):
            loaded.g([wrong, ({"a": tf.constant(1)}, tf.constant(2))])
    assert loaded.h._jit_compile is True and loaded.f._jit_compile is None
    assert [t.shape.as_list() for t in loaded.h.get_concrete_function().graph.inputs] == [[None, 3], [None, 2]]
    assert [t.shape.as_list() for t in loaded.signatures["h"].outputs] == [[None, 5]]


def test_a_bound_method_below_a_decorator(tmp_path):
    class Calls:
        def call(self, x, training=False):
            return x + 1

    method = Calls().call

    def wrapper(*args, **kwargs):
        return method(*args, **kwargs)

    function = tf.function(functools.update_wrapper(wrapper, method))
    assert function(1, training=True).numpy() == 2
    assert function.get_concrete_function(INT, training=True)(tf.constant(2)).numpy() == 3


def test_parts_that_an_object_makes_for_itself(tmp_path):
    """An object may give other objects as parts than its attributes are, as Keras' optimizers do."""
    class Copies(tf.Module):
        def _trackable_children(self, save_type="checkpoint", **kwargs):
            if not hasattr(self, "_copies"):
                children = super()._trackable_children(save_type, **kwargs)
                self._copies = self._no_dependency({"made": tf.Module(), **children})
            return self._copies

    def made(value):
        obj = Copies()
        obj.v = tf.Variable(value)
        obj._trackable_children()["made"].w = tf.Variable(value + 1)
        return obj

    path = tf.train.Checkpoint(made(1.)).write(str(tmp_path / "c"))
    restored = made(5.)
    tf.train.Checkpoint(restored).read(path).assert_consumed()
    assert restored.v.numpy() == 1 and restored._copies["made"].w.numpy() == 2
    restored._delete_tracking("v")
    assert restored._lookup_dependency("v") is None and restored.v.numpy() == 1
