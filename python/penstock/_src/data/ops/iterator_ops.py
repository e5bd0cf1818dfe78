"""Iterators: of graphs, as version 1 has them, and those of Python's loops."""
import itertools
import warnings

import numpy as np

from penstock import _core
from penstock._src.autograph.core import ag_ctx
from penstock._src.data.ops import optional_ops
from penstock._src.data.ops.options import ExternalStatePolicy
from penstock._src.data.util import nest, structure
from penstock._src.graph import (
    composite_spec, composite_tensor, dtypes, errors, gen, ops, random_seed, sparse_tensor, tensor_shape, type_spec)
from penstock._src.function import defun
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from penstock._src.base import tf_logging as logging
from penstock._src.ops.state.saveable_object import SaveableObject, SaveSpec
from penstock._src.ops.state import base as trackable
from penstock._src.base import deprecation
from penstock._src.base import nest as whole_nest

GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that "
    "`Iterator.get_next()` is being called inside a training loop, which will cause gradual slowdown and eventual "
    "resource exhaustion. If this is the case, restructure your code to call `next_element = iterator.get_next()` once "
    "outside the loop, and use `next_element` as the input to some computation that is invoked inside the loop.")
GET_NEXT_CALL_ERROR_THRESHOLD = 32
GET_NEXT_CALL_ERROR_MESSAGE = (
    "An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that the `for elem in "
    "dataset: ...` idiom is used within tf.function with AutoGraph disabled. This idiom is only supported when "
    "AutoGraph is enabled.")
GLOBAL_ITERATORS = "iterators"


def _on_cpu():
    """A device scope for iterators: none if the program has said where they go."""
    stack = ops.get_default_graph()._device_function_stack
    return ops.device("/cpu:0") if not stack else ops.NullContextmanager()


class _LegacyProperties:
    """What version 1 asks of an element's spec."""

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_classes(iterator)`.")
    def output_classes(self):
        """The classes of an element's parts."""
        return structure.legacy_classes(self.element_spec)

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_shapes(iterator)`.")
    def output_shapes(self):
        """The shapes of an element's parts."""
        return structure.legacy_shapes(self.element_spec)

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_types(iterator)`.")
    def output_types(self):
        """The types of an element's parts."""
        return structure.legacy_types(self.element_spec)

    def get_next_as_optional(self):
        """The next element as an Optional, which is empty behind the last one."""
        return get_next_as_optional(self)

    def _gather_saveables_for_checkpoint(self):
        return {"ITERATOR": lambda name: _IteratorSaveable(self._iterator_resource, name, self._state_policy())}

    def _state_policy(self):
        """What becomes of functions with state when it is saved; None: what is usual."""
        dataset = getattr(self, "_dataset", None)
        return None if dataset is None else dataset.options().experimental_external_state_policy


def _described(output_types, output_shapes, output_classes):
    """(types, shapes, classes, spec) with what was left out filled in."""
    output_types = nest.map_structure(dtypes.as_dtype, output_types)
    if output_shapes is None:
        output_shapes = nest.map_structure(lambda _: tensor_shape.TensorShape(None), output_types)
    else:
        output_shapes = nest.map_structure_up_to(output_types, tensor_shape.as_shape, output_shapes)
    if output_classes is None:
        output_classes = nest.map_structure(lambda _: ops.Tensor, output_types)
    nest.assert_same_structure(output_types, output_shapes)
    spec = structure.convert_legacy_structure(output_types, output_shapes, output_classes)
    return output_types, output_shapes, output_classes, {
        "output_types": structure.get_flat_tensor_types(spec), "output_shapes": structure.get_flat_tensor_shapes(spec)}


class Iterator(_LegacyProperties, trackable.Trackable):
    """An iterator of a graph: `get_next()` gives tensors whose values are the next element's in each run."""

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError("If `structure` is not specified, all of `output_types`, `output_shapes`, and "
                             "`output_classes` must be specified.")
        self._element_spec = structure.convert_legacy_structure(output_types, output_shapes, output_classes)
        self._flat = {"output_types": structure.get_flat_tensor_types(self._element_spec),
                      "output_shapes": structure.get_flat_tensor_shapes(self._element_spec)}
        self._string_handle = gen.iterator_to_string_handle(iterator_resource)
        self._get_next_call_count = 0
        ops.add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator without a dataset: `make_initializer(dataset)` gives operations that set one."""
        types, shapes, classes, flat = _described(output_types, output_shapes, output_classes)
        with _on_cpu():
            resource = gen.iterator_v2(container="", shared_name=shared_name or "", **flat)
        return Iterator(resource, None, types, shapes, classes)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator whose `string_handle()` is fed."""
        types, shapes, classes, flat = _described(output_types, output_shapes, output_classes)
        string_handle = ops.convert_to_tensor(string_handle, dtype=dtypes.string)
        with _on_cpu():
            resource = gen.iterator_from_string_handle_v2(string_handle, **flat)
        return Iterator(resource, None, types, shapes, classes)

    @property
    def initializer(self):
        """The operation that begins a new iteration. ValueError if it has none."""
        if self._initializer is None:
            raise ValueError(
                "The iterator does not have an initializer. This means it was likely created using "
                "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                "`tf.data.Dataset.make_initializable_iterator()` instead." if tf2.enabled() else
                "Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that begins an iteration over `dataset`. TypeError if its elements are of another kind."""
        with ops.name_scope(name, "make_initializer") as name:
            mine, other = self._element_spec, dataset.element_spec
            types, other_types = structure.legacy_types(mine), structure.legacy_types(other)
            shapes, other_shapes = structure.legacy_shapes(mine), structure.legacy_shapes(other)
            classes, other_classes = structure.legacy_classes(mine), structure.legacy_classes(other)
            nest.assert_same_structure(types, other_types)
            nest.assert_same_structure(shapes, other_shapes)
            if any(a is not b and a != b for a, b in zip(nest.flatten(classes), nest.flatten(other_classes))):
                raise TypeError(f"Expected output classes {classes!r} but got dataset with output classes "
                                f"{other_classes!r}.")
            if any(a != b for a, b in zip(nest.flatten(types), nest.flatten(other_types))):
                raise TypeError(f"Expected output types {types!r} but got dataset with output types {other_types!r}.")
            if any(not a.is_compatible_with(b) for a, b in zip(nest.flatten(shapes), nest.flatten(other_shapes))):
                raise TypeError(f"Expected output shapes compatible with {shapes!r} but got dataset with output "
                                f"shapes {other_shapes!r}.")
        with ops.colocate_with(self._iterator_resource):
            return gen.make_iterator(dataset._variant_tensor, self._iterator_resource, name=name)

    def get_next(self, name=None):
        """The next element, in each run another one. An OutOfRangeError when it runs behind the last one."""
        self._get_next_call_count += 1
        if self._get_next_call_count > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(GET_NEXT_CALL_WARNING_MESSAGE)
        flat = gen.iterator_get_next(self._iterator_resource, name=name, **self._flat)
        return structure.from_tensor_list(self._element_spec, flat)

    def string_handle(self, name=None):
        """A string that names it, for `from_string_handle`."""
        return self._string_handle if name is None else gen.iterator_to_string_handle(self._iterator_resource,
                                                                                      name=name)

    element_spec = property(lambda self: self._element_spec, doc="The spec of an element.")


def one_shot_iterator(dataset):
    """`make_one_shot_iterator` of a DatasetV1."""
    if ops.executing_eagerly():
        return OwnedIterator(dataset)
    from penstock._src.data.util import traverse
    _warn_of_other_graphs(dataset)
    graph_seed, op_seed = random_seed.get_seed(None)

    @defun.Defun(capture_by_value=True,
                        whitelisted_stateful_ops=traverse.obtain_all_variant_tensor_ops(dataset))
    def _make_dataset():
        if graph_seed is not None:
            random_seed.set_random_seed((graph_seed + 87654321 * op_seed) % (2**63 - 1))
        return dataset._apply_options()._variant_tensor

    try:
        _make_dataset.add_to_graph(ops.get_default_graph())
    except ValueError as e:
        if "Cannot capture a stateful node" not in str(e):
            raise
        if tf2.enabled():
            raise ValueError(
                f"{e}: A likely cause of this error is that the dataset for which you are calling "
                "`make_one_shot_iterator()` captures a stateful object, such as a `tf.Variable` or "
                "`tf.lookup.StaticHashTable`, which is not supported. Use `make_initializable_iterator()` "
                "instead.") from None
        raise ValueError("Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` "
                         "does not support datasets that capture stateful objects, such as a `Variable` or "
                         "`LookupTable`. In these cases, use `Dataset.make_initializable_iterator()`. (Original "
                         f"error: {e})") from None
    return _iterator_of(dataset, gen.one_shot_iterator(dataset_factory=_make_dataset, **dataset._flat_structure), None)


def initializable_iterator(dataset, shared_name=None):
    """`make_initializable_iterator` of a DatasetV1."""
    if ops.executing_eagerly():
        raise RuntimeError("dataset.make_initializable_iterator is not supported when eager execution is enabled. "
                           "Use `for element in dataset` instead.")
    _warn_of_other_graphs(dataset)
    with_options = dataset._apply_options()
    resource = gen.iterator_v2(container="", shared_name=shared_name or "", **dataset._flat_structure)
    with ops.colocate_with(resource):
        initializer = gen.make_iterator(with_options._variant_tensor, resource)
    return _iterator_of(with_options, resource, initializer)


def _iterator_of(dataset, resource, initializer):
    return Iterator(resource, initializer, structure.get_legacy_output_types(dataset),
                    structure.get_legacy_output_shapes(dataset), structure.get_legacy_output_classes(dataset))


def _warn_of_other_graphs(dataset):
    """Warns if the dataset, or what it is made of, is of another graph than the iterator will be."""
    graph, waiting, seen = ops.get_default_graph(), [dataset], set()
    while waiting:
        one = waiting.pop()
        seen.add(id(one))
        if one._graph is not graph:
            logging.warning("The graph (%s) of the iterator is different from the graph (%s) the dataset: %s was "
                            "created in. Please ensure that all datasets in the pipeline are created in the same graph "
                            "as the iterator.", graph, one._graph, one._variant_tensor)
        waiting.extend(d for d in one._inputs() if id(d) not in seen)


_uids = itertools.count()


def _generate_shared_name(prefix):
    """A name that was not used before."""
    return f"{prefix}{next(_uids)}"


class IteratorBase(_LegacyProperties, trackable.Trackable, composite_tensor.CompositeTensor):
    """What `iter(dataset)` gives: `next(iterator)`, or `get_next()`."""

    def __iter__(self):
        return self

    @property
    def element_spec(self):
        """The spec of an element."""
        raise NotImplementedError("Iterator.element_spec")

    def get_next(self):
        """The next element. OutOfRangeError at the end."""
        raise NotImplementedError("Iterator.get_next()")


class OwnedIterator(IteratorBase):
    """An iterator of eager execution and of functions. It lives as long as its handle."""

    _calls_in_graphs = 0  # without AutoGraph, where a loop of Python's has no end

    def __init__(self, dataset=None, components=None, element_spec=None):
        if dataset is None and (components is None or element_spec is None):
            raise ValueError("When `dataset` is not provided, both `components` and `element_spec` must be specified.")
        if dataset is not None and (components is not None or element_spec is not None):
            raise ValueError("When `dataset` is provided, `element_spec` and `components` must not be specified.")
        if dataset is None:
            self._dataset = None
            self._describe(element_spec)
            self._iterator_resource = components[0] if isinstance(components, (list, tuple)) else components
            return
        self._dataset = dataset  # its functions are called as long as there is an iterator
        with _on_cpu():
            dataset = self._prepared = dataset._apply_options()
            self._describe(dataset.element_spec)
            self._iterator_resource = gen.anonymous_iterator_v3(output_types=self._types, output_shapes=self._shapes)
            gen.make_iterator(dataset._variant_tensor, self._iterator_resource)

    def _describe(self, element_spec):
        self._element_spec = element_spec
        specs = structure.get_flat_tensor_specs(element_spec)
        self._types = [spec.dtype for spec in specs]
        self._shapes = [spec.shape for spec in specs]
        self._attrs = {"output_types": [t._base for t in self._types],
                       "output_shapes": [s._to_core() for s in self._shapes]}
        self._pack = None
        if type(element_spec) is TensorSpec:
            self._pack = _first
        elif type(element_spec) is tuple and all(type(spec) is TensorSpec for spec in element_spec):
            self._pack = tuple

    def __next__(self):
        if not ops.executing_eagerly():
            if ag_ctx.control_status_ctx().status != ag_ctx.Status.ENABLED:
                self._calls_in_graphs += 1
                if self._calls_in_graphs > GET_NEXT_CALL_ERROR_THRESHOLD:
                    raise ValueError(GET_NEXT_CALL_ERROR_MESSAGE)
            return self._next_internal()
        try:
            return self._next_internal()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def _next_internal(self):
        """The next element. OutOfRangeError behind the last one."""
        if ops.executing_eagerly():
            flat = _core.eager_execute("IteratorGetNext", [self._iterator_resource], self._attrs, False)
            if self._pack is not None:
                return self._pack(flat)
        else:
            flat = gen.iterator_get_next(self._iterator_resource, output_types=self._types,
                                         output_shapes=self._shapes)
        return structure.from_compatible_tensor_list(self._element_spec, flat)

    def get_next(self, name=None):
        """The next element. OutOfRangeError behind the last one."""
        return self._next_internal()

    def __ag_for_stmt__(self, extra_test, body, get_state, set_state, symbol_names, opts):
        """A loop over it in converted code: the graph's, if one is built."""
        from penstock._src.autograph.operators import control_flow
        if ops.executing_eagerly():
            control_flow.python_for(self, extra_test, body)
        else:
            control_flow.iterator_for(self, extra_test, body, get_state, set_state, symbol_names, opts)

    element_spec = property(lambda self: self._element_spec, doc="The spec of an element.")

    @property
    def _type_spec(self):
        return IteratorSpec(self._element_spec)


IteratorV2 = OwnedIterator  # version 1's name


def _first(flat):
    return flat[0]


class IteratorSpec(type_spec.TypeSpec):
    """Of what `iter(dataset)` gives."""

    __slots__ = ("_element_spec",)
    _is_opaque = True
    value_type = property(lambda self: OwnedIterator, doc="The class of iterators.")

    def __init__(self, element_spec):
        self._element_spec = element_spec

    def _serialize(self):
        return (self._element_spec,)

    @property
    def _component_specs(self):
        return (TensorSpec([], dtypes.resource),)

    def _to_components(self, value):
        return (value._iterator_resource,)

    def _from_components(self, components):
        return OwnedIterator(components=components, element_spec=self._element_spec)

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)


def serialized(iterator_resource, external_state_policy=None):
    """Where an iterator stands, as a variant. A FailedPreconditionError when it runs if functions of it have state of
    their own, unless the policy allows that."""
    policy = external_state_policy or ExternalStatePolicy.FAIL
    return gen.serialize_iterator(iterator_resource, external_state_policy=policy.value)


class _IteratorSaveable(SaveableObject):
    """Where an iterator stands, in a checkpoint of objects."""

    def __init__(self, iterator_resource, name, external_state_policy=None):
        state = serialized(iterator_resource, external_state_policy)
        spec = SaveSpec(state, "", name + "_STATE", device=iterator_resource.device)
        super().__init__(iterator_resource, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        """The operation that puts the iterator there again."""
        with ops.colocate_with(self.op):
            return gen.deserialize_iterator(self.op, restored_tensors[0])


def get_next_as_optional(iterator):
    """The next element as an Optional, which is empty behind the last one."""
    spec = iterator.element_spec
    return optional_ops._OptionalImpl(gen.iterator_get_next_as_optional(
        iterator._iterator_resource, output_types=structure.get_flat_tensor_types(spec),
        output_shapes=structure.get_flat_tensor_shapes(spec)), spec)


# Arrays


class NumpyIterator(trackable.Trackable):
    """An iterator over elements whose tensors are arrays. A checkpoint may hold it."""

    def __init__(self, dataset):
        self._iterator = iter(dataset)

    def __repr__(self):
        return f"NumpyIterator(iterator={self._iterator})"

    def __iter__(self):
        return self

    def __next__(self):
        return whole_nest.map_structure(_as_array, next(self._iterator))

    next = __next__

    def save(self):
        """Where it stands, as a scalar string."""
        return gen.serialize_tensor(serialized(self._iterator._iterator_resource))

    def restore(self, state):
        """Goes to where `save` was called."""
        gen.deserialize_iterator(self._iterator._iterator_resource, gen.parse_tensor(state, dtypes.variant))

    _save, _restore = save, restore

    def _gather_saveables_for_checkpoint(self):
        return self._iterator._gather_saveables_for_checkpoint()


def _as_array(part):
    if part is None:
        return None
    value = part._numpy() if isinstance(part, sparse_tensor.SparseTensor) else part.numpy()
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    return value


_WITH_ARRAYS = (TensorSpec, composite_spec.SparseTensorSpec, RaggedTensorSpec, structure.NoneTensorSpec)


def numpy_iterator(dataset):
    """See Dataset.as_numpy_iterator."""
    if not ops.executing_eagerly():
        raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
    for spec in nest.flatten(dataset.element_spec):
        if not isinstance(spec, _WITH_ARRAYS):
            raise TypeError("`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values "
                            f"of type {spec.value_type}")
    return NumpyIterator(dataset)
