"""tf.test."""
import os
import sys
import tempfile
import unittest
from unittest import mock  # noqa: F401

from penstock.framework.test_util import (  # noqa: F401
    TensorFlowTestCase as TestCase, assert_equal_graph_def, gpu_device_name, is_gpu_available)


def main(argv=None):
    """Runs the tests of the calling script."""
    from penstock.platform import flags
    rest = flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
    unittest.main(module="__main__", argv=rest)


def get_temp_dir():
    """A folder for files of tests."""
    return os.environ.get("TEST_TMPDIR") or tempfile.gettempdir()


def test_src_dir_path(relative_path):
    """A path from the folder of test sources."""
    return os.path.join(os.environ.get("TEST_SRCDIR", ""), "org_tensorflow/tensorflow", relative_path)


def is_built_with_cuda():
    """Whether this build knows CUDA."""
    from penstock import _core
    return any(d.device_type == "GPU" for d in _core.list_local_devices())


def is_built_with_rocm():
    """Whether this build knows ROCm: no."""
    return False


def is_built_with_gpu_support():
    """Whether this build knows GPUs."""
    return is_built_with_cuda()


class Benchmark:
    """Base class of benchmarks: methods named benchmark* report times."""

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None):
        """Prints a result."""
        print({k: v for k, v in locals().items() if k != "self" and v is not None})


def compute_gradient(*args, **kwargs):
    """The theoretical and the numeric Jacobian."""
    from penstock.ops import gradient_checker
    return gradient_checker.compute_gradient(*args, **kwargs)


def compute_gradient_error(*args, **kwargs):
    """The largest difference between the theoretical and the numeric Jacobian."""
    from penstock.ops import gradient_checker
    return gradient_checker.compute_gradient_error(*args, **kwargs)


class StubOutForTesting:
    """Replaces attributes and puts them back."""

    def __init__(self):
        self._replaced = []

    def Set(self, parent, child_name, new_child):  # noqa: N802
        """Replaces an attribute."""
        self._replaced.append((parent, child_name, parent.__dict__.get(child_name, getattr(parent, child_name, None))))
        setattr(parent, child_name, new_child)

    SmartSet = Set

    def UnsetAll(self):  # noqa: N802
        """Puts everything back."""
        for parent, name, value in reversed(self._replaced):
            setattr(parent, name, value)
        self._replaced = []

    SmartUnsetAll = CleanUp = UnsetAll
