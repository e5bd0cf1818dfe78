"""tf.test."""
import functools
import os
import sys
import unittest
from unittest import mock  # noqa: F401

from penstock._src.testing.test_util import (  # noqa: F401
    TensorFlowTestCase as TestCase, assert_equal_graph_def, assert_equal_graph_def_v2, get_temp_dir, gpu_device_name,
    is_gpu_available)
from penstock._src.testing.benchmark import Benchmark  # noqa: F401


def main(argv=None):
    """Runs the tests of the calling script."""
    from penstock._src.files import flags
    rest = flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
    unittest.main(module="__main__", argv=rest)


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


def is_built_with_xla():
    """Whether this build has XLA."""
    return False


def is_cpu_target_available(target):
    """Whether code is made for this kind of processor (of those that a compiler would be asked for)."""
    return target in ("x86_64", "aarch64") and target == os.uname().machine


def disable_with_predicate(pred, skip_message):
    """Decorator of a test that is skipped, with the message, where `pred()` is true when it is called."""
    def decorate(method):
        @functools.wraps(method)
        def maybe(self, *args, **kwargs):
            return self.skipTest(skip_message) if pred() else method(self, *args, **kwargs)
        return maybe
    return decorate


def with_eager_op_as_function(cls=None, only_as_function=False):
    """Decorator of tests, which stay as they are: eager ops run in one way only."""
    return cls if cls is not None else with_eager_op_as_function


def benchmark_config():
    """The ConfigProto of benchmarks: nothing is rewritten that an experiment would switch on."""
    from penstock.proto import config_pb2, rewriter_config_pb2
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return config


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """(servers of workers, servers of parameters) of one cluster, all in this process."""
    import socket
    from penstock._src.session import server_lib
    ports = []
    for _ in range(num_workers + num_ps):
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            ports.append(probe.getsockname()[1])
    addresses = [f"localhost:{port}" for port in ports]
    cluster = server_lib.ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})

    def servers(job, count, config):
        return [server_lib.Server(cluster, job_name=job, task_index=i, protocol=protocol, config=config, start=True)
                for i in range(count)]

    return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=0.001, init_targets=None, extra_feed_dict=None):
    """The theoretical and the numeric Jacobian."""
    from penstock._src.parallel_for import gradient_checker
    return gradient_checker.compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=0.001, init_targets=None,
                           extra_feed_dict=None):
    """The largest difference between the theoretical and the numeric Jacobian."""
    from penstock._src.parallel_for import gradient_checker
    return gradient_checker.compute_gradient_error(x, x_shape, y, y_shape, x_init_value, delta, init_targets,
                                                   extra_feed_dict)


class StubOutForTesting:
    """Replaces attributes and puts them back."""

    def __init__(self):
        self._replaced = []

    def Set(self, parent, child_name, new_child):  # noqa: N802
        """Replaces an attribute."""
        self._replaced.append((parent, child_name, parent.__dict__.get(child_name, getattr(parent, child_name, None))))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj, attr_name, new_attr):  # noqa: N802
        """As Set, under the names that its arguments have there."""
        self.Set(obj, attr_name, new_attr)

    def UnsetAll(self):  # noqa: N802
        """Puts everything back."""
        for parent, name, value in reversed(self._replaced):
            setattr(parent, name, value)
        self._replaced = []

    SmartUnsetAll = CleanUp = UnsetAll
