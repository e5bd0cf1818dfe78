"""tf.train.Checkpoint and CheckpointManager of version 2."""
import copy
import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "saved_model"))

import penstock.v1 as v1  # noqa: E402  (first: the process' behaviour stays version 1's)
import penstock as tf  # noqa: E402
from penstock._src.graph import context  # noqa: E402
from penstock._src.ops.state import base  # noqa: E402
from penstock._src.checkpoint import util  # noqa: E402
from tensorflow_files import files  # noqa: E402


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def model(*values):
    made = tf.Module()
    made.v = tf.Variable(list(values) or [0., 0.])
    made.parts = [tf.Variable(0.), {"k": tf.Variable(0.)}]
    return made


def test_what_tensorflow_wrote():
    directory, answers = files()
    directory = directory / "objects"
    latest = tf.train.latest_checkpoint(str(directory))
    assert os.path.basename(latest) == answers["objects"]["latest"]
    made, step = model(), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(made, step=step)
    checkpoint.restore(latest).assert_consumed()
    assert made.v.numpy().tolist() == [1, 2] and made.parts[1]["k"].numpy() == 4 and step.numpy() == 5
    assert checkpoint.save_counter.numpy() == 3
    assert len(tf.train.CheckpointManager(checkpoint, str(directory), 2).checkpoints) == 2


def test_root_has_the_same_file_as_without(tmp_path):
    made = model(1., 2.)
    with_root = tf.train.Checkpoint(made, extra=tf.Variable(3.)).save(tmp_path / "a")
    names = [name for name, _ in tf.train.list_variables(with_root)]
    assert "v/.ATTRIBUTES/VARIABLE_VALUE" in names and "extra/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert not any(name.startswith("root/") for name in names)
    other = model()
    tf.train.Checkpoint(other).restore(with_root).expect_partial()
    assert other.v.numpy().tolist() == [1, 2]
    made.w = tf.Variable(1.)
    with pytest.raises(ValueError, match="already exists"):
        tf.train.Checkpoint(made, w=tf.Variable(2.))
    with pytest.raises(ValueError, match="expecting root"):
        tf.train.Checkpoint(3)


def test_deferred_and_assertions(tmp_path):
    path = tf.train.Checkpoint(model(1., 2.), extra=tf.Variable(7.)).write(tmp_path / "a")
    made = tf.Module()
    status = tf.train.Checkpoint(made).read(path)
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    made.v = tf.Variable([0., 0.])
    assert made.v.numpy().tolist() == [1, 2]  # restored when it was assigned
    made.new = tf.Variable(0.)
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        status.assert_existing_objects_matched()
    status.assert_nontrivial_match().expect_partial()
    with pytest.raises(tf.errors.NotFoundError, match="double-check that the path is correct"):
        tf.train.Checkpoint(made).restore(tmp_path / "b")


def test_values_of_a_saved_model(tmp_path):
    tf.saved_model.save(model(1., 2.), str(tmp_path))
    made = model()
    tf.train.Checkpoint(made).restore(tmp_path).expect_partial()
    assert made.v.numpy().tolist() == [1, 2]


def test_checkpoints_of_a_saver(tmp_path):
    with v1.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("mine", initializer=[1., 2.], use_resource=True)
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(sess, str(tmp_path / "m"))
    made = tf.Module()
    made.v = tf.Variable([0., 0.], name="mine")
    tf.train.Checkpoint(made).read(path).assert_consumed()
    assert made.v.numpy().tolist() == [1, 2]


def test_sharded_and_partitioned_files_of_tensorflow():
    directory, answers = files()
    reader = tf.train.load_checkpoint(str(directory / "sharded" / "model-7"))
    np.testing.assert_array_equal(reader.get_tensor("part"), np.float32(answers["sharded"]["part"]))
    assert reader.get_tensor("b").tolist() == [b"x", b"yz"] and reader.get_tensor("e").shape == (0, 2)
    assert reader.get_tensor("h").astype(np.float32).tolist() == [1.5, 2.5]
    old = tf.train.load_checkpoint(str(directory / "sharded" / "old"))
    assert old.get_tensor("a").tolist() == [[0, 1, 2], [3, 4, 5]]
    with v1.Graph().as_default(), v1.Session() as sess:
        saver = v1.train.import_meta_graph(str(directory / "sharded" / "model-7.meta"), clear_devices=True,
                                           import_scope="in")
        saver.restore(sess, str(directory / "sharded" / "model-7"))
        assert sess.run("in/a:0").tolist() == [[0, 1, 2], [3, 4, 5]]
        np.testing.assert_array_equal(sess.run("in/part/part_1:0"), np.float32(answers["sharded"]["part"])[2:4])


def test_tensors_that_an_object_gives(tmp_path):
    class Pair(base.Trackable):
        def __init__(self, a, b):
            self.values = a, b

        def _serialize_to_tensors(self):
            return {"a": tf.constant(self.values[0]), "b": tf.constant(self.values[1])}

        def _restore_from_tensors(self, restored_tensors):
            self.values = tuple(restored_tensors[name].numpy() for name in "ab")

    path = tf.train.Checkpoint(pair=Pair(1., 2.)).write(tmp_path / "a")
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names[1:] == ["pair/.ATTRIBUTES/a", "pair/.ATTRIBUTES/b"]
    made = Pair(0., 0.)
    tf.train.Checkpoint(pair=made).read(path).assert_consumed()
    assert made.values == (1, 2)


def test_tables(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.)
    table.insert(tf.constant(["a"]), tf.constant([1.]))
    path = tf.train.Checkpoint(t=table).write(tmp_path / "a")
    assert [n for n, _ in tf.train.list_variables(path)][1:] == [
        "t/.ATTRIBUTES/table-keys", "t/.ATTRIBUTES/table-values"]
    other = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.)
    tf.train.Checkpoint(t=other).read(path).assert_consumed()
    assert other.lookup(tf.constant(["a", "b"])).numpy().tolist() == [1, -1]


def test_manager_options(tmp_path):
    step, made, called = tf.Variable(0), model(1., 2.), []
    checkpoint = tf.train.Checkpoint(made, step=step)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2, step_counter=step, checkpoint_interval=3,
                                         init_fn=lambda: called.append(1), checkpoint_name="model")
    assert manager.restore_or_initialize() is None and called == [1]
    paths = []
    for _ in range(10):
        paths.append(manager.save())
        step.assign_add(1)
    assert [os.path.basename(p) for p in paths if p] == ["model-1", "model-2", "model-3", "model-4"]
    assert manager.checkpoints == [p for p in paths if p][2:] and manager.checkpoint_interval == 3
    assert manager.save(check_interval=False) is not None and manager.save(check_interval=False) is None
    assert manager.checkpoint is checkpoint and manager.directory == str(tmp_path)
    made.v.assign([0., 0.])
    again = tf.train.CheckpointManager(checkpoint, tmp_path, 2, checkpoint_name="model")
    assert again.restore_or_initialize() == manager.latest_checkpoint and made.v.numpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 2, checkpoint_interval=3)


def test_writing_beside_the_program(tmp_path):
    made, written = model(1., 2.), []
    checkpoint = tf.train.Checkpoint(made)
    options = tf.train.CheckpointOptions(
        enable_async=True, experimental_write_callbacks=[lambda: written.append(threading.current_thread().name)])
    path = checkpoint.save(tmp_path / "a", options)
    made.v.assign([5., 5.])  # not what is written
    checkpoint.sync()
    assert written == ["checkpoint"] and tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1, 2]
    manager = tf.train.CheckpointManager(checkpoint, tmp_path / "m", 1)
    for _ in range(3):
        manager.save(options=options)
    manager.sync()
    assert len(manager.checkpoints) == 1 and manager.latest_checkpoint.endswith("ckpt-4")
    (tmp_path / "file").write_text("no directory")
    checkpoint.write(tmp_path / "file" / "b", options)
    with pytest.raises((tf.errors.OpError, OSError)):
        checkpoint.sync()
    with pytest.raises(TypeError, match="callable"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[3])


def test_slot_variables_may_be_left_out(tmp_path):
    def train():
        v, optimizer = tf.Variable(1.), v1.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(lambda: v * v)
        return v, optimizer, tf.train.Checkpoint(v=v, optimizer=optimizer)

    v, optimizer, checkpoint = train()
    path = checkpoint.write(tmp_path / "a")
    wanted = optimizer.get_slot(v, "momentum").numpy()
    v, optimizer, checkpoint = train()
    optimizer.get_slot(v, "momentum").assign(9.)
    checkpoint.read(path, tf.train.CheckpointOptions(experimental_skip_slot_variables=True)).assert_consumed()
    assert optimizer.get_slot(v, "momentum").numpy() == 9
    checkpoint.read(path).assert_consumed()
    assert optimizer.get_slot(v, "momentum").numpy() == wanted


def test_slots_are_not_made_within_a_template(tmp_path):
    def train(name):
        template = v1.make_template(name, lambda: v1.get_variable("v", [], use_resource=True))
        return template, v1.train.MomentumOptimizer(0.1, 0.9)

    template, optimizer = train("first")
    v = template()
    optimizer.minimize(lambda: v * v)
    path = tf.train.Checkpoint(template=template, optimizer=optimizer).write(tmp_path / "a")
    wanted = optimizer.get_slot(v, "momentum").numpy()
    template, optimizer = train("second")
    status = tf.train.Checkpoint(template=template, optimizer=optimizer).read(path)
    v = template()
    assert set(template._trackable_children()) == {"v"}
    optimizer.minimize(lambda: 0. * v)
    status.assert_consumed()
    np.testing.assert_allclose(optimizer.get_slot(v, "momentum").numpy(), 0.9 * wanted, rtol=1e-6)


def test_a_root_may_be_referred_to_weakly(tmp_path):
    root = model(1., 2.)
    checkpoint = tf.train.Checkpoint(root=weakref.ref(root), extra=tf.Variable(5.))
    path = checkpoint.save(tmp_path / "a")
    root.v.assign([0., 0.])
    checkpoint.restore(path).assert_consumed()
    assert root.v.numpy().tolist() == [1., 2.]
    alive = weakref.ref(root)
    del root
    gc.collect()
    assert alive() is None
    with pytest.raises(ValueError, match="trackable object .*, got None"):
        tf.train.Checkpoint(root=alive)


def test_views(tmp_path):
    made = model(1., 2.)
    path = tf.train.Checkpoint(made).write(tmp_path / "a")
    view = tf.train.CheckpointView(path)
    assert set(view.children(0)) == {"root", "v", "parts"} and len(view.descendants()) == 6
    other = tf.Module()
    other.v, other.w = tf.Variable([0., 0.]), tf.Variable(0.)
    matched, theirs, ours = view.diff(other)
    assert matched[view.children(0)["v"]] is other.v and len(theirs) == 4 and ours[0] is other.w and len(ours) == 1
    assert [type(x).__name__ for x in tf.train.TrackableView(made).descendants()][0] == "Module"


def test_tuples_have_parts(tmp_path):
    program = """
import collections
import sys
import penstock as tf
module = tf.Module()
module.pair = (tf.Variable(1.), [tf.Variable(2.)], 3)
module.plain = (1, 2)
module.named = collections.namedtuple("Named", "a b")(tf.Variable(3.), tf.Variable(4.))
module.table = {"y": (tf.Variable(5.), 6), "z": (7, 8)}
assert type(module.named).__name__ == "Named" and module.table["z"] == (7, 8)
assert isinstance(module.pair, tuple) and module.pair[2] == 3 and len(module.pair) == 3 and type(module.plain) is tuple
path = tf.train.Checkpoint(module).write(sys.argv[1])
names = [name for name, _ in tf.train.list_variables(path)]
assert [name.split("/.")[0] for name in names[1:]] == ["named/a", "named/b", "pair/0", "pair/1/0", "table/y/0"], names
for part in (module.table, tf.Module(), [1]):
    module.part = part
    try:
        assert isinstance(hash(module.part), int) and type(part) is tf.Module
    except TypeError as e:
        assert str(e) == {list: "unhashable type: 'ListWrapper'"}.get(type(part), "unhashable type: 'DictWrapper'"), e
module.pair[0].assign(9.)
module.named.b.assign(9.)
module.table["y"][0].assign(9.)
tf.train.Checkpoint(module).read(path).assert_consumed()
assert module.pair[0].numpy() == 1 and len(module.trainable_variables) == 5
assert module.named.b.numpy() == 4 and module.table["y"][0].numpy() == 5
whole = tf.train.Checkpoint(l=[tf.Variable(1.)], d={"a": tf.Variable(2.)}, t=(tf.Variable(3.),), f=tf.function(abs))
names = [name.split("/.")[0] for name, _ in tf.train.list_variables(whole.save(sys.argv[1] + "w"))]
assert names == ["_CHECKPOINTABLE_OBJECT_GRAPH", "d/a", "l/0", "save_counter", "t/0"], names
try:
    tf.train.Checkpoint(n=3)
except ValueError as e:
    assert "expecting a trackable object" in str(e)
else:
    raise AssertionError
tf.saved_model.save(module, sys.argv[1] + "m")
assert tf.saved_model.load(sys.argv[1] + "m").pair[1][0].numpy() == 2
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_write_in_a_function(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.))

    @tf.function
    def write():
        return checkpoint.write(str(tmp_path / "a"))

    assert write().numpy().decode() == str(tmp_path / "a")
    checkpoint.v.assign(3.)
    write()  # not the values of the trace
    other = tf.train.Checkpoint(v=tf.Variable(0.))
    other.read(str(tmp_path / "a")).assert_consumed()
    assert other.v.numpy() == 3


def test_what_has_no_values_is_not_waited_for(tmp_path):
    root = tf.Module()
    root.empty, root.full = tf.Module(), tf.Module()
    root.full.v = tf.Variable(1.)
    root.list = []
    path = tf.train.Checkpoint(root).write(str(tmp_path / "c"))
    nodes = util.object_metadata(path).nodes
    has = {child.local_name: nodes[child.node_id].has_checkpoint_values.value for child in nodes[0].children}
    assert (has["empty"], has["full"], has["list"]) == (False, True, False)
    other = tf.Module()
    other.more = [tf.Module()]  # nothing is missing here either
    status = tf.train.Checkpoint(other).read(path)
    assert set(other._deferred_dependencies) == {"full"}
    other.full = tf.Module()
    other.full.v = tf.Variable(0.)
    assert other.full.v.numpy() == 1
    status.assert_consumed()


def test_a_copy_saves_its_own_values(tmp_path):
    v = tf.Variable(1.)
    checkpoint = tf.train.Checkpoint(v=v)
    copied = copy.deepcopy(checkpoint)
    copied.v.assign(2.)
    assert v.numpy() == 1
    checkpoint.restore(copied.save(str(tmp_path / "c"))).assert_consumed()
    assert v.numpy() == 2


@pytest.mark.parametrize("kind", [tf.train.Checkpoint, v1.train.Checkpoint])
def test_callbacks_of_options(tmp_path, kind):
    called = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[called.append, lambda: called.append("done")])
    other = copy.copy(options)
    other.experimental_write_callbacks.append(called.append)
    path = kind(v=tf.Variable(1.)).write(str(tmp_path / "c"), options=options)
    assert called == [path, "done"] and len(options.experimental_write_callbacks) == 2
    with pytest.raises(AssertionError, match="callback"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path, more: None])


def test_a_path_that_is_a_tensor(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(3.))
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    written = tf.function(checkpoint.write)(tf.constant(paths[0]))
    assert written.numpy().decode() == paths[0] and checkpoint.write(tf.constant(paths[1])) == paths[1]
    for path in paths:
        assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == 3


def test_a_value_of_another_shape_is_refused(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1., 1.])).write(str(tmp_path / "c"))
    with pytest.raises(ValueError, match=r"incompatible tensor with shape \(2,\) .* variable with shape \(1,\)"):
        tf.train.Checkpoint(v=tf.Variable([1.])).restore(path)
