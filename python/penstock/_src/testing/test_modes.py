"""In which mode a test method runs: graphs, eager execution, or one after the other."""
import functools
import inspect
import unittest

from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.base import mode
from penstock._src.base import tf2


def _is_test(name):
    return name.startswith(unittest.TestLoader.testMethodPrefix)


def _decorator_for(decorate, func):
    """`decorate`, or what it makes of `func`: a decorator may be used with and without parentheses."""
    return decorate if func is None else decorate(func)


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    """A decorator: the test method runs in a session, and then eagerly.

    `reset_test`: tearDown and setUp are called in between. Garbage is not looked for. ValueError for a class.
    """
    def decorate(method):
        if inspect.isclass(method):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. "
                             "Did you mean to use `run_all_in_graph_and_eager_modes`?")

        @functools.wraps(method)
        def in_both(self, *args, **kwargs):
            try:
                with context.graph_mode(), self.test_session(use_gpu=use_gpu, config=config):
                    method(self, *args, **kwargs)
            except unittest.SkipTest:
                pass
            if reset_test:
                self.tearDown()
                self._tempdir = None
            with ops.Graph().as_default(), context.eager_mode():
                if reset_test:
                    self.setUp()
                method(self, *args, **kwargs)
        return in_both
    return _decorator_for(decorate, func)


def run_all_in_graph_and_eager_modes(cls):
    """A class decorator: run_in_graph_and_eager_modes for each test method but `test_session` and testSkipEager..."""
    for name in dir(cls):
        method = getattr(cls, name, None)
        skips = name.startswith(("testSkipEager", "test_skip_eager")) or name == "test_session"
        if _is_test(name) and not skips and callable(method):
            setattr(cls, name, run_in_graph_and_eager_modes(method))
    return cls


def deprecated_graph_mode_only(func=None):
    """A decorator of a test method, or of a class with its own setUp and tests: they build graphs in version 2 too."""
    def decorate(decorated):
        if inspect.isclass(decorated):
            for name, method in list(vars(decorated).items()):
                if callable(method) and (name == "setUp" or _is_test(name)):
                    setattr(decorated, name, decorate(method))
            return decorated

        @functools.wraps(decorated)
        def in_graph(self, *args, **kwargs):
            with context.graph_mode():
                return decorated(self, *args, **kwargs)
        return in_graph
    return _decorator_for(decorate, func)


run_deprecated_v1 = deprecated_graph_mode_only


def _skipped_unless(wanted, reason):
    def decorate(method):
        @functools.wraps(method)
        def maybe(self, *args, **kwargs):
            if not wanted():
                self.skipTest(reason)
            return method(self, *args, **kwargs)
        return maybe
    return decorate


def run_v1_only(reason, func=None):
    """A decorator of a test method or class: skipped in version 2, for `reason`. ValueError unless that is a str."""
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")
    skipped = _skipped_unless(lambda: not tf2.enabled(), reason)

    def decorate(decorated):
        if inspect.isclass(decorated):
            decorated.setUp = skipped(decorated.setUp)
            return decorated
        return skipped(decorated)
    return _decorator_for(decorate, func)


def run_v2_only(func=None):
    """A decorator: the test method is skipped in version 1. ValueError for a class."""
    def decorate(method):
        if inspect.isclass(method):
            raise ValueError("`run_v2_only` only supports test methods.")
        return _skipped_unless(tf2.enabled, "Test is only compatible with v2")(method)
    return _decorator_for(decorate, func)


def enable_control_flow_v2(method):
    """A decorator: conditionals and loops of the test method are single operations."""
    @functools.wraps(method)
    def enabled(self, *args, **kwargs):
        before = mode.mode.control_flow_v2
        mode.mode.control_flow_v2 = True
        try:
            return method(self, *args, **kwargs)
        finally:
            mode.mode.control_flow_v2 = before
    return enabled


def disable_control_flow_v2(unused_msg):
    """A decorator: `with_control_flow_v2` does not repeat the test method."""
    def decorate(method):
        method._disable_control_flow_v2 = True
        return method
    return decorate


def with_control_flow_v2(cls):
    """A class decorator: adds `NAMEWithControlFlowV2` for each test method, with enable_control_flow_v2."""
    if not mode.control_flow_v2_enabled():
        for name, method in list(vars(cls).items()):
            if callable(method) and _is_test(name) and not getattr(method, "_disable_control_flow_v2", False):
                setattr(cls, name + "WithControlFlowV2", enable_control_flow_v2(method))
    return cls


class FakeEagerSession:
    """What `cached_session` gives in eager mode: `run` evaluates values that are there already."""

    def __init__(self, test_case):
        self._test_case = test_case

    def run(self, fetches, *args, **kwargs):
        """The values as arrays. RuntimeError for a `feed_dict`."""
        feed_dict = kwargs.pop("feed_dict", None)
        if feed_dict:
            raise RuntimeError("feed_dict is not supported when eager execution is enabled (in this case, "
                               "sess.run(t) is shorthand for t.numpy()")
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """What `session` gives in eager mode: every use of it is an AttributeError."""

    def __getattr__(self, attr):
        raise AttributeError("Trying to access properties or call methods on the result of self.session(), "
                             "self.cached_session(), etc while eager execution is enabled. If you're porting this "
                             "test case to TF 2.0, either adapt the test to work with eager execution or insert a "
                             "call to tf.disable_eager_execution() in the main() function of this test file.")


def eager_value(value):
    """The arrays of an eager tensor, variable, sparse or ragged tensor, IndexedSlices; of a function's result."""
    from penstock._src.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
    from penstock._src.graph.sparse_tensor import SparseTensor, SparseTensorValue
    from penstock._src.ops.ragged.ragged_tensor import RaggedTensor
    from penstock._src.ops.ragged.ragged_tensor_value import RaggedTensorValue
    if value is None:
        return None
    if isinstance(value, SparseTensor):
        return SparseTensorValue(value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy())
    if isinstance(value, IndexedSlices):
        shape = None if value.dense_shape is None else value.dense_shape.numpy()
        return IndexedSlicesValue(value.values.numpy(), value.indices.numpy(), shape)
    if isinstance(value, RaggedTensor):
        return RaggedTensorValue(eager_value(value.values), eager_value(value.row_splits))
    if callable(value):
        from penstock._src.base import nest
        return nest.map_structure(eager_value, value())
    try:
        return value.numpy()
    except AttributeError:
        raise ValueError(f"Unsupported type {type(value)}.") from None
