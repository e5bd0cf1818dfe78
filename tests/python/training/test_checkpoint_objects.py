"""tf.train.Checkpoint: what is saved along attributes is restored, also into objects that are made later."""
import copy
import gc
import os

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.ops.state import base
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import python_state
from penstock._src.ops.state import tracking
from penstock._src.checkpoint import util


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def variable(value):
    return tf.Variable(value, use_resource=True)


def test_graph_with_an_optimizer(tmp_path):
    v = variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v, optimizer=tf.train.AdamOptimizer(0.1))
    step = checkpoint.optimizer.minimize(tf.reduce_sum(v * v))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        path = checkpoint.save(str(tmp_path / "ck"))
        saved = sess.run([v] + checkpoint.optimizer.variables())
        nodes = len(tf.get_default_graph().get_operations())
        sess.run(step)
        assert checkpoint.save(str(tmp_path / "ck")) == str(tmp_path / "ck-2")
        assert len(tf.get_default_graph().get_operations()) == nodes
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        for now, before in zip(sess.run([v] + checkpoint.optimizer.variables()), saved):
            np.testing.assert_array_equal(now, before)
    # Keys as TensorFlow's, so that it reads the file.
    assert [name for name, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH", "optimizer/beta1_power/.ATTRIBUTES/VARIABLE_VALUE",
        "optimizer/beta2_power/.ATTRIBUTES/VARIABLE_VALUE", "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.ATTRIBUTES/VARIABLE_VALUE", "v/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE"]
    # A Saver reads it by the variables' names.
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("Variable", [2], use_resource=True)
        tf.train.Saver([w]).restore(sess, path)
        np.testing.assert_array_equal(sess.run(w), saved[0])


def test_objects_that_come_later_are_restored(tmp_path):
    with context.eager_mode():
        path = tf.train.Checkpoint(a=variable(3.0), l=data_structures.List([variable(4.0)])).save(str(tmp_path / "ck"))
        checkpoint = tf.train.Checkpoint()
        status = checkpoint.restore(path)
        with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
            status.assert_consumed()
        checkpoint.a = variable(0.0)
        assert checkpoint.a.numpy() == 3
        checkpoint.l = data_structures.List()
        checkpoint.l.append(variable(0.0))
        assert checkpoint.l[0].numpy() == 4
        status.assert_consumed().assert_nontrivial_match()
        assert checkpoint.save_counter.numpy() == 1
        checkpoint.b = variable(1.0)
        with pytest.raises(AssertionError, match="not bound to checkpointed values"):
            status.assert_existing_objects_matched()


def test_name_based_checkpoints(tmp_path):
    with tf.Session() as sess:
        v = tf.get_variable("v", initializer=5.0, use_resource=True)
        sess.run(v.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        sess.run(v.assign(0.0))
        tf.train.Checkpoint(anything=v).restore(path).run_restore_ops()
        assert sess.run(v) == 5


def test_python_state(tmp_path):
    class State(python_state.PythonState):
        value = "one"

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value.decode()

    for mode in context.graph_mode, context.eager_mode:
        with mode():
            state = State()
            checkpoint = tf.train.Checkpoint(state=state)
            with tf.Session() if mode is context.graph_mode else context.eager_mode():
                path = checkpoint.save(str(tmp_path / "ck"))
                state.value = "two"
                checkpoint.restore(path).assert_consumed()
            assert state.value == "one"


def test_names_are_unique():
    a, b = tracking.AutoTrackable(), tracking.AutoTrackable()
    a._track_trackable(b, "x")
    with pytest.raises(ValueError, match="already declared as a dependency"):
        a._track_trackable(tracking.AutoTrackable(), "x")
    with pytest.raises(TypeError, match="not a Trackable"):
        a._track_trackable(3, "y")
    a.x = c = tracking.AutoTrackable()
    assert a._checkpoint_dependencies == [base.TrackableReference("x", c)]
    del a.x
    assert a._checkpoint_dependencies == []


def test_lists_and_dictionaries_are_wrapped():
    root = tracking.AutoTrackable()
    root.l = [variable(1.0), 3]
    root.d = {"k": variable(2.0), "n": 1}
    root.none = data_structures.NoDependency([variable(1.0)])
    assert root.l == [root.l[0], 3] and isinstance(root.l, list) and isinstance(root.d, dict)
    assert [type(o) for o in util.list_objects(root)].count(type(root.l[0])) == 2
    root.l.append(variable(3.0))
    assert len(util.list_objects(root)) == 6
    root.l[0] = variable(0.0)
    with pytest.raises(ValueError, match="list element was replaced"):
        util.list_objects(root)
    root.l = []
    root.d["k"] = variable(0.0)
    with pytest.raises(ValueError, match="dictionary"):
        util.list_objects(root)


def test_a_checkpoint_does_not_keep_objects_alive(tmp_path):
    import weakref
    with context.eager_mode():
        checkpoint = tf.train.Checkpoint(v=variable(1.0))
        checkpoint.restore(checkpoint.save(str(tmp_path / "ck"))).assert_consumed()
        gone = weakref.ref(checkpoint)
        del checkpoint
        gc.collect()
        assert gone() is None


def test_manager_keeps_the_newest(tmp_path):
    with tf.Session():
        v = variable(1.0)
        checkpoint = tf.train.Checkpoint(v=v)
        v.initializer.run()
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        for _ in range(4):
            manager.save()
        assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
        assert tf.train.latest_checkpoint(str(tmp_path)) == manager.latest_checkpoint
    assert sorted({name.partition(".")[0] for name in os.listdir(tmp_path)}) == ["checkpoint", "ckpt-3", "ckpt-4"]


def test_the_dict_of_an_attribute_is_the_one_that_was_assigned(tmp_path):
    root, shared = tf.Module(), {"a": 1, "b": [1, 2]}
    root.d = shared
    shared["c"], root.d["e"] = 3, 4
    assert root.d == shared == {"a": 1, "b": [1, 2], "c": 3, "e": 4} == {**root.d} and str(root.d) == str(shared)
    assert root.d.pop("a") == 1 and root.d.get("a") is None and "a" not in shared and len(root.d) == 3
    root.d.clear()
    assert not shared and not root.d


def test_a_dict_changed_by_others_cannot_be_saved():
    root, shared = tf.Module(), {"a": [1.0]}
    root.d = shared
    util.list_objects(root.d)
    copied = copy.copy(root.d)
    shared["b"] = []
    for dirty in (root.d, copy.copy(root.d), copy.deepcopy(root.d)):
        with pytest.raises(ValueError, match="modified outside the wrapper"):
            util.list_objects(dirty)
    assert util.list_objects(copied) and "b" not in copied


def test_lists_of_other_things_may_be_changed_in_version_two(monkeypatch):
    monkeypatch.setattr(data_structures.mode, "tensor_shape_v2", True)
    root = tf.train.Checkpoint()
    root.names = ["a", "b"]
    del root.names[0]
    root.names.insert(0, "c")
    root.names.sort()
    root.names[0] = "d"
    root.names.clear()
    root.names.append(variable(1.0))
    assert [name for name, _ in root.names._checkpoint_dependencies] == ["0"]
    root.mixed = ["a", 1]
    root.mixed[1] = variable(2.0)
    assert [name for name, _ in root.mixed._checkpoint_dependencies] == ["1"]
    root.mixed[1] = "b"
    with pytest.raises(ValueError, match="A list element was replaced"):
        root.mixed._checkpoint_dependencies


def test_lists_of_other_things_that_were_changed_in_version_one():
    for change in (lambda v: v.pop(), lambda v: v.sort(), lambda v: v.insert(0, 9), lambda v: v.__delitem__(0)):
        root = tf.Module()
        root.numbers = [1, 2, 3]
        change(root.numbers)
        with pytest.raises(ValueError, match="__delitem__"):
            util.list_objects(root)


def test_a_description_of_objects_that_is_no_string_is_damage(tmp_path):
    prefix = str(tmp_path / "m")
    with tf.Session() as sess:
        sess.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[base.OBJECT_GRAPH_PROTO_KEY], shape_and_slices=[""],
                                   tensors=[[1, 2]]))
    for read in (tf.train.Checkpoint().restore, util.object_metadata):
        with pytest.raises(tf.errors.DataLossError, match="is no string but of type int32"):
            read(prefix)
