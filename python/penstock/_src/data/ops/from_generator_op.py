"""Datasets whose elements Python generators yield."""
import threading

import numpy as np

from penstock._src.data.ops.dataset_ops import DatasetSource, DatasetV2, flat_structure
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.data.util import nest, structure
from penstock._src.graph import dtypes, gen, ops, tensor_shape, type_spec
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.tf_function import script_ops
from penstock._src.base import nest as whole_nest

_HANDLES = {dtypes.variant, dtypes.resource}  # types that no array has: optionals, datasets, tables


class _GeneratorState:
    """The iterators that are open; one generator may have several, of repeated or nested datasets."""

    def __init__(self, generator):
        self._generator = generator
        self._lock = threading.Lock()
        self._next_id = 0
        self._args = {}
        self._iterators = {}

    def get_next_id(self, *args):
        """A number for a new iterator over the generator called with `args`."""
        with self._lock:
            number = self._next_id
            self._next_id += 1
        self._args[number] = args
        return np.array(number, dtype=np.int64)

    def get_iterator(self, number):
        """The iterator of a number; begun when first asked for."""
        number = int(number)
        iterator = self._iterators.get(number)
        if iterator is None:
            iterator = self._iterators[number] = iter(self._generator(*self._args.pop(number)))
        return iterator

    def iterator_completed(self, number):
        """Forgets an iterator."""
        self._args.pop(int(number), None)
        self._iterators.pop(int(number), None)


class _Element:
    """What is yielded, as arrays of the types and shapes that were announced."""

    def __init__(self, output_types, output_shapes):
        self.types = output_types
        self.flat = list(zip([dtypes.as_dtype(t) for t in nest.flatten(output_types)], nest.flatten(output_shapes)))

    def arrays(self, values):
        """TypeError, ValueError: it is of another structure, type or shape."""
        try:
            values = nest.flatten_up_to(self.types, values)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {self.types}, but the yielded element was {values}.") from None
        return [_as_array(value, dtype, shape) for value, (dtype, shape) in zip(values, self.flat)]

    def tensors(self, flat):
        """The element of tensors that Python functions gave, which know no shapes."""
        for tensor, (_, shape) in zip(flat, self.flat):
            tensor.set_shape(shape)
        return nest.pack_sequence_as(self.types, list(flat))


def _as_array(value, dtype, shape):
    try:
        if getattr(value, "_is_eager", False):
            value = value.numpy()
        array = script_ops.as_array(value, np.dtype(dtype.as_numpy_dtype))
    except (TypeError, ValueError):
        raise TypeError("`generator` yielded an element that could not be converted to the expected type. The expected "
                        f"type was {dtype.name}, but the yielded element was {value}.") from None
    if mode.tensor_shape_v2 and dtype.is_integer and np.asarray(value).dtype.kind in "fc":
        raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                        f"structure was {dtype.name}, but the yielded element was {value}.")
    if array.dtype != dtype.as_numpy_dtype:
        raise TypeError(f"`generator` yielded an element of type {array.dtype} where an element of type "
                        f"{dtype.as_numpy_dtype} was expected.")
    if not shape.is_compatible_with(array.shape):
        raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was "
                         "expected.")
    return array


class _CompositeElement(_Element):
    """The same for signatures with sparse or ragged tensors: each comes as the arrays of its parts."""

    def __init__(self, signature):
        self.signature = signature
        specs = whole_nest.flatten(signature, expand_composites=True)
        self.flat = [(spec.dtype, spec.shape) for spec in specs]

    def arrays(self, values):
        """TypeError, ValueError: it is of another structure, type or shape."""
        try:
            parts = nest.flatten_up_to(self.signature, values)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {self.signature}, but the yielded element was {values}.") from None
        flat = []
        for spec, part in zip(nest.flatten(self.signature), parts):
            flat.extend(whole_nest.flatten(spec._to_components(part), expand_composites=True)
                        if type_spec.is_composite_spec(spec) else [part])
        return [value if dtype in _HANDLES else _as_array(value, dtype, shape)
                for value, (dtype, shape) in zip(flat, self.flat)]

    def tensors(self, flat):
        """The element of tensors that Python functions gave, which know no shapes."""
        made, at = [], 0
        for tensor, (_, shape) in zip(flat, self.flat):
            tensor.set_shape(shape)
        for spec in nest.flatten(self.signature):
            count = len(whole_nest.flatten(spec, expand_composites=True))
            parts = list(flat[at:at + count])
            at += count
            made.append(whole_nest.pack_sequence_as(spec, parts, expand_composites=True))
        return nest.pack_sequence_as(self.signature, made)


def _element(output_types, output_shapes, output_signature):
    if output_types is None and output_signature is None:
        raise TypeError("To specify the output signature you need to provide either the `output_signature` argument or "
                        "the `output_types` argument." if tf2.enabled() else
                        "Either `output_signature` or `output_types` must be specified.")
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError("The `output_types` and `output_shapes` arguments can not be used together with the "
                            "`output_signature` argument.")
        specs = nest.flatten(output_signature)
        for spec in specs:
            if not isinstance(spec, type_spec.TypeSpec):
                raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                                f"{type(spec)} which is not.")
        if not all(isinstance(spec, TensorSpec) for spec in specs):
            return _CompositeElement(output_signature)
        return _Element(structure.legacy_types(output_signature), structure.legacy_shapes(output_signature))
    if output_shapes is None:
        output_shapes = nest.map_structure(lambda _: tensor_shape.TensorShape(None), output_types)
    else:
        output_shapes = nest.map_structure_up_to(output_types, tensor_shape.as_shape, output_shapes)
    return _Element(output_types, output_shapes)


def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
    """See Dataset.from_generator."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable." if tf2.enabled() else
                        "`generator` must be callable.")
    element = _element(output_types, output_shapes, output_signature)
    args = () if args is None else tuple(ops.convert_n_to_tensor(args, name="args"))
    state = _GeneratorState(generator)

    def get_iterator_id_fn(unused_dummy):
        return script_ops.numpy_function(state.get_next_id, args, dtypes.int64)

    def generator_next_fn(iterator_id_t):
        def generator_py_func(iterator_id):
            return element.arrays(next(state.get_iterator(iterator_id)))

        kinds = [dtype for dtype, _ in element.flat]
        call = script_ops.eager_py_func if _HANDLES & set(kinds) else script_ops.numpy_function
        return element.tensors(call(generator_py_func, [iterator_id_t], kinds))

    def finalize_fn(iterator_id_t):
        def finalize_py_func(iterator_id):
            state.iterator_completed(iterator_id)
            return np.array(0, dtype=np.int64)

        return script_ops.numpy_function(finalize_py_func, [iterator_id_t], dtypes.int64)

    def flat_map_fn(dummy_arg):
        return GeneratorDataset(dummy_arg, get_iterator_id_fn, generator_next_fn, finalize_fn, name=name)

    # Each iteration over the single element calls flat_map_fn, so each has an iterator of its own.
    return DatasetV2.from_tensors(0, name).flat_map(flat_map_fn, name)


class GeneratorDataset(DatasetSource):
    """next_func(state) again and again, until it is out of range; the state is init_func(init_args), and
    finalize_func(state) is called in the end."""

    def __init__(self, init_args, init_func, next_func, finalize_func, output_signature=None, name=None):
        spec = structure.type_spec_from_value(init_args)
        what = "Dataset.from_generator()"  # TensorFlow's name for its functions
        self._init_func = StructuredFunctionWrapper(init_func, what, input_structure=spec)
        state = self._init_func.output_structure
        self._next_func = StructuredFunctionWrapper(next_func, what, input_structure=state)
        self._finalize_func = StructuredFunctionWrapper(finalize_func, what, input_structure=state)
        self._structure = self._next_func.output_structure if output_signature is None else output_signature
        super().__init__(gen.generator_dataset(
            structure.to_tensor_list(spec, init_args) + self._init_func.function.captured_inputs,
            self._next_func.function.captured_inputs, self._finalize_func.function.captured_inputs,
            init_func=self._init_func.function, next_func=self._next_func.function,
            finalize_func=self._finalize_func.function, **flat_structure(self._structure, name)))

    def _functions(self):
        return [self._init_func, self._next_func, self._finalize_func]

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


_GeneratorDataset = GeneratorDataset  # TensorFlow 2's name
