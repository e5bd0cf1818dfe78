"""Registered classes and savers of a program's own objects, in checkpoints and SavedModels."""
import numpy as np
import pytest
from google.protobuf import wrappers_pb2

import penstock as tf
from penstock._src.graph import gen
from penstock._src.ops.state import registration
from penstock._src.ops.state.tracking import AutoTrackable

pytestmark = pytest.mark.usefixtures("version_two")


@registration.register_serializable(package="Penstock")
class Named(AutoTrackable):
    def __init__(self, name):
        self.name = name
        self.v = tf.Variable(1.)

    def _serialize_to_proto(self, **kwargs):
        return wrappers_pb2.StringValue(value=self.name)

    @classmethod
    def _deserialize_from_proto(cls, proto, **kwargs):
        text = wrappers_pb2.StringValue()
        assert proto.Unpack(text)
        return cls(text.value)


@registration.register_serializable(package="Penstock")
class Needing(AutoTrackable):
    def __init__(self, v=None):
        self.v = tf.Variable(1.) if v is None else v

    def _deserialization_dependencies(self, children):
        return {"v": children["v"]}

    @classmethod
    def _deserialize_from_proto(cls, dependencies, **kwargs):
        return cls(dependencies["v"])


class Halves(AutoTrackable):
    """Two numbers that are saved as one."""

    def __init__(self, whole):
        self.whole = whole


def _save(trackables, file_prefix):
    names = [f"{name}/whole" for name in trackables]
    gen.save_v2(file_prefix, names, [""] * len(names), [tf.constant(t.whole) for t in trackables.values()])
    return file_prefix


def _restore(trackables, merged_prefix):
    names = [f"{name}/whole" for name in trackables]
    for t, value in zip(trackables.values(), gen.restore_v2(merged_prefix, names, [""] * len(names),
                                                             [tf.float32] * len(names))):
        t.whole = value.numpy()


registration.register_checkpoint_saver("Penstock", "halves", lambda obj: isinstance(obj, Halves), _save, _restore)


def test_registered_classes_are_loaded_as_they_were(tmp_path):
    for obj in (Named("a"), Needing()):
        obj.v.assign(5.)
        for _ in range(2):  # what was loaded is saved again
            tf.saved_model.save(obj, str(tmp_path / "model"))
            obj = tf.saved_model.load(str(tmp_path / "model"))
        assert type(obj) in (Named, Needing) and obj.v.numpy() == 5.
    assert not hasattr(obj, "name")


def test_a_registered_saver_saves_and_restores_its_objects(tmp_path):
    path = tf.train.Checkpoint(a=Halves(1.5), b=Halves(2.5), v=tf.Variable(3.)).save(str(tmp_path / "ckpt"))
    values = {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path) if "whole" in name}
    assert values == {"a/whole": 1.5, "b/whole": 2.5}
    assert not list(tmp_path.glob("*halves*"))  # merged
    a, v = Halves(0.), tf.Variable(0.)
    tf.train.Checkpoint(a=a, v=v).restore(path).expect_partial()
    assert (a.whole, v.numpy()) == (1.5, 3.)
    with pytest.raises(ValueError, match="saver cannot be used to restore"):
        tf.train.Checkpoint(a=AutoTrackable()).restore(path)


def test_a_saver_restores_what_was_saved_before_there_was_one(tmp_path):
    class Plain(AutoTrackable):
        def _serialize_to_tensors(self):
            return {"whole": tf.constant(7.)}

    seen = []
    registration.register_checkpoint_saver(
        "Penstock", "later", lambda obj: isinstance(obj, Later), _save,
        lambda trackables, merged_prefix: seen.append([*trackables]))

    class Later(AutoTrackable):
        pass

    path = tf.train.Checkpoint(a=Plain()).write(str(tmp_path / "ckpt"))
    tf.train.Checkpoint(a=Later()).read(path)
    assert seen == [["a/.ATTRIBUTES/whole"]]


def test_refused_registrations():
    with pytest.raises(ValueError, match="already been registered to a serializable class"):
        registration.register_serializable(package="Penstock")(Named)
    with pytest.raises(ValueError, match="Invalid registered serializable class"):
        registration.register_serializable(package="a/b")(Halves)
    with pytest.raises(TypeError, match="must be a class"):
        registration.register_serializable()(Named("x"))
    with pytest.raises(TypeError, match="save_fn must be callable"):
        registration.register_checkpoint_saver(name="n", predicate=bool, restore_fn=print)
    with pytest.raises(LookupError, match="does not have name 'a.b'"):
        registration.get_save_function("a.b")
    assert registration.get_registered_class("a.b") is None
    assert registration.get_registered_class_name(Named("x")) == "Penstock.Named"


def test_dependencies_that_cannot_be_met(tmp_path):
    class Outside(AutoTrackable):
        def _deserialization_dependencies(self, children):
            return {"other": tf.Variable(1.)}

    with pytest.raises(ValueError, match="Found an untracked dependency"):
        tf.saved_model.save(Outside(), str(tmp_path))

    class Cycle(AutoTrackable):
        def _deserialization_dependencies(self, children):
            return {"other": self.other}

    a, b = Cycle(), Cycle()
    a.other, b.other = b, a
    with pytest.raises(ValueError, match="dependency cycle in the saved Trackable object"):
        tf.saved_model.save(a, str(tmp_path))


def test_variables_may_be_made_by_their_parts(tmp_path):
    class Mine(type(tf.Variable(1.))):
        def __init__(self, value):
            self._init_from_args(value, name="mine")

    assert np.all(Mine([1., 2.]).numpy() == [1., 2.])
