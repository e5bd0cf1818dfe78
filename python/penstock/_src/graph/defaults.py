"""The stacks of default graphs and default sessions, one of each for every thread."""
import threading

from penstock import _core
from penstock._src.base.mode import mode
from penstock._src.base import hooks


class _Controller:
    """Context manager that puts one object on a stack. Programs set attributes of it (`enforce_nesting`)."""

    def __init__(self, stack, item):
        self._stack = stack
        self._item = item
        self._entered = 0

    def __enter__(self):
        self._stack.stack.append(self._item)
        self._entered += 1
        return self._item

    def __del__(self):
        # Whoever enters it and forgets it leaves it, if nothing else was entered after it.
        for _ in range(self._entered):
            stack = self._stack.stack
            if stack and (stack[-1] is self._item or not self._stack.enforce_nesting and self._item in stack):
                self.__exit__()

    def __exit__(self, *exc):
        self._entered -= 1
        stack = self._stack.stack
        if stack:
            if stack[-1] is self._stack.left:
                stack.pop()
            elif self._stack.enforce_nesting:
                if stack[-1] is not self._item:
                    raise AssertionError(f"Nesting violated for default stack of {type(self._item)} objects")
                stack.pop()
            else:
                stack.remove(self._item)
        return False


class _DefaultStack(threading.local):
    def __init__(self):
        super().__init__()
        self.enforce_nesting = True
        self.stack = []
        self.left = None  # what stands for the objects of `with` that a reset has forgotten

    def get_default(self):
        return self.stack[-1] if self.stack else None

    def reset(self):
        self.stack = []

    def is_cleared(self):
        return not self.stack

    def get_controller(self, item):
        return _Controller(self, item)


_new_graph, _new_eager_graph = hooks.Hook("graph"), hooks.Hook("eager_graph")


class _DefaultGraphStack(_DefaultStack):
    """Below the graphs of `with` lies the thread's global graph, made when it is first asked for."""

    def __init__(self):
        super().__init__()
        _core.eager_watch_thread(self.stack)
        self._global_default_graph = self._eager_graph = None

    def get_default(self):
        return self.stack[-1] if self.stack else self._GetGlobalDefaultGraph()

    def _GetGlobalDefaultGraph(self):  # noqa: N802
        return self.eager_graph() if mode.eager else self.plain_graph()

    def plain_graph(self):
        """The thread's global graph, which is built."""
        if self._global_default_graph is None:
            self._global_default_graph = _new_graph()
        return self._global_default_graph

    def eager_graph(self):
        """What stands for the graph of this thread while it executes eagerly."""
        if self._eager_graph is None:
            self._eager_graph = _new_eager_graph()
        return self._eager_graph

    def is_cleared(self):
        # `eager_mode` is a mode, not a graph within another
        return all(graph._eager or graph is self.left for graph in self.stack)

    def reset(self):
        last = self.stack[-1] if self.stack else None
        del self.stack[:]  # the list stays: the runtime looks at it
        self._global_default_graph = self._eager_graph = self.left = None
        # Graphs are forgotten, the mode is not: neither that of `eager_mode` nor that of a graph in an eager program.
        if last is not None and last._eager:
            self.stack.append(last)
        elif last is not None and mode.eager:
            self.left = self.plain_graph()
            self.stack.append(self.left)


_default_graph_stack = _DefaultGraphStack()
_default_session_stack = _DefaultStack()


def get_default_graph():
    """The graph of the innermost `with graph.as_default()` of this thread, or its global graph."""
    local = _default_graph_stack
    stack = local.stack
    if stack:
        return stack[-1]
    if mode._eager and local._eager_graph is not None:
        return local._eager_graph
    return local.get_default()


def plain_graph():
    """The thread's global graph, which is built, even if the thread executes eagerly otherwise."""
    return _default_graph_stack.plain_graph()


def eager_graph():
    """What stands for the graph of this thread while it executes eagerly."""
    return _default_graph_stack.eager_graph()


def get_default_session():
    """The session of the innermost `with session.as_default()` of this thread, or None."""
    return _default_session_stack.get_default()


def default_session(session):
    """Context manager under which `session` is the default."""
    return _default_session_stack.get_controller(session)


def has_default_graph():
    """Whether this is inside of `with graph.as_default()`."""
    return bool(_default_graph_stack.stack)


def reset_default_graph():
    """Forgets the thread's global graph. AssertionError inside of `with graph.as_default()`."""
    if not _default_graph_stack.is_cleared():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _default_graph_stack.reset()


def inside_function():
    """Whether the default graph is a function's body."""
    return get_default_graph().building_function


def executing_eagerly_outside_functions():
    """Whether code outside of all functions runs eagerly."""
    return outside_functions()._eager


def outside_functions():
    """The innermost default graph that is no function's body."""
    for graph in reversed(_default_graph_stack.stack):
        if not graph._building_function:
            return graph
    return _default_graph_stack._GetGlobalDefaultGraph()
