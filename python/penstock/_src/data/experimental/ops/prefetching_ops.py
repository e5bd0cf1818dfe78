"""Elements brought to another device."""
from penstock._src.data.ops import iterator_ops
from penstock._src.data.ops.dataset_ops import UnaryDataset, UnaryUnchangedStructureDataset
from penstock._src.data.ops.options import Options
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.data.util import structure
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import device as framework_device
from penstock._src.graph import dtypes, gen, ops
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops


def prefetch_to_device(device, buffer_size=None):
    """For Dataset.apply: elements are on a device before they are asked for. The last transformation of a pipeline."""
    return lambda dataset: dataset.apply(copy_to_device(target_device=device)).prefetch(buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """For Dataset.apply: elements are copied from one device to another."""
    def apply(dataset):
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.experimental_optimization.autotune = False
        return _CopyToDeviceDataset(dataset, target_device, source_device).with_options(options)
    return apply


_HANDLE = [TensorSpec([], dtypes.string)]


class RemoteFunctions:
    """init, next and finalize functions of a GeneratorDataset that call functions on another device. Each is given as
    (function, signature, types of its results) and is traced here."""

    def __init__(self, target, init, step, finalize):
        self.init = self._remote("init", target, init, [], [dtypes.string])
        self.step = self._remote("next", target, step[0], _HANDLE, step[1], experimental_ints_on_device=True)
        self.finalize = self._remote("finalize", target, finalize, _HANDLE, [dtypes.int64])

    @staticmethod
    def _remote(name, target, python_function, signature, types, **attributes):
        def traced(function_name, function, **attributes):
            return function_lib.defun_with_attributes(
                function, input_signature=signature, attributes={"func_name": function_name, **attributes},
                autograph=False)._get_concrete_function_internal()

        called = traced(f"_{name}_func", python_function)
        return traced(f"_remote_{name}_func", lambda *args: gen.remote_call(
            target=target, args=[*args, *called.captured_inputs], Tout=types, f=called), **attributes)

    def dataset(self, flat_structure, step_captured=None):
        """The variant of the dataset."""
        for f in (self.init, self.step, self.finalize):
            f.add_to_graph(ops.get_default_graph())
        return gen.generator_dataset(
            self.init.captured_inputs, self.step.captured_inputs if step_captured is None else step_captured,
            self.finalize.captured_inputs, init_func=self.init, next_func=self.step, finalize_func=self.finalize,
            **flat_structure)


class _CopyToDeviceDataset(UnaryUnchangedStructureDataset):
    """The input's elements, copied."""

    def __init__(self, input_dataset, target_device, source_device="/cpu:0"):
        kind = framework_device.DeviceSpec().from_string(target_device).device_type
        self._is_gpu_target = kind == "GPU"
        source = ops.convert_to_tensor(source_device)
        wrapped = gen.wrap_dataset_variant(input_dataset._variant_tensor)
        flat = input_dataset._flat_structure

        def init():
            variant = gen.unwrap_dataset_variant(wrapped)
            resource = gen.anonymous_iterator(**flat)
            with ops.control_dependencies([gen.make_iterator(variant, resource)]):
                return gen.iterator_to_string_handle(resource)

        def step(string_handle):
            with ops.device(source_device):
                iterator = iterator_ops.Iterator.from_string_handle(
                    string_handle, structure.legacy_types(input_dataset.element_spec),
                    structure.legacy_shapes(input_dataset.element_spec),
                    structure.legacy_classes(input_dataset.element_spec))
            return structure.to_tensor_list(input_dataset.element_spec, iterator.get_next())

        def finalize(string_handle):
            resource = gen.iterator_from_string_handle_v2(string_handle, **flat)
            with ops.control_dependencies([gen.destroy_resource_op(resource, ignore_lookup_error=True)]):
                return array_ops.constant(0, dtypes.int64)

        self._remote_functions = RemoteFunctions(source, init, (step, input_dataset._flat_types), finalize)
        with ops.device(target_device):
            variant = self._remote_functions.dataset(flat)
        super().__init__(input_dataset, variant)

    def make_one_shot_iterator(self):
        """ValueError for a GPU: the copying has state of its own."""
        if self._is_gpu_target:
            raise ValueError("Cannot create a one shot iterator when using `tf.data.experimental.copy_to_device()` on "
                             "GPU. Please use `Dataset.make_initializable_iterator()` instead.")
        return super().make_one_shot_iterator()


class _MapOnGpuDataset(UnaryDataset):
    """A function's values, computed on a GPU."""

    def __init__(self, input_dataset, map_func, use_inter_op_parallelism=True):
        self._map_func = StructuredFunctionWrapper(map_func, "map_on_gpu()", dataset=input_dataset,
                                                   defun_kwargs={"experimental_ints_on_device": True})
        f = self._map_func.function
        super().__init__(input_dataset, gen.experimental_map_dataset(
            input_dataset._variant_tensor, f.captured_inputs, f=f, use_inter_op_parallelism=use_inter_op_parallelism,
            **self._flat_structure))

    def _functions(self):
        return [self._map_func]

    element_spec = property(lambda self: self._map_func.output_structure, doc="The spec of an element.")


def map_on_gpu(map_func):
    """For Dataset.apply: `map_func` of each element, computed on a GPU."""
    return lambda dataset: _MapOnGpuDataset(dataset, map_func)
