"""TestCase: unittest's with sessions and comparisons of arrays."""
import atexit
import collections.abc
import contextlib
import functools
import os
import random
import re
import shutil
import tempfile
import threading
import unittest

import numpy as np

from penstock._src.graph import context
from penstock._src.graph import config as process_config
from penstock._src.graph import defaults
from penstock._src.graph import device as pydev
from penstock._src.graph import errors
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import random_seed
from penstock._src.graph import tensor_util
from penstock._src.testing import test_assertions
from penstock._src.base import tf2
from penstock._src.graph.sparse_tensor import SparseTensor, SparseTensorValue
from penstock._src.testing.test_conditions import (  # noqa: F401
    AbstractGradientTape, GpuSupportsHalfMatMulAndConv, IsBuiltWithNvcc, IsBuiltWithROCm, IsBuiltWithXLA,
    IsGoogleCudaEnabled, IsMklEnabled, NCHWToNHWC, NHWCToNCHW, also_run_as_tf_function, build_as_function_and_v1_graph,
    device, disable_asan, disable_cudnn_autotune, disable_eager_op_as_function, disable_mlir_bridge, disable_msan,
    disable_tfrt, disable_tsan, disable_ubsan, disable_xla, enable_tf_xla_constant_folding, for_all_test_methods,
    force_cpu, force_gpu, generate_combinations_with_testcase_name, gpu_device_name, is_asan_enabled, is_gpu_available,
    is_mlir_bridge_enabled, is_msan_enabled, is_tsan_enabled, is_ubsan_enabled, is_xla_enabled, no_xla_auto_jit,
    py_func_if_in_function, run_all_without_tensor_float_32, run_cuda_only, run_functions_eagerly, run_gpu_only,
    run_gpu_or_tpu, run_without_tensor_float_32, skip_if, skip_if_error, use_gpu, xla_allow_fallback)
from penstock._src.testing.test_leaks import (  # noqa: F401
    assert_no_garbage_created, assert_no_new_pyobjects_executing_eagerly, assert_no_new_tensors)
from penstock._src.testing.test_modes import (  # noqa: F401
    EagerSessionWarner, FakeEagerSession, deprecated_graph_mode_only, disable_control_flow_v2, eager_value,
    enable_control_flow_v2, run_all_in_graph_and_eager_modes, run_deprecated_v1, run_in_graph_and_eager_modes,
    run_v1_only, run_v2_only, with_control_flow_v2)
from penstock._src.base import compat
from penstock._src.base import nest


@functools.lru_cache
def get_temp_dir():
    """A folder for files of tests, which is there until the process ends."""
    made = tempfile.mkdtemp(prefix=os.environ.get("TEST_TMPDIR") or "test")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """AssertionError, with the difference, unless the GraphDefs hold the same nodes."""
    for which, graph_def in (("actual", actual), ("expected", expected)):
        if not hasattr(graph_def, "node"):
            raise TypeError(f"Expected tf.GraphDef for {which}, got {type(graph_def).__name__}")
    mine, theirs = ({n.name: n for n in g.node} for g in (actual, expected))
    for name in mine.keys() | theirs.keys():
        assert name in mine and name in theirs, f"only one of the graphs has a node {name}"
        assert mine[name] == theirs[name], f"node {name} differs:\n{mine[name]}\n{theirs[name]}"


def assert_equal_graph_def_v2(expected, actual):
    """AssertionError, with the difference, unless the GraphDefs hold the same nodes."""
    assert_equal_graph_def(actual, expected)


def assert_ops_in_graph(expected_ops, graph):
    """ValueError unless the graph has these operations: name -> type. Returns their NodeDefs."""
    found = {n.name: n for n in graph.as_graph_def().node if expected_ops.get(n.name) == n.op}
    missing = {name: op for name, op in expected_ops.items() if name not in found}
    if missing:
        raise ValueError(f"Not all expected ops are present. Expected {expected_ops}, found {set(found)}")
    return found


def get_node_def_from_graph(node_name, graph_def):
    """The node of that name in a GraphDef, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def set_producer_version(graph, producer_version):
    """Makes `producer_version` the version of GraphDefs that the graph is written as."""
    from penstock import proto
    graph_def = proto.message("tensorflow.GraphDef")()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        importer.import_graph_def(graph_def)


class _CheckedThread:
    """A thread whose exception fails the test."""

    def __init__(self, testcase, target, args=None, kwargs=None):
        self._testcase = testcase
        self._target = target
        self._args = args or ()
        self._kwargs = kwargs or {}
        self._thread = threading.Thread(target=self._run)
        self._exception = None
        self._joined = False

    def _run(self):
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as e:
            self._exception = e

    def start(self):
        """Starts it."""
        self._thread.start()

    def join(self):
        """Waits for its end; fails the test if it raised."""
        self._joined = True
        self._thread.join()
        if self._exception is not None:
            self._testcase.fail(f"Error in checkedThread: {self._exception}")

    def is_alive(self):
        """Whether it runs."""
        return self._thread.is_alive()

    def check_termination(self):
        """Fails the test if it was not joined or still runs."""
        if not self._joined:
            self._testcase.fail("A checked thread was not joined.")
        if self.is_alive():
            self._testcase.fail("A checked thread did not terminate.")


class CapturedWrites:
    """What was written to a stream."""

    def __init__(self, capture_location):
        self.capture_location = capture_location

    def contents(self):
        """It, as text."""
        with open(self.capture_location) as f:
            return f.read()


def _config(config, force_gpu):
    """What the session of a test is configured with: unless the test says otherwise, what asks for a device that is
    not there runs on another one."""
    if config is not None:
        return config
    from penstock import proto
    config = proto.message("tensorflow.ConfigProto")()
    written = process_config.session_config()
    if written is not None:
        config.CopyFrom(written)
    config.allow_soft_placement = not force_gpu
    return config


def _device_scope(graph, use_gpu, force_gpu):
    """The device scope of a test session's block."""
    if force_gpu:
        return graph.device("/device:GPU:0")
    if use_gpu or use_gpu is None and tf2.enabled():
        return contextlib.nullcontext()
    return graph.device("/device:CPU:0")


class TensorFlowTestCase(test_assertions.Assertions, unittest.TestCase):
    """unittest.TestCase with sessions and comparisons of arrays. Each test starts with an empty default graph and fixed
    seeds."""

    def __init__(self, methodName="runTest"):  # noqa: N803
        super().__init__(methodName)
        self._threads = []
        self._tempdir = None
        self._cached_session = None

    def setUp(self):  # noqa: N802
        self._clear_cached_session()
        random.seed(random_seed.DEFAULT_GRAPH_SEED)
        np.random.seed(random_seed.DEFAULT_GRAPH_SEED % 2**32)
        defaults._default_graph_stack.reset()
        defaults.reset_default_graph()
        random_seed.set_random_seed(random_seed.DEFAULT_GRAPH_SEED)

    def tearDown(self):  # noqa: N802
        for thread in self._threads:
            thread.check_termination()
        self._clear_cached_session()

    def _clear_cached_session(self):
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def get_temp_dir(self):
        """A folder of this test, empty at its start."""
        if self._tempdir is None:
            # Not removed when the test ends: it may have become the process' own.
            self._tempdir = tempfile.mkdtemp(prefix=self._testMethodName + "_", dir=get_temp_dir())
        return self._tempdir

    # Sessions

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=None, force_gpu=False):
        """A new session, the default one in the block. In eager mode there is none: its use is an AttributeError.

        use_gpu: False puts the block's ops on the CPU; None is True in version 2 and False in version 1.
        """
        if context.executing_eagerly():
            yield EagerSessionWarner()
            return
        from penstock._src.session import session
        with session.Session(graph=graph, config=_config(config, force_gpu)) as sess, \
                _device_scope(sess.graph, use_gpu, force_gpu):
            yield sess

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=None, force_gpu=False):
        """The test's session, made at the first call and kept until the end of the test. In eager mode it evaluates."""
        if context.executing_eagerly():
            yield FakeEagerSession(self)
            return
        if self._cached_session is None:
            from penstock._src.session import session
            self._cached_session = session.Session(graph=graph, config=_config(config, force_gpu))
        elif graph is not None and self._cached_session.graph is not graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to "
                             "create the session.")
        with self._cached_session.graph.as_default(), self._cached_session.as_default(), \
                _device_scope(self._cached_session.graph, use_gpu, force_gpu):
            yield self._cached_session

    def test_session(self, graph=None, config=None, use_gpu=None, force_gpu=False):
        """cached_session without a graph, session with one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")  # its name makes unittest call it
        chosen = self.cached_session if graph is None else self.session
        return chosen(graph=graph, config=config, use_gpu=use_gpu, force_gpu=force_gpu)

    def evaluate(self, tensors):
        """The values of tensors in the default session, or of eager ones. ValueError for what has no value."""
        if context.executing_eagerly():
            return nest.map_structure(eager_value, tensors)
        sess = defaults.get_default_session()
        if sess is None:
            with self.test_session() as sess:
                return sess.run(tensors)
        return sess.run(tensors)

    def checkedThread(self, target, args=None, kwargs=None):  # noqa: N802
        """A thread whose failure fails the test."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    # Arrays

    def _GetNdArray(self, a):  # noqa: N802
        if isinstance(a, ops.Tensor) and a._is_eager:
            a = a.numpy()  # whatever session there is
        elif isinstance(a, (ops.Tensor, SparseTensor)) or hasattr(a, "_as_graph_element"):
            a = self.evaluate(a)
        if isinstance(a, (SparseTensorValue, np.ndarray)):
            return a
        try:
            return np.array(a)
        except ValueError as e:  # rows of several lengths
            if "inhomogeneous shape" not in str(e):
                raise
            return np.array(a, dtype=object)

    def _as_lists(self, a, b):
        """Two values of which one is ragged as nested lists. The ranks of two ragged ones have to be equal."""
        from penstock._src.ops.ragged import ragged_tensor
        lists = []
        for value in (a, b):
            if isinstance(value, (list, tuple)):
                lists.append([self._as_lists(v, [])[0] for v in value])
                continue
            value = self.evaluate(value) if tensor_util.is_tf_type(value) else value
            lists.append(value.to_list() if hasattr(value, "to_list") else
                         value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
        if ragged_tensor.is_ragged(a) and ragged_tensor.is_ragged(b):
            self.assertEqual(a.ragged_rank, b.ragged_rank)
        return lists

    def _note(self, msg):
        return f"\n{msg}" if msg else ""

    def assertNear(self, f1, f2, err, msg=None):  # noqa: N802
        """The two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} is not near {f2} ({err}){self._note(msg)}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):  # noqa: N802
        """Corresponding numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for x, y in zip(farray1, farray2):
            self.assertNear(float(x), float(y), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):  # noqa: N802
        """The norm of the difference is less than `err`."""
        self.assertLess(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)), err, msg)

    def evaluate_if_both_tensors(self, a, b):
        """The two values; if both are tensors of graphs, what they are in one step."""
        if tensor_util.is_tf_type(a) and tensor_util.is_tf_type(b) and \
                not any(isinstance(v, ops.Tensor) and v._is_eager for v in (a, b)) and not context.executing_eagerly():
            return self.evaluate((a, b))
        return a, b

    def _assert_close(self, a, b, rtol, atol, path, msg):
        if _is_ragged(a) or _is_ragged(b):
            a, b = self._as_lists(a, b)
        a, b = self.evaluate_if_both_tensors(a, b)
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, collections.abc.Mapping):
            self.assertIsInstance(b, collections.abc.Mapping)
            self.assertItemsEqual(a.keys(), b.keys(), msg)
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        if isinstance(a, (list, tuple)):
            x, y = _plain_array(self, a), _plain_array(self, b)
            if x is None or y is None:
                self.assertEqual(len(a), len(b), f"lengths differ at {path}{self._note(msg)}")
                for i, (p, q) in enumerate(zip(a, b)):
                    self._assert_close(p, q, rtol, atol, f"{path}[{i}]", msg)
                return
            a, b = x, y
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch{path}: expected {a.shape}, got {b.shape}.{self._note(msg)}")
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            with np.errstate(all="ignore"):
                off = np.abs(a - b) > atol + rtol * np.abs(b)
                off |= np.isnan(a) != np.isnan(b)
                raise AssertionError(f"Not equal to tolerance rtol={rtol}, atol={atol}{path}{self._note(msg)}\n"
                                     f"places: {np.argwhere(off)[:10].tolist()}\na: {a[off][:10]}\nb: {b[off][:10]}\n"
                                     f"largest difference: {np.nanmax(np.abs(a - b))}")

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        """Arrays, or structures of arrays, are equal up to a tolerance."""
        self._assert_close(a, b, rtol, atol, "", msg)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,  # noqa: N802
                                      half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """assertAllClose with the tolerance of the less precise type."""
        a, b = self.evaluate_if_both_tensors(a, b)
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        for names, r, t in ((("float32", "complex64"), float_rtol, float_atol), (("float16",), half_rtol, half_atol),
                            (("bfloat16",), bfloat16_rtol, bfloat16_atol)):
            if str(a.dtype) in names or str(b.dtype) in names:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        """Some elements differ by more than a tolerance."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a, b, msg=None):  # noqa: N802
        """Arrays are equal; NaN equals NaN. A ragged tensor equals nested lists, strings as bytes."""
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(*self._as_lists(a, b), msg)
            return
        a, b = self.evaluate_if_both_tensors(a, b)
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        if b.ndim <= 3 or b.size < 500:
            self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. Contents: {b}. "
                                               f"{msg or ''}")
        if a.dtype.kind in "OSU" or b.dtype.kind in "OSU":
            a, b = _as_bytes(a), _as_bytes(b)
        same = a == b
        if a.dtype.kind in "fcV" and b.dtype.kind in "fcV":  # V: bfloat16 and smaller floats
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if not np.all(same):
            raise AssertionError(f"Arrays are not equal{self._note(msg)}\nfirst: {a}\nsecond: {b}")

    def assertNotAllEqual(self, a, b, msg=None):  # noqa: N802
        """Some elements differ."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements." + self._note(msg))

    def _assert_all(self, holds, target, what):
        target = self._GetNdArray(target)
        if not np.all(holds(target)):
            raise AssertionError(f"{target} is not all {what}")

    def assertAllGreater(self, a, comparison_target):  # noqa: N802
        """All elements are greater."""
        self._assert_all(lambda x: x > comparison_target, a, f"> {comparison_target}")

    def assertAllLess(self, a, comparison_target):  # noqa: N802
        """All elements are less."""
        self._assert_all(lambda x: x < comparison_target, a, f"< {comparison_target}")

    def assertAllGreaterEqual(self, a, comparison_target):  # noqa: N802
        """All elements are greater or equal."""
        self._assert_all(lambda x: x >= comparison_target, a, f">= {comparison_target}")

    def assertAllLessEqual(self, a, comparison_target):  # noqa: N802
        """All elements are less or equal."""
        self._assert_all(lambda x: x <= comparison_target, a, f"<= {comparison_target}")

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False,  # noqa: N802
                         open_upper_bound=False):
        """All elements lie between bounds."""
        (self.assertAllGreater if open_lower_bound else self.assertAllGreaterEqual)(target, lower_bound)
        (self.assertAllLess if open_upper_bound else self.assertAllLessEqual)(target, upper_bound)

    def assertAllInSet(self, target, expected_set):  # noqa: N802
        """All elements are in the set."""
        found = set(self._GetNdArray(target).ravel().tolist())
        if found - set(expected_set):
            raise AssertionError(f"{len(found - set(expected_set))} unexpected values: {found - set(expected_set)}")

    def assertShapeEqual(self, input_a=None, input_b=None, msg=None, np_array=None, tf_tensor=None):  # noqa: N802
        """Two arrays or tensors have the same (static) shape; version 1 calls them np_array and tf_tensor."""
        input_a = input_a if np_array is None else np_array
        input_b = input_b if tf_tensor is None else tf_tensor
        shapes = []
        for value in (input_a, input_b):
            if not isinstance(value, (np.ndarray, np.generic)) and not tensor_util.is_tensor(value):
                raise TypeError("input must be a Numpy ndarray, Numpy scalar or tensor. Instead received "
                                f"{type(value)}")
            shapes.append(value.shape if isinstance(value, (np.ndarray, np.generic)) else value.get_shape().as_list())
        self.assertAllEqual(*shapes, msg=msg)

    def assertDTypeEqual(self, target, expected_dtype):  # noqa: N802
        """The elements have a type."""
        self.assertEqual(self._GetNdArray(target).dtype, np.dtype(expected_dtype))

    def assertDeviceEqual(self, device1, device2, msg=None):  # noqa: N802
        """Two device names or specs mean the same."""
        self.assertEqual(pydev.canonical_name(device1), pydev.canonical_name(device2), msg)

    def assertItemsEqual(self, first, second, msg=None):  # noqa: N802
        """The same elements in any order."""
        return self.assertCountEqual(first, second, msg)

    def assertRaisesRegexp(self, *args, **kwargs):  # noqa: N802
        """assertRaisesRegex."""
        return self.assertRaisesRegex(*args, **kwargs)

    def fail(self, msg=None, user_msg=None):
        """The test has failed: what is always said, and what the test says of it."""
        super().fail(self._formatMessage(user_msg, msg))

    # Messages and errors

    def assertProtoEquals(self, expected_message_maybe_ascii, validate_message=None, msg=None,  # noqa: N802
                          relative_tolerance=None, message=None):
        """A message equals another, or one given as text; version 1 calls what is looked at `message`."""
        expected = expected_message_maybe_ascii
        validate_message = validate_message if message is None else message
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format
            expected = text_format.Parse(expected, type(validate_message)())
        if relative_tolerance is None:
            self.assertEqual(str(expected), str(validate_message), msg)
        else:
            self._assert_messages_close(expected, validate_message, relative_tolerance, msg)

    def _assert_messages_close(self, expected, found, tolerance, msg):
        """Both have the same fields; what is a float in them differs by no more than a part of itself."""
        if isinstance(expected, float):
            self.assertAlmostEqual(expected, found, delta=tolerance * max(abs(expected), abs(found)), msg=msg)
        elif hasattr(expected, "ListFields"):
            self.assertEqual([f.name for f, _ in expected.ListFields()], [f.name for f, _ in found.ListFields()], msg)
            for (_, a), (_, b) in zip(expected.ListFields(), found.ListFields()):
                self._assert_messages_close(a, b, tolerance, msg)
        elif hasattr(expected, "keys"):
            self.assertEqual(sorted(expected), sorted(found), msg)
            for key in expected:
                self._assert_messages_close(expected[key], found[key], tolerance, msg)
        elif hasattr(expected, "__len__") and not isinstance(expected, (str, bytes)):
            self.assertEqual(len(expected), len(found), msg)
            for a, b in zip(expected, found):
                self._assert_messages_close(a, b, tolerance, msg)
        else:
            self.assertEqual(expected, found, msg)

    def assertProtoEqualsVersion(self, expected, actual, producer=None, min_consumer=0, msg=None):  # noqa: N802
        """assertProtoEquals for GraphDefs whose versions are added to the text."""
        from penstock._src.graph import versions
        producer = versions.GRAPH_DEF_VERSION if producer is None else producer
        self.assertProtoEquals(f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n{expected}", actual,
                               msg)

    def assertStartsWith(self, actual, expected_start, msg=None):  # noqa: N802
        """A text begins with another."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}{self._note(msg)}")

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):  # noqa: N802
        """The block raises an exception that a predicate accepts, or whose message a pattern is found in."""
        expected = expected_err_re_or_predicate
        try:
            yield
        except exception_type as e:
            text = e.message if isinstance(e, errors.OpError) else str(e)
            accepted = expected(e) if callable(expected) else re.search(expected, text)
            if not accepted:
                raise AssertionError(f"Exception of type {type(e)}: {e}") from e
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):  # noqa: N802
        """Under it, what is written to the file of a stream (by C++ too) goes elsewhere; the value's `contents()` gives
        it."""
        stream.flush()
        number = stream.fileno()
        with tempfile.NamedTemporaryFile(dir=self.get_temp_dir(), delete=False) as file:
            kept = os.dup(number)
            os.dup2(file.fileno(), number)
            try:
                yield CapturedWrites(file.name)
            finally:
                stream.flush()
                os.dup2(kept, number)
                os.close(kept)

    def assertRaisesOpError(self, expected_err_re_or_predicate):  # noqa: N802
        """assertRaisesWithPredicateMatch for errors of ops."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=errors.InvalidArgumentError):  # noqa: N802
        """The block raises an error that says that shapes do not fit."""
        return self.assertRaisesWithPredicateMatch(
            exception_type, "Incompatible shapes|Dimensions must be equal|required broadcastable shapes")

    def assertDictEqual(self, a, b, msg=None):  # noqa: N802
        """Two dicts have the same keys and values; values may be arrays or tensors, floats among them nearly equal."""
        try:
            super().assertDictEqual(a, b, msg)
        except Exception:
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key, value in a.items():
                is_float = np.issubdtype(self._GetNdArray(value).dtype, np.floating)
                (self.assertAllClose if is_float else self.assertAllEqual)(value, b[key], msg=msg or key)


def _is_ragged(value):
    from penstock._src.ops.ragged import ragged_tensor
    return ragged_tensor.is_ragged(value)


def _plain_array(case, values):
    """A structure as an array of numbers, or None if it is none."""
    try:
        array = np.array([case._GetNdArray(v) for v in values] if isinstance(values, (list, tuple)) else
                         case._GetNdArray(values))
    except (ValueError, TypeError):
        return None
    return None if array.dtype.kind == "O" else array


def _as_bytes(array):
    if array.dtype.kind not in "OSU":
        return array
    flat = [compat.as_bytes(x) if isinstance(x, str) else x for x in array.ravel().tolist()]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)

