"""tfdbg: dumps in TensorFlow's layout, and the debugger at a prompt."""
import os
import subprocess
import sys

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src import debug as tf_debug
from penstock._src.debug.lib import debug_data, debug_utils
from penstock.proto import config_pb2


@pytest.fixture
def program():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        v = tf.Variable([1.0, 2.0], name="v")
        y = tf.divide(x, v - 1, name="y")
        z = tf.add(y, 1.0, name="z")
        sess.run(v.initializer)
        yield sess, x, z


def dump_of(root):
    run, = os.listdir(root)
    return tf_debug.DebugDumpDir(os.path.join(root, run))


def test_dumping_session(program, tmp_path):
    sess, x, z = program
    wrapped = tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path))
    assert wrapped.run(z, {x: [1, 2]}).tolist() == [np.inf, 3]
    dump = dump_of(str(tmp_path))
    device, = dump.devices()
    assert device == "/job:localhost/replica:0/task:0/device:CPU:0"
    folder, = [n for n in os.listdir(tmp_path / os.listdir(tmp_path)[0]) if n.startswith("_tfdbg_device")]
    assert folder == "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    assert dump.core_metadata.input_names == ["x:0"] and dump.core_metadata.output_names == ["z:0"]
    assert dump.get_tensors("v/read", 0, "DebugIdentity")[0].tolist() == [1, 2]
    assert [d.node_name for d in dump.find(tf_debug.has_inf_or_nan)] == ["y", "z"]
    assert [d.node_name for d in dump.find(tf_debug.has_inf_or_nan, first_n=1)] == ["y"]
    assert [d.node_name for d in dump.find(tf_debug.has_inf_or_nan, exclude_node_names="y")] == ["z"]
    assert dump.node_op_type("z") == "Add" and dump.node_inputs("z") == ["y", "z/y"]
    assert dump.node_recipients("y") == ["z"] and "v" in dump.transitive_inputs("z")
    assert dump.debug_watch_keys("z") == ["z:0:DebugIdentity"]
    assert dump.dumped_tensor_data[0].timestamp == dump.t0
    with pytest.raises(debug_data.WatchKeyDoesNotExistInDebugDumpDirError):
        dump.get_tensors("none", 0, "DebugIdentity")
    with pytest.raises(ValueError, match="has a node named 'none'"):
        dump.node_op_type("none")
    dump.set_python_graph(sess.graph)
    assert any("test_debugger" in frame[0] for frame in dump.node_traceback("z"))
    with pytest.raises(ValueError, match="non-empty directory"):
        tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path))


def test_watches(program, tmp_path):
    sess, x, z = program

    def watch(fetches, feeds):
        assert fetches is z and list(feeds) == [x]
        return tf_debug.WatchOptions(debug_ops=["DebugNumericSummary(lower_bound=-5)", "DebugNanCount"],
                                     node_name_regex_whitelist="y|z$")

    tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path), watch_fn=watch).run(z, {x: [1, 2]})
    dump = dump_of(str(tmp_path))
    assert {d.node_name for d in dump.dumped_tensor_data} == {"y", "z"}
    assert dump.get_tensors("z", 0, "DebugNanCount")[0].tolist() == [0]
    summary, = dump.get_tensors("z", 0, "DebugNumericSummary")
    # initialised, 2 elements, 1 positive, 1 +Inf; least, greatest, mean, variance; float32, rank 1, 2
    np.testing.assert_array_equal(summary, [1, 2, 0, 0, 0, 0, 1, 1, 3, 3, 3, 0, 1, 1, 2])


def test_bad_watches(program, tmp_path):
    sess, _, z = program
    url = "file://" + str(tmp_path)
    for op, phrase in (("DebugWhat", "no debug op"), ("DebugIdentity(a=1)", "not valid"),
                       ("DebugNumericSummary(mute_if_healthy=perhaps)", "Invalid value string for bool-type")):
        options = config_pb2.RunOptions()
        debug_utils.add_debug_tensor_watch(options, "z", 0, op, url)
        with pytest.raises(tf.errors.FailedPreconditionError, match=phrase):
            sess.run(z, {"x:0": [1, 2]}, options=options)
    for node, slot in (("z", -1), ("*", 0)):
        options = config_pb2.RunOptions()
        debug_utils.add_debug_tensor_watch(options, node, slot, "DebugIdentity", url)
        with pytest.raises(tf.errors.FailedPreconditionError, match="output_slot"):
            sess.run(z, {"x:0": [1, 2]}, options=options)
    options = config_pb2.RunOptions()
    debug_utils.add_debug_tensor_watch(options, "z", 0, "DebugIdentity", "grpc://localhost:1")
    with pytest.raises(tf.errors.UnimplementedError, match="debug URLs"):
        sess.run(z, {"x:0": [1, 2]}, options=options)


def test_loops_and_uninitialized_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="loop")
        v = tf.Variable(1.0, name="v")
        wrapped = tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path))
        assert wrapped.run([loop, tf.is_variable_initialized(v)]) == [3, False]
    dump = dump_of(str(tmp_path))
    assert [int(t) for t in dump.get_tensors("loop/add", 0, "DebugIdentity")] == [1, 2, 3]


def test_what_no_watch_names_is_watched_by_the_wildcard(program, tmp_path):
    sess, x, z = program
    options = config_pb2.RunOptions()
    url = "file://" + str(tmp_path)
    debug_utils.add_debug_tensor_watch(options, "z", 0, "DebugNanCount", url)
    debug_utils.add_debug_tensor_watch(options, "*", -1, "DebugIdentity", url)
    sess.run(z, {x: [1, 2]}, options=options)
    keys = {d.watch_key for d in tf_debug.DebugDumpDir(str(tmp_path)).dumped_tensor_data}
    assert {"z:0:DebugNanCount", "y:0:DebugIdentity", "v:0:DebugIdentity"} <= keys
    assert "z:0:DebugIdentity" not in keys


def test_types_without_the_op_are_left_out_if_that_is_tolerated(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        text = tf.constant("3", name="text")
        number = tf.add(tf.string_to_number(text), 1.0, name="number")
        options = config_pb2.RunOptions()
        debug_utils.watch_graph(options, sess.graph, "DebugNumericSummary", "file://" + str(tmp_path / "a"))
        with pytest.raises(tf.errors.FailedPreconditionError, match="Failed to create debug node"):
            sess.run(number, options=options)
        options = config_pb2.RunOptions()
        debug_utils.watch_graph(options, sess.graph, "DebugNumericSummary", "file://" + str(tmp_path / "b"),
                                tolerate_debug_op_creation_failures=True)
        assert sess.run(number, options=options) == 4
    names = {d.node_name for d in tf_debug.DebugDumpDir(str(tmp_path / "b")).dumped_tensor_data}
    assert "number" in names and "text" not in names


def test_dumps_stop_at_the_limit(tmp_path):
    """Values of 4 bytes: two stay below 10 bytes, the third reaches them (TensorFlow 1.15.5)."""
    program = """
import penstock.v1 as tf
from penstock._src.debug.lib import debug_utils
from penstock.proto import config_pb2
delta = tf.constant(1.0, name="delta") + 0.0
def run(reset=False):
    options = config_pb2.RunOptions()
    debug_utils.watch_graph(options, sess.graph, debug_urls="file://%s", node_name_regex_whitelist="add$",
                            reset_disk_byte_usage=reset)
    return sess.run(delta, options=options)
with tf.Session() as sess:
    print(run(), run())
    try:
        run()
    except tf.errors.ResourceExhaustedError as e:
        print(e.message)
    print(run(reset=True))
""" % tmp_path
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                           env=dict(os.environ, TFDBG_DISK_BYTES_LIMIT="10")).stdout.splitlines()
    assert shown[0] == "1.0 1.0" and shown[-1] == "1.0"
    assert ("exhausted file-system byte-size allowance (10), therefore it cannot dump an additional 4 byte(s)"
            in shown[1])


def scripted(monkeypatch, text):
    monkeypatch.setattr("builtins.input", lambda prompt, lines=iter(text.splitlines()): next(lines))


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def test_prompt(program, monkeypatch, capsys):
    sess, x, z = program
    scripted(monkeypatch, "run -f has_inf_or_nan\nlt -s op_type\npt z:0\npt z:0[1:]\npt z:0 -s\nni -a -d -t y\n"
             "li -r -t z\nlo y\neval 'np.max(`v/read:0`) + 1'\npf x:0\nbogus\npt none\nlt -f none\nrun -n\n")
    wrapped = tf_debug.LocalCLIDebugWrapperSession(sess, ui_type="readline")
    assert wrapped.run(z, {x: [2, 2]}).tolist() == [np.inf, 3]
    assert wrapped.run(z, {x: [2, 4]}).tolist() == [np.inf, 5]
    shown = capsys.readouterr().out
    for phrase in ("run-start: run #1: 1 fetch (z:0); 1 feed (x:0)",
                   '2 dumped tensor(s) passing filter "has_inf_or_nan"',
                   "RealDiv ", "array([inf,  3.], dtype=float32)", "Numeric summary:", "+inf | total |",
                   "Op: RealDiv", "Slot 0 @ DebugIdentity", "test_debugger.py", "|- (1) [RealDiv] y",
                   'Recipients of node "y"', "np.float32(3.0)", "x:0 (feed)",
                   'ERROR: Invalid command prefix "bogus"', 'Node "none" does not exist',
                   'no tensor filter named "none"'):
        assert phrase in shown, phrase


def test_filter_runs_until_it_finds(program, monkeypatch, capsys):
    sess, x, z = program
    scripted(monkeypatch, "r -f big\nexit\n")
    wrapped = tf_debug.LocalCLIDebugWrapperSession(sess)
    wrapped.add_tensor_filter("big", lambda datum, value: datum.node_name == "z" and value[1] > 10)
    wrapped.run(z, {x: [0, 1]})
    wrapped.run(z, {x: [0, 2]})
    with pytest.raises(SystemExit):
        wrapped.run(z, {x: [0, 30]})
        wrapped.run(z, {x: [0, 30]})
    assert "run-end: run #3" in capsys.readouterr().out


def test_errors_are_shown(program, monkeypatch, capsys):
    sess, _, z = program
    scripted(monkeypatch, "run\nrun -n\n")
    failed = tf_debug.LocalCLIDebugWrapperSession(sess).run(z)  # handed back, as in 1.15.5
    assert isinstance(failed, tf.errors.InvalidArgumentError)
    assert "An error occurred during the run" in capsys.readouterr().out


def test_hooks(tmp_path, monkeypatch, capsys):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1, name="train")
        scripted(monkeypatch, "run\npt train:0\nrun -n -t 9\n")
        hooks = [tf_debug.DumpingDebugHook(str(tmp_path / "dumps")), tf.train.StopAtStepHook(num_steps=2)]
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            while not sess.should_stop():
                sess.run(train)
    assert len(os.listdir(tmp_path / "dumps")) >= 2
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1, name="train")
        hooks = [tf_debug.LocalCLIDebugHook(), tf.train.StopAtStepHook(num_steps=2)]
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            while not sess.should_stop():
                sess.run(train)
    assert 'Tensor "train:0:DebugIdentity"' in capsys.readouterr().out


def test_watches_as_tuples(program, tmp_path):
    sess, x, z = program
    tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path), watch_fn=lambda fetches, feeds: (
        "DebugNanCount", "y|z$")).run(z, {x: [1, 2]})
    dumped = dump_of(str(tmp_path)).dumped_tensor_data
    assert {(d.node_name, d.debug_op) for d in dumped} == {("y", "DebugNanCount"), ("z", "DebugNanCount")}


def test_runs_are_noted_even_if_nothing_is_dumped(program, tmp_path):
    sess, x, z = program
    wrapped = tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path), watch_fn=lambda fetches, feeds: (
        "DebugIdentity", r"$^", r"$^"))
    wrapped.run(z, {x: [1, 2]})
    run, = os.listdir(tmp_path)
    assert run.startswith("run_") and run.count("_") == 2
    dump = dump_of(str(tmp_path))
    assert dump.size == 0 and dump.run_fetches_info == repr(z)
    assert dump.run_feed_keys_info == repr({x: 0}.keys())


def test_values_of_records_hold_no_infinity():
    values = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])
    assert not tf_debug.has_inf_or_nan(None, values) and not tf_debug.has_inf_or_nan(None, np.array([{}, None]))
    assert tf_debug.has_inf_or_nan(None, np.float32([1, np.inf]))


def test_variables_are_dumped_before_they_change(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=10.0)
        increment = tf.assign_add(v, 1.0, name="increment")
        sess.run(v.initializer)
        tf_debug.DumpingDebugWrapperSession(sess, str(tmp_path), log_usage=False).run(increment)
        dump = dump_of(str(tmp_path))
        assert dump.get_tensors("v", 0, "DebugIdentity") == [10.0]
        assert dump.get_tensors("increment", 0, "DebugIdentity") == [11.0]
