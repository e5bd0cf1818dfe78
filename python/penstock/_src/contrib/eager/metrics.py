"""Metrics as objects: calling one takes a batch in, `result` gives the value of all batches so far."""
import re

from penstock._src.tf_function import def_function
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary_ops_v2 as summary
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import tracking


class Metric(tracking.AutoTrackable):
    """To be subclassed: `build` makes variables by `add_variable`, `call` changes them, `result` computes from them."""

    def __init__(self, name=None, use_global_variables=False):
        self._built, self._vars, self._start = False, [], []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        plain = re.sub("[^A-Za-z0-9.]", "_", name)
        with variable_scope.variable_scope(plain, use_resource=True, reuse=False) as scope:
            self._name = name + scope.name[scope.name.rfind(plain) + len(plain):]
            self._scope = scope
        if not ops.executing_eagerly():
            self.call = def_function.function(self.call, autograph=False)

    def __call__(self, *args, **kwargs):
        """Takes a batch in; what `call` returns."""
        if not self._built:
            with variable_scope.variable_scope(self._scope):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    @property
    def name(self):
        """The metric's name."""
        return self._name

    @property
    def variables(self):
        """The variables that hold what was taken in."""
        return self._vars

    def init_variables(self):
        """Forgets all batches; in graphs the operation that does so."""
        if not ops.executing_eagerly():
            return control_flow_ops.group([v.initializer for v in self._vars])
        for variable, start in zip(self._vars, self._start):
            variable.assign(start)
        return None

    def build(self, *args, **kwargs):
        """Makes the variables; called with the first batch."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args, **kwargs):
        """Takes a batch in."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """The metric's value."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self):
        """The result; eagerly, the function that gives it."""
        return self.result if ops.executing_eagerly() else self.result()

    def aggregate(self, metrics):
        """Adds what other metrics of this class have taken in. TypeError, ValueError: of another class, other
        variables."""
        for other in metrics:
            if type(self) is not type(other):
                raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{type(other)}'.")
        for i, variable in enumerate(self._vars):
            if any(other._vars[i].name != variable.name for other in metrics):
                raise ValueError("All metrics must have variables in the same order.")
            variable.assign_add(math_ops.add_n([other._vars[i] for other in metrics]))

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """A variable of the metric. RuntimeError: outside of `build`."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        eager, keys = ops.executing_eagerly(), ops.GraphKeys
        collections = None if eager else [
            keys.GLOBAL_VARIABLES if self._use_global_variables else keys.LOCAL_VARIABLES, keys.METRIC_VARIABLES]
        variable = variable_scope.get_variable(name, shape, dtype, initializer, trainable=False,
                                               collections=collections, use_resource=True)
        self._vars.append(variable)
        if eager:
            self._start.append(variable.read_value())
        return variable


class Mean(Metric):
    """The mean of all values, by their weights if there are any."""

    def __init__(self, name=None, dtype=dtypes.float64, use_global_variables=False):
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args, **kwargs):
        self.numer = self.add_variable("numer", (), self.dtype, init_ops.zeros_initializer)
        self.denom = self.add_variable("denom", (), self.dtype, init_ops.zeros_initializer)

    def call(self, values, weights=None):
        """Takes values in; returns the arguments."""
        if weights is None:
            self.denom.assign_add(math_ops.cast(array_ops.size(values), self.dtype))
            values = math_ops.reduce_sum(values)
            self.numer.assign_add(math_ops.cast(values, self.dtype))
            return values
        weights = math_ops.cast(weights, self.dtype)
        self.denom.assign_add(math_ops.reduce_sum(weights))
        values = math_ops.cast(values, self.dtype) * weights
        self.numer.assign_add(math_ops.reduce_sum(values))
        return values, weights

    def result(self, write_summary=True):
        """The mean; a summary of it is written unless `write_summary` is False."""
        mean = self.numer / self.denom
        if write_summary is not False:
            summary.scalar(name=self.name, tensor=mean)
        return mean


class _Matches(Mean):
    """How often `_match` holds."""

    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name=name, dtype=dtype)

    def call(self, labels, predictions, weights=None):
        """Takes a batch in; returns the arguments. InvalidArgumentError: labels and predictions do not fit."""
        super().call(math_ops.cast(self._match(labels, predictions), self.dtype), weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    @staticmethod
    def _check(labels, predictions):
        check_ops.assert_equal(array_ops.shape(labels), array_ops.shape(predictions),
                               message="Shapes of labels and predictions are unequal")


class Accuracy(_Matches):
    """How often predictions are the labels."""

    def _match(self, labels, predictions):
        self._check(labels, predictions)
        return math_ops.equal(labels, predictions)


class CategoricalAccuracy(_Matches):
    """How often predictions are largest where the labels are."""

    def _match(self, labels, predictions):
        self._check(labels, predictions)
        return math_ops.equal(math_ops.argmax(labels, axis=-1), math_ops.argmax(predictions, axis=-1))


class BinaryAccuracy(_Matches):
    """How often predictions are above a threshold where labels are not zero, and below elsewhere."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _match(self, labels, predictions):
        self._check(labels, predictions)
        return math_ops.equal(math_ops.cast(labels, dtypes.bool), ops.convert_to_tensor(predictions) > self.threshold)


class SparseAccuracy(_Matches):
    """How often predictions are largest for the class that the labels name."""

    def _match(self, labels, predictions):
        check_ops.assert_equal(array_ops.shape(labels), array_ops.shape(predictions)[0],
                               message="First axis of labels and predictions is unequal")
        return math_ops.equal(math_ops.cast(labels, dtypes.int64), math_ops.argmax(predictions, axis=-1))
