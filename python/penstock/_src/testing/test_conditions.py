"""Under which conditions tests run: what this machine and this build have, devices, the paths of tf.function."""
import contextlib
import functools
import inspect
import itertools
import unittest

from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.base import compat
from penstock._src.base import nest


def gpu_device_name():
    """The name of the first GPU, or ""."""
    from penstock import _core
    return next((compat.as_str(d.name) for d in _core.list_local_devices() if d.device_type == "GPU"), "")


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU."""
    return bool(gpu_device_name())


def _no():
    """False: TensorFlow can be built so, Penstock is not."""
    return False


IsGoogleCudaEnabled = IsBuiltWithROCm = IsBuiltWithXLA = IsBuiltWithNvcc = IsMklEnabled = _no
is_xla_enabled = is_mlir_bridge_enabled = is_asan_enabled = is_msan_enabled = is_tsan_enabled = is_ubsan_enabled = _no


def GpuSupportsHalfMatMulAndConv():  # noqa: N802
    """Whether there is a GPU that multiplies halves."""
    return is_gpu_available()


@contextlib.contextmanager
def device(use_gpu):
    """Ops of the block are put on the first GPU if it is wanted and there is one, else on the CPU."""
    with ops.device("/device:GPU:0" if use_gpu and is_gpu_available() else "/device:CPU:0"):
        yield


def use_gpu():
    """device(use_gpu=True)."""
    return device(use_gpu=True)


def force_gpu():
    """Ops of the block are put on the first GPU."""
    return ops.device("/device:GPU:0")


def force_cpu():
    """Ops of the block are put on the CPU."""
    return ops.device("/device:CPU:0")


def skip_if(condition):
    """A decorator: the function does nothing if `condition`, a bool or a callable that gives one, holds."""
    def decorate(func):
        @functools.wraps(func)
        def maybe(*args, **kwargs):
            return None if (condition() if callable(condition) else condition) else func(*args, **kwargs)
        return maybe
    return decorate


@contextlib.contextmanager
def skip_if_error(test_obj, error_type, messages=None):
    """An error of that type (whose text has one of `messages`, if they are given) in the block skips the test."""
    try:
        yield
    except error_type as e:
        if messages and not any(message in str(e) for message in nest.flatten(messages)):
            raise
        test_obj.skipTest(f"Skipping error: {type(e)}: {e}")


def _unchanged(description=None):
    """A decorator that takes a reason; what it turns off in TensorFlow is not here, so the test stays as it is."""
    return lambda decorated: decorated


disable_asan = disable_msan = disable_tsan = disable_ubsan = disable_xla = disable_mlir_bridge = _unchanged
disable_tfrt = _unchanged
no_xla_auto_jit = xla_allow_fallback = enable_tf_xla_constant_folding = disable_eager_op_as_function = _unchanged
run_without_tensor_float_32 = run_all_without_tensor_float_32 = _unchanged


def disable_cudnn_autotune(func):
    """A decorator: nothing is tuned here."""
    return func


def _gpu_only(func):
    @functools.wraps(func)
    def maybe(self, *args, **kwargs):
        if not is_gpu_available():
            self.skipTest("Test requires GPU")
        return func(self, *args, **kwargs)
    return maybe


run_gpu_only = run_cuda_only = run_gpu_or_tpu = _gpu_only


def py_func_if_in_function(func):
    """A decorator: called while a tf.function is traced, `func` becomes a py_func, which gets values for tensors."""
    @functools.wraps(func)
    def decorated(*args, **kwargs):
        if context.executing_eagerly() or not ops.inside_function():
            return func(*args, **kwargs)
        from penstock._src.graph import tensor_util
        from penstock._src.tf_function import script_ops
        places = [i for i, arg in enumerate(args) if tensor_util.is_tf_type(arg)]

        def with_values(*values):
            filled = list(args)
            for place, value in zip(places, values):
                filled[place] = value
            func(*filled, **kwargs)
        return script_ops.eager_py_func(with_values, [args[i] for i in places], [])
    return decorated


def also_run_as_tf_function(func):
    """A decorator: the test method runs eagerly, and then inside a tf.function."""
    @functools.wraps(func)
    def both(*args, **kwargs):
        from penstock._src.tf_function import def_function
        with context.eager_mode():
            func(*args, **kwargs)
            def_function.function(lambda: func(*args, **kwargs), autograph=False)()
    return both


def build_as_function_and_v1_graph(func):
    """A decorator: the test method builds a version 1 graph, and then a tf.function. ValueError for a class."""
    if inspect.isclass(func):
        raise ValueError("`run_in_graph_mode_and_function` only supports test methods.")

    @functools.wraps(func)
    def both(self, *args, **kwargs):
        from penstock._src.tf_function import def_function
        with ops.Graph().as_default():
            func(self, *args, **kwargs)
        with ops.Graph().as_default(), context.eager_mode():
            def_function.function(lambda: func(self, *args, **kwargs), autograph=False)()
    return both


def for_all_test_methods(decorator, *args, **kwargs):
    """A class decorator: decorator(*args, **kwargs) for each test method."""
    def decorate(cls):
        for name in dir(cls):
            method = getattr(cls, name)
            if callable(method) and name.startswith(unittest.TestLoader.testMethodPrefix) and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(method))
        return cls
    return decorate


@contextlib.contextmanager
def run_functions_eagerly(run_eagerly):
    """tf.config.run_functions_eagerly for the block. ValueError unless it is a bool."""
    from penstock._src.tf_function import def_function
    if not isinstance(run_eagerly, bool):
        raise ValueError(f"Expected bool for `run_eagerly` but got {run_eagerly}")
    before = def_function.functions_run_eagerly()
    def_function.run_functions_eagerly(run_eagerly)
    try:
        yield
    finally:
        def_function.run_functions_eagerly(before)


class _GraphTape:
    """tf.gradients as a tape."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def watch(self, x):
        """Nothing to be done: a graph keeps all."""

    def gradient(self, y, x, grad_ys=None):
        """tf.gradients; of a single `x` not in a list."""
        from penstock._src.gradient import gradients_impl
        result = gradients_impl.gradients(y, x, grad_ys)
        return result if isinstance(x, (list, tuple)) else result[0]


class AbstractGradientTape:
    """A context whose value differentiates by a tape or, in a graph, by tf.gradients."""

    def __init__(self, use_tape, persistent=False):
        self._use_tape = use_tape
        self._persistent = persistent

    def __enter__(self):
        from penstock._src.gradient import backprop
        self._tape = backprop.GradientTape(persistent=self._persistent) if self._use_tape else _GraphTape()
        return self._tape.__enter__()

    def __exit__(self, *error):
        return self._tape.__exit__(*error)


_TO_NCHW = {3: [0, 2, 1], 4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
_TO_NHWC = {3: [0, 2, 1], 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}


def _reordered(value, orders):
    if isinstance(value, ops.Tensor):
        from penstock._src.core_ops import array_ops
        return array_ops.transpose(value, orders[value.shape.ndims])
    return [value[axis] for axis in orders[len(value)]]


def NHWCToNCHW(input_tensor):  # noqa: N802
    """A tensor of 3, 4 or 5 dimensions, or the list of its sizes, with the channels moved from the end to axis 1."""
    return _reordered(input_tensor, _TO_NCHW)


def NCHWToNHWC(input_tensor):  # noqa: N802
    """A tensor of 3, 4 or 5 dimensions, or the list of its sizes, with the channels moved from axis 1 to the end."""
    return _reordered(input_tensor, _TO_NHWC)


def generate_combinations_with_testcase_name(**kwargs):
    """Parameters for named_parameters: a dict for each choice of one value of each argument's list, and its name."""
    keys = sorted(kwargs)
    lists = [kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]] for key in keys]
    result = []
    for values in itertools.product(*lists):
        parts = ["".join(filter(str.isalnum, str(part))) for pair in zip(keys, values) for part in pair]
        name = "".join("_" + part for part in parts)
        result.append(dict(zip(keys, values), testcase_name="_test" + name))
    return result


