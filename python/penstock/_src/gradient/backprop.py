"""GradientTape, and the functions of gradients built on it."""
import contextlib
import functools
import operator
from typing import Any

from penstock import _core
from penstock._src.gradient import graph_tape
from penstock._src.function.graph import from_core, to_core
from penstock._src.graph.definitions import attr_values
from penstock._src.graph import composite_tensor
from penstock._src.gradient import composite_tensor_gradient
from penstock._src.graph import conversion
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import gen
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.tapes import recording, stop_recording  # noqa: F401
from penstock._src.graph.tensor import Tensor
from penstock._src.gradient.unconnected_gradients import UnconnectedGradients
from penstock._src.base import compat, hooks, nest


_jacobian = hooks.Hook("jacobian")


def used_up():
    """What is raised of a second gradient of a tape that is not persistent."""
    return RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
                        if tf2.enabled() else
                        "GradientTape.gradient can only be called once on non-persistent tapes.")


def may_differentiate_twice():
    """Whether what is recorded now may become a gradient of a gradient: several tapes record, or one that stays."""
    tapes = recording.tapes
    return len(tapes) > 1 or len(tapes) == 1 and tapes[0]._persistent


def _is_trainable(dtype):
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base.name in ("resource", "variant")


def _handle(value):
    """What a tape knows a source or target by."""
    if hasattr(value, "handle") and not isinstance(value, Tensor):
        return value.handle
    if isinstance(value, indexed_slices.IndexedSlices):
        return value.values
    return value


def _where_recorded(targets, output_gradients=None):
    """A context in which the gradient of targets is built: the graph that they are of, or eager execution, if a
    function asks for what was recorded around it. What flows into them must be of there too."""
    graph = ops.get_default_graph()
    places = {None if t._is_eager else t.graph for t in targets}
    flowing = [g for g in nest.flatten(output_gradients, expand_composites=True) if isinstance(g, Tensor)]
    if not graph.building_function or len(places) != 1 or graph in places or any(
            not g._is_eager and g.graph is graph for g in flowing):
        return contextlib.nullcontext()
    place, = places
    return ops.init_scope() if place is None else place.as_default()


class GradientTape:
    """Records the ops that run under it, for `gradient`.

    persistent: whether `gradient` may be called more than once. watch_accessed_variables: whether trainable variables
    are watched when they are read; other values are watched when `watch` says so.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape: Any = None
        self._variables = {}
        self._symbols = graph_tape.Recording()
        self._recording = False

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *exc):
        if self._recording:
            self._stop()

    def _start(self):
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._tape is None:
            self._tape, self._variables, self._symbols = _core.Tape(), {}, graph_tape.Recording()
        self._tape.push()
        self._symbols.start()
        recording.tapes.append(self)
        self._recording = True

    def _stop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._tape.pop()
        self._symbols.stop()
        recording.tapes.remove(self)
        self._recording = False

    def _watch_variable(self, variable):
        if id(variable) not in self._variables:
            self._variables[id(variable)] = variable
            if variable.handle._is_eager:
                self._tape.watch(variable.handle)

    def watch(self, tensor):
        """Records what depends on these tensors, or those that they are made of."""
        for value in nest.flatten(tensor, expand_composites=True):
            if not (isinstance(value, Tensor) or hasattr(value, "handle") or
                    isinstance(value, indexed_slices.IndexedSlices)):
                raise ValueError(f"Passed in object of type {type(value)}, not tf.Tensor")
            if not _is_trainable(value.dtype):
                import logging
                logging.getLogger("tensorflow").warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", value.dtype)
            if self._tape is None:
                raise AttributeError("The tape is not recording: use it as a context manager")
            if hasattr(value, "handle") and not isinstance(value, Tensor):
                self._watch_variable(value)
            else:
                if _handle(value)._is_eager:
                    self._tape.watch(_handle(value))
                self._symbols.watch(_handle(value))  # functions may capture it

    def stop_recording(self):  # noqa: F811
        """Context manager under which nothing is recorded."""
        return _Paused(self)

    def reset(self):
        """Forgets what was recorded."""
        self._stop()
        self._tape = None
        self._start()

    def watched_variables(self):
        """The variables that are watched, in the order in which they were made."""
        def age(variable):
            handle = variable.handle
            return handle._eager_id if handle._is_eager else handle.op._node
        return tuple(sorted(self._variables.values(), key=age))

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivative of `target` with respect to each source, in the structure of `sources`.

        output_gradients: what flows into the targets instead of ones. A source on which the target does not depend
        gives None, or zeros if unconnected_gradients says so. RuntimeError if the tape was used up, TypeError if there
        is no target.
        """
        if self._tape is None:
            raise used_up()
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                            "CompositeTensors to be differentiated, but received None.")
        if self._recording and not self._persistent:
            self._stop()
        try:
            unconnected = UnconnectedGradients(unconnected_gradients)
        except ValueError:
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
        targets = []
        for value in composite_tensor_gradient.get_flat_tensors_for_gradients(nest.flatten(target)):
            if not _is_trainable(value.dtype):
                import logging
                logging.getLogger("tensorflow").warning(
                    "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                    "GradientTape.gradient, got %r", value.dtype)
            if hasattr(value, "handle") and not isinstance(value, Tensor):
                value = self._read(value)
            targets.append(_handle(value))
        given = nest.flatten(sources)
        flat = composite_tensor_gradient.get_flat_tensors_for_gradients(given)
        for value in flat:
            if not (isinstance(value, (Tensor, indexed_slices.IndexedSlices)) or hasattr(value, "handle")):
                raise ValueError(f"Passed in object of type {type(value)}, not tf.Tensor")
        if output_gradients is not None:
            output_gradients = composite_tensor_gradient.get_flat_tensors_for_gradients(
                [g if g is None or isinstance(g, composite_tensor.CompositeTensor)
                 else conversion.internal_convert_to_tensor(g) for g in nest.flatten(output_gradients)])
        with _where_recorded(targets, output_gradients):
            if not ops.executing_eagerly() or any(not t._is_eager for t in targets):
                results = self._symbols.gradient(self._variables, targets, flat, output_gradients)
            else:
                results = self._eager_gradient(targets, flat, output_gradients)
        if unconnected is UnconnectedGradients.ZERO:
            results = [gen.zeros_like(v.value() if hasattr(v, "handle") and not isinstance(v, Tensor) else v)
                       if g is None else g for g, v in zip(results, flat)]
        if not self._persistent:
            self._tape, self._symbols = None, graph_tape.Recording()
        results = composite_tensor_gradient.replace_flat_tensors_for_gradients(given, results)
        return nest.pack_sequence_as(sources, results) if nest.is_sequence(sources) else results[0]

    def _read(self, variable):
        """A variable's value, read under this tape."""
        with contextlib.nullcontext() if self._recording else _Resumed(self):
            return conversion.convert_to_tensor(variable)

    def _eager_gradient(self, targets, flat, output_gradients):
        flowing = []
        if output_gradients is not None:
            flowing = [None if g is None else to_core(g) for g in output_gradients]
        return [from_core(g) for g in self._tape.gradient(targets, [_handle(v) for v in flat], flowing)]

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """The derivative of each element of `target`: shape target.shape + source.shape.

        In graphs the rows are computed at once, or one after the other if not experimental_use_pfor.
        """
        self._check_persistent(experimental_use_pfor, "jacobian")
        with _where_recorded([_handle(target)]):
            return _jacobian.get().jacobian(self, target, sources, unconnected_gradients, experimental_use_pfor,
                                     parallel_iterations)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        """jacobian for targets of which each row depends on the same row of `source` only: shape [batch, target's
        other dimensions, source's other dimensions]."""
        self._check_persistent(experimental_use_pfor, "batch_jacobian")
        with _where_recorded([_handle(target)]):
            return _jacobian.get().batch_jacobian(self, target, source, unconnected_gradients, experimental_use_pfor,
                                           parallel_iterations)

    def _check_persistent(self, experimental_use_pfor, what):
        if self._tape is None:
            raise used_up()
        if not experimental_use_pfor and not self._persistent and ops.executing_eagerly():
            raise RuntimeError(f"GradientTape must be created with persistent=True to compute the {what} with eager "
                               "execution enabled and with  experimental_use_pfor set to False.")


class _Resumed:
    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        self._tape._start()

    def __exit__(self, *exc):
        self._tape._stop()


class _Paused:
    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        if self._tape._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._tape._stop()

    def __exit__(self, *exc):
        self._tape._start()


# Gradients as functions


def _numbers(f, params):
    import inspect
    if params is None:
        names = inspect.getfullargspec(f).args
        if names and names[0] == "self":
            names = names[1:]
        return list(range(len(names))) if names else None
    if not params:
        raise ValueError("At least one parameter must be specified in `params`")
    if all(isinstance(p, str) for p in params):
        names = inspect.getfullargspec(f).args
        return [names.index(p) for p in params]
    if all(isinstance(p, int) for p in params):
        return list(params)
    raise ValueError("params must be all strings or all integers.")


def make_vjp(f, params=None, persistent=True):
    """The function of f's arguments that gives f's value and a function from output gradients to gradients."""
    numbers = _numbers(f, params)

    @functools.wraps(f)
    def decorated(*given, **kwargs):
        args = list(given)
        wanted = range(len(args)) if numbers is None else numbers
        for i in wanted:
            args[i] = _fresh(conversion.internal_convert_to_tensor(args[i]))
        tape = GradientTape(persistent=persistent)
        with tape:
            for i in wanted:
                tape.watch(args[i])
            result = f(*args, **kwargs)
            if result is None:
                raise ValueError("Cannot differentiate a function that returns None; did you forget to return a value "
                                 f"from {f.__name__}?")
            flat = nest.flatten(result)
            flat = [gen.identity(conversion.internal_convert_to_tensor(x)) for x in flat]
            result = nest.pack_sequence_as(result, flat) if nest.is_sequence(result) else flat[0]

        def vjp(dy=None):
            dy = None if dy is None else [conversion.internal_convert_to_tensor(x) for x in nest.flatten(dy)]
            return tape.gradient(flat, [args[i] for i in wanted], dy)

        return result, vjp

    return decorated


def _fresh(tensor):
    """The same value with an identity of its own, which tapes around know of."""
    return gen.identity(tensor) if not tensor._is_eager or _core.tape_is_active() else _core.eager_alias(tensor)


def val_and_grad_function(f, params=None):
    """The function of f's arguments that gives f's value and its gradients by the arguments in `params`."""
    made = make_vjp(f, params, persistent=False)

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        value, vjp = made(*args)
        return value, vjp(dy)

    return decorated


def gradients_function(f, params=None):
    """The function of f's arguments that gives its gradients by the arguments in `params`."""
    both = val_and_grad_function(f, params)

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return both(*args, **kwargs)[1]

    return decorated


def implicit_val_and_grad(f):
    """The function that gives f's value and [(gradient, variable)] of the trainable variables that f reads."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        tape = GradientTape()
        with tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError("Cannot differentiate a function that returns None; did you forget to return a value from "
                             f"{f.__name__}?")
        variables = sorted(tape.watched_variables(), key=operator.attrgetter("name"))
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, variables), variables))

    return decorated


def implicit_grad(f):
    """The function that gives [(gradient, variable)] of the trainable variables that f reads."""
    both = implicit_val_and_grad(f)

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return both(*args, **kwargs)[1]

    return decorated


def aggregate_indexed_slices_gradients(grads):
    """The sum of gradients of which some are IndexedSlices; None counts as nothing, and alone gives None."""
    from penstock._src.core_ops import math_ops, math_slices
    from penstock._src.core_ops import array_ops
    grads = [g for g in grads if g is not None]
    if len(grads) < 2:
        return grads[0] if grads else None
    if any(isinstance(g, Tensor) for g in grads):
        return math_ops.add_n([conversion.convert_to_tensor(g) for g in grads])
    grads = math_slices._as_indexed_slices_list(grads)
    return indexed_slices.IndexedSlices(array_ops.concat([g.values for g in grads], axis=0),
                                        array_ops.concat([g.indices for g in grads], axis=0), grads[0].dense_shape)


_ATTR_KINDS = {"string": attr_values.TF_ATTR_STRING, "int": attr_values.TF_ATTR_INT, "float": attr_values.TF_ATTR_FLOAT,
               "bool": attr_values.TF_ATTR_BOOL, "type": attr_values.TF_ATTR_TYPE, "shape": attr_values.TF_ATTR_SHAPE,
               "tensor": attr_values.TF_ATTR_TENSOR, "func": attr_values.TF_ATTR_FUNC}


def op_attr_type(op_type, attr_name):
    """The kind of an op's attribute (`TF_ATTR_INT`, ...), in a list if it is a list of them.

    NotFoundError: there is no such op. InvalidArgumentError: it has no such attribute.
    """
    definition = _core.op_def(op_type)
    if definition is None:
        raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}'")
    kinds = {attr.name: attr.type for attr in definition.attrs}
    if attr_name not in kinds:
        raise errors.InvalidArgumentError(None, None, f"Attribute '{attr_name}' does not exist for this operation")
    kind = kinds[attr_name]
    return [_ATTR_KINDS[kind[5:-1]]] if kind.startswith("list(") else _ATTR_KINDS[kind]


def make_attr(attr_type, value):
    """An attribute's value as Operation.get_attr would give it, of a value that op functions take."""
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], each) for each in value]
    if attr_type == attr_values.TF_ATTR_TYPE:
        return dtypes.as_dtype(value)
    if isinstance(value, str):
        return compat.as_bytes(value)
    if attr_type == attr_values.TF_ATTR_SHAPE:
        return tensor_shape.as_shape(value).as_proto()
    return value
