"""tf.Module finds variables and modules, and names them."""
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.graph import composite_tensor, ops, type_spec
from penstock._src.base import tf2


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class Nested(tf.Module):
    def __init__(self, depth, trainable=True):
        super().__init__(name="badger")
        with self.name_scope:
            self.child = Nested(depth - 1, trainable) if depth > 1 else None
            self.w = tf.Variable(1.0, trainable=trainable, name="mushroom")


def test_variables_and_modules():
    m = Nested(3)
    assert [v is w for v, w in zip(m.variables, (m.w, m.child.w, m.child.child.w))] == [True] * 3
    assert m.submodules == (m.child, m.child.child)
    assert m.w.name == "badger/mushroom:0" and m.child.child.w.name == "badger/badger/badger/mushroom:0"
    assert Nested(2, trainable=False).trainable_variables == ()
    assert len(Nested(2, trainable=False).non_trainable_variables) == 2


def test_variables_in_containers_are_found_once():
    m = tf.Module()
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    m.b = {"x": [v], "y": (w, v)}
    m.a = w
    assert [x is y for x, y in zip(m.variables, (w, v))] == [True, True] and len(m.variables) == 2


def test_names():
    class HTMLParser2D(tf.Module):
        pass

    assert HTMLParser2D().name == "html_parser2_d"
    with ops.name_scope("foo"):
        m = tf.Module(name="bar")
    assert (m.name, m.name_scope.name) == ("bar", "foo/bar/")
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module(name="$x")


def test_methods_run_in_the_scope():
    class M(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, depth):
            with ops.name_scope("x") as scope:
                return [scope, *(self(depth - 1) if depth else [])]

    assert M()(1) == ["m/x/", "m/x/"]

    class Traced(tf.Module):
        @tf.Module.with_name_scope
        @tf.function
        def f(self):
            with ops.name_scope("x") as scope:
                return scope

    assert Traced().f().numpy() == b"traced/x/"


def test_paths_to_values_that_are_shared():
    root, inner = tf.Module(), tf.Module()
    root.w, root.a = tf.Variable(1.0), inner
    inner.list, inner.root = [{"k": root.w}], root
    root.b = inner
    paths = {path for path, _ in root._flatten(with_path=True, predicate=lambda x: isinstance(x, tf.Variable))}
    assert paths == {("w",), ("a", "list", 0, "k"), ("b", "list", 0, "k"), ("a", "root", "w"), ("b", "root", "w")}
    assert root.variables == (root.w,)
    root.layers = {object(): None, object(): None}
    with pytest.raises(ValueError, match="Error processing property 'layers'"):
        root.variables  # noqa: B018


def test_a_name_scope_where_attributes_are_wrapped():
    """Programs that cast what a module's attributes give look at each of them, and at no dictionary of all of them."""
    asked = []

    class Wrapped(tf.Module):
        def __getattribute__(self, name):
            asked.append(name)
            return super().__getattribute__(name)

    module = Wrapped(name="m")
    del asked[:]
    with module.name_scope as scope:
        assert scope == "m/"
    assert "__dict__" not in asked


class Pair(tf.experimental.ExtensionType):
    first: tf.Tensor


def test_variables_in_composite_values(monkeypatch):
    class Spec(type_spec.TypeSpec):
        value_type = property(lambda self: Both)
        _component_specs = ()

        def _serialize(self):
            return ()

        def _to_components(self, value):
            return value.variables

        def _from_components(self, components):
            return Both(components)

    class Both(composite_tensor.CompositeTensor):
        _type_spec = property(lambda self: Spec())

        def __init__(self, variables):
            self.variables = variables

    module = tf.Module()
    module.both = Both([tf.Variable(1.0), tf.Variable(2.0, trainable=False)])
    module.pair = Pair(1.0)
    assert module.variables == ()  # as version 1 has it
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert list(module.variables) == module.both.variables
    assert [*module.trainable_variables, *module.non_trainable_variables] == module.both.variables
    assert module.submodules == ()
