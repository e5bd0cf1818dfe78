"""Optimizers that are not part of the graph: SciPy's."""
import itertools

import numpy as np

from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.gradient import gradients_impl
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging


class ExternalOptimizerInterface:
    """Minimizes a loss by a function of one vector, in which all variables stand one behind the other.

    A subclass implements `_minimize`. `equalities` are to be 0, `inequalities` not below 0; `var_to_bounds` has pairs
    (lower, upper) of variables.
    """

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = variables.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._pack_bounds(var_to_bounds)
        self._update_placeholders = [array_ops.placeholder(var.dtype.base_dtype) for var in self._vars]
        self._var_updates = [var.assign(array_ops.reshape(placeholder, var.get_shape().as_list()))
                             for var, placeholder in zip(self._vars, self._update_placeholders)]
        gradients_of = [self._gradients(tensor) for tensor in [loss, *self._equalities, *self._inequalities]]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad, *packed = (self._pack(grads) for grads in gradients_of)
        self._packed_equality_grads = packed[:len(self._equalities)]
        self._packed_inequality_grads = packed[len(self._equalities):]
        ends = list(itertools.accumulate((var.get_shape().num_elements() for var in self._vars), initial=0))
        self._packing_slices = [slice(start, end) for start, end in zip(ends, ends[1:])]

    def _pack_bounds(self, var_to_bounds):
        packed = []
        for var in self._vars:
            lower, upper = var_to_bounds.get(var, (-np.inf, np.inf))
            shape = var.get_shape().as_list()
            packed.extend(zip(np.broadcast_to(lower, shape).flat, np.broadcast_to(upper, shape).flat))
        return packed

    def _gradients(self, tensor):
        found = gradients_impl.gradients(tensor, self._vars)
        return [array_ops.zeros_like(var) if grad is None else grad for var, grad in zip(self._vars, found)]

    def minimize(self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None,
                 **run_kwargs):
        """Gives the variables the values for which the loss is least.

        `loss_callback` gets the values of `fetches` whenever the loss is computed, `step_callback` the vector after
        each step.
        """
        session = session or ops.get_default_session()
        feed_dict = feed_dict or {}
        fetches = fetches or []

        def function(tensors, callback=None):
            return self._make_eval_func(tensors, session, feed_dict, fetches, callback)

        packed = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=[function(tensor) for tensor in self._equalities],
            equality_grad_funcs=[function(tensor) for tensor in self._packed_equality_grads],
            inequality_funcs=[function(tensor) for tensor in self._inequalities],
            inequality_grad_funcs=[function(tensor) for tensor in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds, step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs)
        values = [packed[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
                  inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
                                  "method.")

    @staticmethod
    def _pack(tensors):
        if not tensors:
            return None
        flat = [array_ops.reshape(tensor, [-1]) for tensor in tensors]
        return flat[0] if len(flat) == 1 else array_ops.concat(flat, 0)

    def _make_eval_func(self, tensors, session, feed_dict, fetches, callback=None):
        tensors = tensors if isinstance(tensors, list) else [tensors]

        def evaluate(x):
            feeds = {var: x[part].reshape(var.get_shape().as_list())
                     for var, part in zip(self._vars, self._packing_slices)}
            feeds.update(feed_dict)
            values = session.run(tensors + fetches, feed_dict=feeds)
            if callable(callback):
                callback(*values[len(tensors):])
            return values[:len(tensors)]

        return evaluate


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """scipy.optimize.minimize, by L-BFGS-B unless the keyword `method` says otherwise. ImportError without SciPy.

    ValueError for a keyword that is set here.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
                  inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):

        def loss_and_gradient(x):
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype("float64")

        optimizer_kwargs = dict(optimizer_kwargs)
        method = optimizer_kwargs.pop("method", self._DEFAULT_METHOD)
        constraints = [{"type": kind, "fun": function, "jac": gradient}
                       for kind, functions, gradients_of in (("eq", equality_funcs, equality_grad_funcs),
                                                             ("ineq", inequality_funcs, inequality_grad_funcs))
                       for function, gradient in zip(functions, gradients_of)]
        arguments = {"jac": True, "callback": step_callback, "method": method, "constraints": constraints,
                     "bounds": packed_bounds}
        for name in arguments:
            if name in optimizer_kwargs:
                raise ValueError("Bounds must be set using the var_to_bounds argument" if name == "bounds" else
                                 "Optimizer keyword arg '{}' is set automatically and cannot be injected manually"
                                 .format(name))
        import scipy.optimize
        result = scipy.optimize.minimize(loss_and_gradient, initial_val, **arguments, **optimizer_kwargs)
        lines = ["Optimization terminated with:", "  Message: %s" % result.message,
                 "  Objective function value: %f" % result.fun]
        if hasattr(result, "nit"):
            lines.append("  Number of iterations: %d" % result.nit)
        if hasattr(result, "nfev"):
            lines.append("  Number of functions evaluations: %d" % result.nfev)
        logging.info("\n".join(lines))
        return result["x"]
