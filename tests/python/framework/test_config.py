"""tf.config."""
import inspect
import os
import subprocess
import sys
import textwrap

import pytest

import penstock
import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.graph import config
from penstock._src.base import tf2

NUM_CORES = len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def untouched():
    soft = config.get_soft_device_placement()
    yield
    config.set_soft_device_placement(soft)  # which eager execution knows too
    config._config = None


def test_devices():
    assert [d.device_type for d in tf.config.list_logical_devices("CPU")] == ["CPU"]
    assert [d.name for d in tf.config.experimental.list_physical_devices("CPU")] == ["/physical_device:CPU:0"]
    assert tf.config.list_logical_devices("NONE") == []
    assert [d.name for d in tf.config.list_logical_devices()] == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    assert [d.name for d in config.list_logical_devices_v2()] == ["/device:CPU:0"]


def test_sessions_without_a_config_follow_it():
    with tf.Graph().as_default():
        with tf.device("/device:NONE:0"):
            x = tf.constant(1.0) + 2.0
        tf.config.set_soft_device_placement(True)
        assert tf.config.get_soft_device_placement()
        with tf.Session() as session:
            assert session.run(x) == 3.0
        tf.config.set_soft_device_placement(False)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(x)


def test_memory_and_details():
    experimental = penstock.config.experimental
    assert experimental.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    assert experimental.get_memory_usage("/device:CPU:0") == 0 and experimental.reset_memory_stats("CPU:0") is None
    for name, message in (("CPU", "Failed parsing device name"), ("GPU:0", "No matching devices found for 'GPU:0'")):
        with pytest.raises(ValueError, match=message):
            experimental.get_memory_info(name)
    assert experimental.get_device_details(penstock.config.list_physical_devices()[0]) == {}
    with pytest.raises(ValueError, match="must be a tf.config.PhysicalDevice"):
        experimental.get_device_details(3)


def test_what_changes_nothing_here_is_remembered():
    experimental = penstock.config.experimental
    experimental.set_device_policy("warn")
    assert experimental.get_device_policy() == "warn"
    assert context.context().device_policy == context.DEVICE_PLACEMENT_WARN
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="device_policy"):
        experimental.set_device_policy("loud")
    penstock.debugging.set_log_device_placement(False)
    assert not penstock.debugging.get_log_device_placement() and not context.context().log_device_placement
    with penstock.experimental.async_scope(), context.execution_mode(context.ASYNC):
        assert context.context().execution_mode == context.ASYNC
        assert not experimental.get_synchronous_execution()
    assert context.context().execution_mode == context.SYNC and context.context().soft_device_placement


def test_threads():
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.config.threading.set_inter_op_parallelism_threads(3)
    with tf.Session() as session:
        assert (session._config.intra_op_parallelism_threads, session._config.inter_op_parallelism_threads) == (2, 3)
    tf.config.threading.set_intra_op_parallelism_threads(0)
    tf.config.threading.set_inter_op_parallelism_threads(0)


@pytest.mark.parametrize("variable, call, workers", [
    ("", "", NUM_CORES - 1), ("1", "", 0), ("3", "", 2), ("", "(3)", 2), ("3", "(1)", 0)])
def test_eager_ops_use_as_many_threads_as_they_are_given(variable, call, workers):
    """From the environment, or from a call that comes before; threads are seen by their names."""
    script = textwrap.dedent(f"""
        import pathlib
        import penstock.v2 as tf
        if {call!r}:
            tf.config.threading.set_intra_op_parallelism_threads{call or "(0)"}
        x = tf.ones([1000, 1000])
        for _ in range(3):
            tf.tanh(x) + x
        names = [task.read_text().strip() for task in pathlib.Path("/proc/self/task").glob("*/comm")]
        print(names.count("eager_intra_op"))
    """)
    environment = {**os.environ, "TF_NUM_INTRAOP_THREADS": variable}
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert result.stdout.strip() == str(workers), result.stderr


def test_the_older_name_has_the_older_argument():
    arguments = inspect.signature(tf.config.experimental.set_virtual_device_configuration).parameters
    assert list(arguments) == ["device", "virtual_devices"]


def test_version_one_lists_names_of_devices():
    import penstock.v1 as v1
    assert v1.config.experimental_list_devices()[0] == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert v1.keras.__version__ == "2.2.4-tf"


def test_choices_of_the_optimizer_are_remembered_as_tensorflow_does(monkeypatch):
    monkeypatch.setattr(config, "_options", dict(config._options))
    monkeypatch.setattr(config, "_jit", False)
    choices = penstock.config.optimizer
    assert choices.get_experimental_options() == {"disable_model_pruning": False, "disable_meta_optimizer": False}
    choices.set_experimental_options({"constant_folding": 3, "unheard": True})
    assert choices.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False, "constant_folding": True}
    choices.set_jit("autoclustering")
    assert choices.get_jit() is True
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert choices.get_jit() == "autoclustering"
    choices.set_jit(False)
    assert choices.get_jit() == ""


def test_one_visible_device_needs_no_list(monkeypatch):
    monkeypatch.setattr(config, "_visible", None)
    cpu, = penstock.config.list_physical_devices("CPU")
    penstock.config.set_visible_devices(cpu, "CPU")
    assert penstock.config.get_visible_devices() == [cpu]
    for wrong in ("CPU", [config.PhysicalDevice("no", "CPU")]):
        with pytest.raises(ValueError, match="Unrecognized device"):
            penstock.config.set_visible_devices(wrong)
