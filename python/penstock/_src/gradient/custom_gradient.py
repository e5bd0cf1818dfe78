"""Functions with a gradient of their own."""
import functools
import inspect
import logging
import types

from penstock import _core
from penstock._src.graph import gen, ops, registry
from penstock._src.gradient.composite_tensor_gradient import (
    get_flat_tensors_for_gradients, replace_flat_tensors_for_gradients)
from penstock._src.function.func_graph import copy_handle_data  # noqa: F401  (one of this module's names)
from penstock._src.base import nest

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]

_VARIABLE_OPS = ("VariableV2", "VarHandleOp")


def custom_gradient(f=None):
    """Decorator for a function that returns (result, gradient function).

    The gradient function takes the gradients of the results and returns those of the arguments; if `f` uses (resource)
    variables, it takes `variables=` too and returns (gradients of the arguments, gradients of the variables).
    """
    if f is None:
        return custom_gradient

    return _WithGradient(f)


class _WithGradient:
    """A function with a gradient of its own. As an attribute of a class it is a method."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self._f = f

    __signature__ = property(lambda self: inspect.signature(self._f))

    def __get__(self, instance, owner):
        return self if instance is None else _WithGradient(types.MethodType(self._f, instance))

    def __call__(self, *args, **kwargs):
        if ops.executing_eagerly():
            return _call_eagerly(self._f, args, kwargs)
        if kwargs and not ops.get_default_graph().building_function:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager "
                             "execution is enabled.")
        return _call(functools.partial(self._f, **kwargs) if kwargs else self._f, args)


def _call_eagerly(f, args, kwargs):
    from penstock._src.gradient import backprop
    from penstock._src.function.graph import filled, record_function, to_core
    outer = backprop.GradientTape()
    with outer:  # finds the variables that f reads; nothing else is recorded but what the gradient function knows
        result, grad_fn = f(*args, **kwargs)
    given = {id(x) for x in nest.flatten(args)}
    variables = [v for v in outer.watched_variables() if id(v) not in given]
    args = [ops.convert_to_tensor(x) for x in get_flat_tensors_for_gradients(nest.flatten(args))]
    # Values of another identity: tapes know them by what is recorded below, not by the ops inside of f.
    result = nest.map_structure(lambda x: _core.eager_alias(ops.convert_to_tensor(x)), result, expand_composites=True)
    values = nest.flatten(result)
    flat = get_flat_tensors_for_gradients(values)
    signature = inspect.getfullargspec(grad_fn)
    if variables and not ("variables" in signature.args or "variables" in signature.kwonlyargs or signature.varkw):
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                        "keyword argument 'variables'.")

    def backward(dys):
        dys = replace_flat_tensors_for_gradients(values, filled(dys, flat))
        if variables:
            of_args, of_variables = grad_fn(*dys, variables=list(variables))
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_args, of_variables = grad_fn(*dys), []
        of_args = get_flat_tensors_for_gradients(nest.flatten(of_args))
        if len(of_args) != len(args):
            raise ValueError(f"custom_gradient function expected to return {len(args)} gradients, but returned "
                             f"{len(of_args)} instead.")
        return [to_core(g) for g in of_args + list(of_variables)]

    record_function(args + [v.handle for v in variables], flat, backward)
    return result


def _call(f, args):
    name = f"CustomGradient-{ops.uid()}"
    structure, inner = list(args), nest.map_structure(ops.convert_to_tensor, list(args), expand_composites=True)
    args = get_flat_tensors_for_gradients(nest.flatten(inner))
    graph = ops.get_default_graph()
    watched, graph._watched = getattr(graph, "_watched", None), {}
    result, grad_fn = f(*inner)
    read = [reference() for reference in graph._watched.values()]
    if watched is None:
        del graph._watched
    else:
        graph._watched = {**watched, **graph._watched}
    result = nest.map_structure(ops.convert_to_tensor, result, expand_composites=True)
    values = nest.flatten(result)
    flat = get_flat_tensors_for_gradients(values)
    if graph.building_function:
        of_args = {id(v.handle) for v in nest.flatten(structure) if hasattr(v, "handle")}
        variables = [v for v in read if v is not None and v.trainable and id(v.handle) not in of_args]
    else:
        variables = sorted(get_dependent_variables(args, flat), key=lambda v: v.op._id)
    if any(not hasattr(v, "handle") for v in variables):
        raise TypeError("All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
                        "Ensure that no `variable_scope` is created with `use_resource=False`.")
    signature = inspect.getfullargspec(grad_fn)
    takes_variables = "variables" in signature.args or "variables" in signature.kwonlyargs or signature.varkw
    if variables and not takes_variables:
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                        "keyword argument 'variables'.")
    if takes_variables and not variables and not signature.varkw:
        logging.getLogger("tensorflow").warning(
            "@custom_gradient grad_fn has 'variables' in signature, but no ResourceVariables were used on the forward "
            "pass.")
    count = len(flat)

    @ops.RegisterGradient(name)
    def gradient(unused_op, *grads):
        grads = replace_flat_tensors_for_gradients(values, grads[:count])
        of_variables = []
        if variables:
            of_args, of_variables = grad_fn(*grads, variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_args = grad_fn(*grads)
        return [None] * count + get_flat_tensors_for_gradients(nest.flatten(of_args)) + list(of_variables)

    with ops.get_default_graph().gradient_override_map({"IdentityN": name}):
        outputs = gen.identity_n(flat + args + variables)
    values = replace_flat_tensors_for_gradients(values, outputs[:count])
    return nest.pack_sequence_as(result, values) if nest.is_sequence(result) else values[0]


def grad_pass_through(f):
    """A function whose gradient is that of the identity."""

    @functools.wraps(f)
    def run(*args, **kwargs):
        def grad(*grads, **keywords):
            variables = keywords.get("variables")
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args, **kwargs), grad

    return custom_gradient(run)


def recompute_grad(f):
    """A function whose intermediate values are computed anew for its gradient rather than kept."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        from penstock._src.gradient import gradients_impl

        def run(*inputs):
            result = f(*inputs, **kwargs)

            def grad(*dys, variables=None):
                if ops.executing_eagerly():
                    return _recorded_again(f, inputs, kwargs, dys, variables)
                with ops.control_dependencies(dys):
                    copies = [gen.identity(x) for x in inputs]
                    again = nest.flatten(f(*copies, **kwargs))
                sources = copies + list(variables or [])
                grads = gradients_impl.gradients(again, sources, list(dys))
                of_args, of_variables = grads[:len(copies)], grads[len(copies):]
                return of_args if variables is None else (of_args, of_variables)

            return result, grad

        return custom_gradient(run)(*args)

    return decorated


def _recorded_again(f, inputs, kwargs, dys, variables):
    """The gradients of a call that is made anew under a tape."""
    from penstock._src.gradient import backprop
    inputs = nest.map_structure(gen.identity, list(inputs))
    with backprop.GradientTape() as tape:
        tape.watch(nest.flatten(inputs) + list(variables or []))
        again = nest.flatten(f(*inputs, **kwargs))
    grads = tape.gradient(again, nest.flatten(inputs) + list(variables or []), list(dys))
    count = len(grads) - len(variables or [])
    return grads[:count] if variables is None else (grads[:count], grads[count:])


def get_dependent_variables(input_ops, output_ops):
    """The trainable variables that the outputs depend on, by ways that can be differentiated and do not go through the
    inputs."""
    known = {v.op.name: v for v in ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)}
    stop = {id(x) for x in nest.flatten(input_ops)}
    # An output that is an input too depends on no variable; the copies have a way of their own.
    pending = [gen.identity(x) for x in nest.flatten(output_ops)]
    seen, found = set(), []
    while pending:
        op = pending.pop().op
        if op in seen or not _is_differentiable(op):
            continue
        seen.add(op)
        if op.type in _VARIABLE_OPS:
            variable = known.get(op.name)
            if variable is not None and variable.trainable:
                found.append(variable)
        else:
            pending += [x for x in op.inputs if id(x) not in stop]
    return found


def _is_differentiable(op):
    if op.type in _VARIABLE_OPS or op.type in registry.gradient_registry.list():
        return True
    definition = _core.op_def(op.type)
    return definition is None or definition.has_gradient or "_gradient_op_type" in op.node_def.attr
