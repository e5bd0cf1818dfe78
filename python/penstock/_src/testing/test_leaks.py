"""Decorators of test methods that must leave no objects, tensors or garbage alive."""
import functools
import gc

from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.graph.tensor import Tensor

_RUNS = 3  # after the ones that fill caches


def assert_no_new_pyobjects_executing_eagerly(func=None, warmup_iters=2):
    """A decorator: eager repetitions of the test method leave no more Python objects alive than the first ones."""
    def decorate(method):
        @functools.wraps(method)
        def repeated(self, *args, **kwargs):
            with context.eager_mode():
                for _ in range(warmup_iters):
                    method(self, *args, **kwargs)
                gc.collect()
                before = len(gc.get_objects())
                for _ in range(_RUNS):
                    method(self, *args, **kwargs)
                gc.collect()
                new = len(gc.get_objects()) - before
            # An object for each run is a leak; a few in all are the interpreter's caches.
            self.assertLess(new, _RUNS, f"{new} new Python objects after {_RUNS} runs")
        return repeated
    return decorate if func is None else decorate(func)


def assert_no_new_tensors(method):
    """A decorator: no tensor that the test method makes is alive after it. AssertionError otherwise."""
    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        before = {id(each) for each in gc.get_objects() if isinstance(each, Tensor)}
        with ops.Graph().as_default() if not context.executing_eagerly() else context.eager_mode():
            result = method(self, *args, **kwargs)
        gc.collect()
        left = [each for each in gc.get_objects() if isinstance(each, Tensor) and id(each) not in before]
        if left:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")
        return result
    return checked


def assert_no_garbage_created(method):
    """A decorator: the test method makes no objects that refer to each other in a circle."""
    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        gc.collect()
        flags, known = gc.get_debug(), len(gc.garbage)
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            result = method(self, *args, **kwargs)
            gc.collect()
            self.assertEqual(known, len(gc.garbage), "objects in circles of references")
        finally:
            gc.set_debug(flags)
            del gc.garbage[known:]
        return result
    return checked
