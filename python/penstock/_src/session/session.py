"""Session: runs parts of a graph."""
import os
import collections.abc
import re
import sys
import threading

from penstock import _core
from penstock._src.session import feeds as feeding
from penstock._src.session import fetches as fetching
from penstock._src.session.tensor_handle import DeadHandles
from penstock._src.session.fetches import register_session_run_conversion_functions  # noqa: F401
from penstock._src.graph import config as process_config
from penstock._src.graph import defaults
from penstock._src.graph import device
from penstock._src.graph import errors
from penstock._src.function import function_errors
from penstock._src.graph import stack
from penstock._src.graph.graph import Graph
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat
from penstock._src.base import nest

_CACHE_SIZE = 1000
_NODE = re.compile(r"\{\{node ([^\s}]*)\}\}")


class SessionInterface:
    """What can run fetches: Session, and what wraps one."""

    @property
    def graph(self):
        """The graph that it runs."""
        raise NotImplementedError("graph")

    @property
    def sess_str(self):
        """The target."""
        raise NotImplementedError("sess_str")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs fetches."""
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches, feeds=None):
        """Prepares a partial run."""
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle, fetches, feed_dict=None):
        """Continues a partial run."""
        raise NotImplementedError("partial_run")


class _DeviceAttributes:
    """A device of a session."""

    def __init__(self, name, device_type, memory_limit_bytes, incarnation):
        self._name = device.canonical_name(name)
        self._values = device_type, memory_limit_bytes, incarnation

    name = property(lambda self: self._name)
    device_type = property(lambda self: self._values[0])
    memory_limit_bytes = property(lambda self: self._values[1])
    incarnation = property(lambda self: self._values[2])

    def __repr__(self):
        return (f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
                f"{self.incarnation})")


def _config_bytes(config):
    """A ConfigProto as bytes. TypeError if it is something else."""
    if config is None:
        return b""
    descriptor = getattr(config, "DESCRIPTOR", None)
    if descriptor is None or descriptor.full_name != "tensorflow.ConfigProto":
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    return config.SerializeToString()


class _Step:
    """A run that was asked for before: the compiled step, how to convert feeds, how to give results back."""

    __slots__ = ("keep", "call", "convert", "rebuild", "single")

    def __init__(self, keep, call, convert, rebuild, single):
        self.keep = keep        # fetches and feeds, so that their ids stay theirs
        self.call = call
        self.convert = convert
        self.rebuild = rebuild
        self.single = single


class BaseSession(SessionInterface):
    """Runs operations and evaluates tensors of one graph. `run` may be called from many threads."""

    def __init__(self, target="", graph=None, config=None):
        self._session = None
        self._closed = False
        if graph is None:
            graph = defaults.get_default_graph()
            if graph._eager:  # under the session ops are built, not run
                graph = defaults.plain_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._graph = graph
        if target is not None and not isinstance(target, (str, bytes)):
            hint = ""
            if hasattr(target, "DESCRIPTOR"):
                hint = '. Did you do "Session(config)" instead of "Session(config=config)"?'
            raise TypeError(f"target must be a string, but got {type(target)}{hint}")
        self._target = None if target is None else compat.as_bytes(target)
        if config is None:
            config = process_config.session_config()
        data = _config_bytes(config)
        if os.environ.get("PENSTOCK_SOFT_PLACEMENT"):  # of `penstock run --soft-placement`
            data += b"\x38\x01"  # ConfigProto.allow_soft_placement: messages merge when their bytes are joined
        self._config = config
        self._steps, self._older_steps = {}, {}  # used since the last change of generations, and before
        self._dead_handles = DeadHandles()
        target = compat.as_str(target or "")
        self._session = _core.Session(graph._core, target, data)

    @property
    def graph(self):
        """The graph that it runs."""
        return self._graph

    @property
    def graph_def(self):
        """The GraphDef of its graph."""
        return self._graph.as_graph_def(add_shapes=bool(self._config and self._config.graph_options.infer_shapes))

    @property
    def sess_str(self):
        """The target, as bytes."""
        return self._target

    def list_devices(self):
        """Its devices: objects with name, device_type, memory_limit_bytes, incarnation."""
        return [_DeviceAttributes(info.name, info.device_type, info.memory_limit, info.incarnation)
                for info in self._session.list_devices()]

    def close(self):
        """Frees what it holds. Runs in progress are cancelled; later ones are a RuntimeError."""
        if self._session is not None and not self._closed:
            self._closed = True
            self._steps.clear()
            self._older_steps.clear()
            self._session.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter may be on its way out
            pass

    def as_default(self):
        """Context manager under which it is the default session; does not close it."""
        return defaults.default_session(self)

    def _check_usable(self):
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")

    def _register_dead_handle(self, handle):
        self._dead_handles.add(handle)

    # Running

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs what `fetches` needs and returns its values, in the same structure; operations give None.

        fetches: tensors, operations, variables, their names, or lists, tuples, dicts, namedtuples, dataclasses of them.
        feed_dict: tensor -> value that replaces it in this run. options: RunOptions; run_metadata: a RunMetadata to
        fill. TypeError, ValueError: bad fetches or feeds; RuntimeError: closed; tf.errors.OpError: the run failed.
        """
        if not options and run_metadata is None and (not feed_dict or type(feed_dict) is dict):
            kind = type(fetches)
            if kind is list or kind is tuple:
                key = (kind, *map(id, fetches), None, *map(id, feed_dict)) if feed_dict else (kind, *map(id, fetches))
            elif feed_dict:
                key = (id(fetches), *map(id, feed_dict))
            else:
                key = id(fetches)
            step = self._steps.get(key)
            if step is None:
                step = self._older_steps.pop(key, None)
                if step is not None:
                    self._keep_step(key, step)
            if step is not None:
                try:
                    if feed_dict:
                        values = step.call(*[c(v) for c, v in zip(step.convert, feed_dict.values())])
                    else:
                        values = step.call()
                except errors.OpError as e:
                    raise self._explained(e) from None
                if step.single:
                    return values[0]
                return values if step.rebuild is None else step.rebuild(values)
            return self._run(fetches, feed_dict, None, None, key)
        data = options.SerializeToString() if options else None
        return self._run(fetches, feed_dict, data, run_metadata, None)

    def _run(self, fetches, feed_dict, options, run_metadata, key):
        self._check_usable()
        self._dead_handles.delete(self)
        arrays, plain = self._arrays(feed_dict)
        wanted = fetching.Fetches(self._graph, fetches, self)
        fed = {id(t): array for t, array in arrays}
        tensors = [e for e in wanted.elements if isinstance(e, Tensor) and id(e) not in fed]
        targets = [e for e in wanted.elements if isinstance(e, Operation)]
        if self._graph._traces:
            targets += self._traces(tensors, targets, [t for t, _ in arrays])
        if key is not None and plain and not wanted.has_handles:
            self._remember(key, fetches, feed_dict, wanted, [t for t, _ in arrays], tensors, targets, fed)
        results = []
        if tensors or targets:
            results = self._call(arrays, tensors, targets, options, run_metadata)
        return wanted.rebuild(self._all_values(wanted.elements, fed, results))

    def _traces(self, tensors, targets, fed):
        """The operations that write down what a step computes, for a debugger."""
        fed_names = {t.name for t in fed}
        found = [self._graph._traces.get(t.op.name, {}).get(t.value_index) for t in fed]
        seen, ahead = set(), [t.op for t in tensors if t.name not in fed_names] + list(targets)
        while ahead:
            op = ahead.pop()
            if op.name not in seen:
                seen.add(op.name)
                found.extend(self._graph._traces.get(op.name, {}).values())
                ahead.extend(op.control_inputs)
                ahead.extend(t.op for t in op.inputs if t.name not in fed_names)
        return [trace for trace in found if trace is not None]

    @staticmethod
    def _all_values(elements, fed, results):
        results = iter(results)
        return [None if isinstance(e, Operation) else fed[id(e)] if id(e) in fed else next(results) for e in elements]

    def _arrays(self, feed_dict):
        """([(tensor, array)], whether each key stands for one tensor)."""
        pairs, plain = [], True
        if not feed_dict:
            return pairs, plain
        if not isinstance(feed_dict, collections.abc.Mapping):
            raise TypeError("feed_dict must be a dictionary")
        for feed, value in feed_dict.items():
            if nest.is_sequence(feed):
                flat = nest.flatten_dict_items({feed: value}).items()
                plain = False
            else:
                flat = [(feed, value)]
            for item, item_value in flat:
                for element, element_value in fetching.feed_pairs(item, item_value):
                    plain = plain and element is item
                    tensor = feeding.find_tensor(self._graph, element)
                    array = feeding.to_array(tensor, element_value)
                    feeding.check_shape(tensor, array.shape)
                    if not self._graph.is_feedable(tensor):
                        raise ValueError(f"Tensor {tensor} may not be fed.")
                    pairs.append((tensor, array))
        return pairs, plain

    def _remember(self, key, fetches, feed_dict, wanted, fed_tensors, tensors, targets, fed):
        """Keeps a run that can be repeated without looking at anything but the fed values."""
        leaves = fetches if type(fetches) in (list, tuple) else [fetches]
        if not (tensors or targets) or any(id(e) in fed for e in wanted.elements):
            return
        if not all(isinstance(f, (Tensor, Operation, str)) or hasattr(f, "_as_graph_element") for f in leaves):
            return
        if len({id(t) for t in fed_tensors}) != len(fed_tensors):
            return
        try:
            call = self._session.callable([t._key for t in fed_tensors], [t._key for t in tensors],
                                          [op._node for op in targets])
        except errors.OpError as e:
            raise self._explained(e) from None
        single = isinstance(wanted.elements[0], Tensor) and type(fetches) not in (list, tuple)
        rebuild = None
        if not single:
            straight = type(fetches) is list and len(tensors) == len(wanted.elements) == len(fetches)
            if not straight:
                elements = wanted.elements
                inner = wanted.rebuild
                rebuild = lambda values: inner(self._all_values(elements, {}, values))  # noqa: E731
        self._keep_step(key, _Step((list(leaves), list(feed_dict or ()), fetches), call,
                                  [feeding.converter(t) for t in fed_tensors], rebuild, single))

    def _keep_step(self, key, step):
        """Keeps a run. When half of the room is used, what was not used since the last time goes."""
        if len(self._steps) >= _CACHE_SIZE // 2:
            self._older_steps, self._steps = self._steps, {}
        self._steps[key] = step

    def _call(self, arrays, tensors, targets, options, run_metadata):
        try:
            values, metadata = self._session.run([(t._key, a) for t, a in arrays], [t._key for t in tensors],
                                                 [op._node for op in targets], options, run_metadata is not None)
        except errors.OpError as e:
            raise self._explained(e) from None
        if run_metadata is not None:
            run_metadata.ParseFromString(metadata or b"")
        return values

    def _explained(self, error):
        """The error with its operation, and with the Python line that built each node that it names."""
        return explain(error, self._graph)

    # Callables

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs `fetches`; its arguments are the values of `feed_list`, in this order.

        With `accept_options` it also takes `options` and `run_metadata`. TypeError if `feed_list` is no list or tuple.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        if feed_list is not None or accept_options:
            feed_list = list(feed_list or ())

            def run(*values, **kwargs):
                return self.run(fetches, feed_dict=dict(zip(feed_list, values)), **kwargs)
            return run
        fetching.Fetches(self._graph, fetches)

        def run_without_feeds():
            return self.run(fetches)
        return run_without_feeds

    def _make_callable_from_options(self, callable_options):
        """A function of a CallableOptions message: takes the values of its feeds, returns the list of its fetches.

        Of each of its tensor connections, what reads `to_tensor` reads `from_tensor`. InvalidArgumentError: a tensor is
        fed twice, or a connection closes a cycle.
        """
        self._check_usable()
        names = callable_options
        feeds = [self._graph.get_tensor_by_name(_tensor_name(n)) for n in names.feed]
        fetches = [self._graph.get_tensor_by_name(_tensor_name(n)) for n in names.fetch]
        targets = [self._graph.get_operation_by_name(n) for n in names.target]
        connections = [tuple(self._graph.get_tensor_by_name(_tensor_name(n))._key for n in (c.from_tensor, c.to_tensor))
                       for c in names.tensor_connection]
        options = names.run_options.SerializeToString()

        def make():
            try:
                return self._session.callable([t._key for t in feeds], [t._key for t in fetches],
                                              [op._node for op in targets], options, connections)
            except errors.OpError as e:
                raise self._explained(e) from None

        watched = bool(names.run_options.debug_options.debug_tensor_watch_opts)  # then each run is compiled anew
        made = None if watched else make()

        def run(*values, run_metadata=None):
            call = make() if watched else made
            arrays = [feeding.to_array(t, value) for t, value in zip(feeds, values)]
            try:
                if run_metadata is None:
                    return call(*arrays)
                results, metadata = call.with_metadata(*arrays)
            except errors.OpError as e:
                raise self._explained(e) from None
            run_metadata.ParseFromString(metadata)
            return results
        return run

    # Partial runs

    def partial_run_setup(self, fetches, feeds=None):
        """Prepares a run that is done in pieces, with these fetches and feeds in all; returns its handle."""
        self._check_usable()
        feeds = feeds or []
        if not isinstance(feeds, (list, tuple)):
            feeds = [feeds]
        tensors = []
        for feed in feeds:
            for element in fetching.feed_elements(feed):
                try:
                    tensors.append(self._graph.as_graph_element(element, allow_tensor=True, allow_operation=False))
                except Exception as e:
                    raise type(e)(f"Cannot interpret feed_list key as Tensor: {e.args[0] if e.args else e}") from None
        wanted = fetching.Fetches(self._graph, fetches)
        try:
            return self._session.partial_run_setup(
                [t._key for t in tensors], [e._key for e in wanted.elements if isinstance(e, Tensor)],
                [e._node for e in wanted.elements if isinstance(e, Operation)])
        except errors.OpError as e:
            raise self._explained(e) from None

    def partial_run(self, handle, fetches, feed_dict=None):
        """Runs a piece of a partial run: fetches and feeds that were named in its setup and not used yet."""
        self._check_usable()
        arrays, _ = self._arrays(feed_dict)
        wanted = fetching.Fetches(self._graph, fetches)
        fed = {id(t): array for t, array in arrays}
        if any(isinstance(e, Operation) for e in wanted.elements):
            raise RuntimeError("partial_run() requires empty target_list.")
        tensors = [e for e in wanted.elements if id(e) not in fed]
        results = []
        if tensors or arrays:
            try:
                results = self._session.partial_run(handle, [(t._key, a) for t, a in arrays], [t._key for t in tensors])
            except errors.OpError as e:
                raise self._explained(e) from None
        return wanted.rebuild(self._all_values(wanted.elements, fed, results))


def _tensor_name(name):
    return name if ":" in name else name + ":0"


def explain(error, graph):
    """`error` with the operation that failed, and with the Python line that built each node that its message names."""
    message, function = function_errors.unmarked(compat.as_text(error.message))
    named = error._node_name
    found = _NODE.search(message)
    if named is None and found:
        named = found.group(1)

    def where(match):
        name = match.group(1)
        op = function_errors.find_in(graph, name) if function is None else function_errors.find(function, name)
        line = stack.user_line(op._traceback) if op is not None else None
        return f"node {match.group(1)}" + (f" (defined at {line[0]}:{line[1]}) " if line else "")

    op = graph._find(named) if named and function is None else None
    made = type(error)(error._node_def, op, _NODE.sub(where, message))
    made._node_name = named
    return made


class Session(BaseSession):
    """Runs operations and evaluates tensors of one graph. As a context manager it is the default session, its graph is
    the default graph, and it closes at the end."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config=config)
        self._default_graph_context_manager = None
        self._default_session_context_manager = None

    def __enter__(self):
        if self._default_graph_context_manager is not None:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to "
                               "enter a session multiple times.")
        self._default_graph_context_manager = self.graph.as_default()
        self._default_session_context_manager = self.as_default()
        self._default_graph_context_manager.__enter__()
        return self._default_session_context_manager.__enter__()

    def __exit__(self, exec_type, exec_value, exec_tb):
        try:
            self._default_session_context_manager.__exit__(exec_type, exec_value, exec_tb)
        finally:
            self._default_graph_context_manager.__exit__(exec_type, exec_value, exec_tb)
            self._default_session_context_manager = None
            self._default_graph_context_manager = None
        if exec_type and not sys.is_finalizing():  # a generator's end may be the interpreter's: no thread starts then
            # Closing waits for runs in other threads, which may never end after an error.
            closing = threading.Thread(name="SessionCloseThread", target=self.close, daemon=True)
            closing.start()
            closing.join(30.0)
        else:
            self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Clears resource containers (all if none are named) and closes the sessions of a target, on all tasks of its
        cluster that the config's device_filters let see. NotFoundError: a target of an unknown kind."""
        data = _config_bytes(config)
        _core.Session.reset(compat.as_str(target or ""), [compat.as_str(c) for c in containers or ()], data)


class InteractiveSession(BaseSession):
    """A session that is the default one from its making on until it is closed."""

    _count_lock = threading.Lock()
    _active_session_count = 0

    def __init__(self, target="", graph=None, config=None):
        if not config:
            from penstock import proto
            config = proto.message("tensorflow.ConfigProto")()
            config.gpu_options.allow_growth = True
        config.graph_options.place_pruned_graph = True
        super().__init__(target, graph, config)
        with InteractiveSession._count_lock:
            if InteractiveSession._active_session_count > 0:
                import warnings
                warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some "
                              "cases. You must explicitly call `InteractiveSession.close()` to release resources held "
                              "by the other session(s).", stacklevel=2)
            InteractiveSession._active_session_count += 1
        self._explicitly_closed = False
        defaults._default_session_stack.stack.append(self)
        self._explicit_graph = graph
        if graph is not None:
            defaults._default_graph_stack.stack.append(graph)

    def close(self):
        """Frees what it holds; it is no longer the default session."""
        super().close()
        if getattr(self, "_explicitly_closed", True):
            return
        with InteractiveSession._count_lock:
            InteractiveSession._active_session_count -= 1
            self._explicitly_closed = True
        _remove_last(defaults._default_session_stack.stack, self)
        if self._explicit_graph is not None:
            _remove_last(defaults._default_graph_stack.stack, self._explicit_graph)


def _remove_last(stack_list, item):
    for i in range(len(stack_list) - 1, -1, -1):
        if stack_list[i] is item:
            del stack_list[i]
            return
