"""Sessions that tf.test.TestCase makes."""
import os
import subprocess
import sys

import pytest

import penstock.v1 as tf
from penstock._src.base.mode import mode


class Case(tf.test.TestCase):
    def runTest(self):  # noqa: N802
        """Its sessions are used from outside."""


@pytest.mark.parametrize("kind", ["session", "cached_session", "test_session"])
def test_devices_that_are_not_there_are_replaced(kind):
    case = Case()
    with tf.Graph().as_default() as graph, tf.device("/gpu:0"):
        x = tf.constant(3)
        with getattr(case, kind)(graph=graph) as session:
            assert session.run(x) == 3
        case._clear_cached_session()
        for options in (dict(force_gpu=True), dict(config=tf.ConfigProto())):
            with getattr(case, kind)(graph=graph, **options) as session:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
                    session.run(x)
            case._clear_cached_session()


def test_folders_are_there_until_the_process_ends(tmp_path):
    test = tmp_path / "folders_test.py"
    test.write_text("""
import os
import penstock.v1 as tf

class Case(tf.test.TestCase):
    def test_a(self):
        os.chdir(self.get_temp_dir())

    def test_b(self):
        assert os.path.isdir(os.getcwd()) and self.get_temp_dir() != os.getcwd()
        print(self.get_temp_dir())

tf.test.main()
""")
    done = subprocess.run([sys.executable, str(test)], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not os.path.exists(done.stdout.strip())


@pytest.mark.parametrize("kind", ["session", "cached_session", "test_session"])
@pytest.mark.parametrize("version, use_gpu, device", [
    (1, None, "/device:CPU:0"), (1, True, ""), (2, None, ""), (2, True, ""), (2, False, "/device:CPU:0")])
def test_sessions_without_gpu_put_operations_on_the_cpu(monkeypatch, kind, version, use_gpu, device):
    monkeypatch.setattr(mode, "v2_behavior", version == 2)
    options = {} if use_gpu is None else {"use_gpu": use_gpu}
    with tf.Graph().as_default() as graph, getattr(Case(), kind)(graph=graph, **options):
        assert tf.constant(3).device == device
        with tf.device("/device:CPU:1"):
            assert tf.constant(3).device == "/device:CPU:1"
