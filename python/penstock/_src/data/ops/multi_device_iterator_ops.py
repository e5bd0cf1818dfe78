"""One dataset for several devices: each takes its elements in turn."""
from penstock._src.data.experimental.ops.prefetching_ops import RemoteFunctions
from penstock._src.data.ops import dataset_ops, iterator_ops
from penstock._src.data.ops.options import Options
from penstock._src.data.ops.simple import PrefetchDataset
from penstock._src.graph import composite_tensor, dtypes, errors, gen, ops, type_spec
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops


class _PerDeviceDataset(dataset_ops.DatasetV2):
    """The elements of one device."""

    def __init__(self, variant_tensor, element_spec):
        self._structure = element_spec
        super().__init__(variant_tensor)

    def _inputs(self):
        return []

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class _Device:
    """What brings elements to one device. An incarnation is one iteration."""

    def __init__(self, shard, resource, incarnation, source, source_device, element_spec, by_name=True):
        """`by_name`: functions on another device find the resource by its name, which an anonymous one lacks."""
        handle = gen.multi_device_iterator_to_string_handle(resource) if by_name else ops.convert_to_tensor("")
        flat = dataset_ops.flat_structure(element_spec)
        self._element_spec, self._incarnation = element_spec, incarnation

        def step(string_handle):
            with ops.device(source_device):
                iterator = gen.multi_device_iterator_from_string_handle(string_handle=string_handle, **flat) \
                    if by_name else resource
                return gen.multi_device_iterator_get_next_from_shard(
                    multi_device_iterator=iterator, shard_num=shard, incarnation_id=incarnation, **flat)

        def finalize(unused_string_handle):
            return array_ops.constant(0, dtypes.int64)

        self._functions = RemoteFunctions(source, lambda: handle, (step, flat["output_types"]), finalize)

    def dataset(self, incarnation, prefetch_buffer_size, slack):
        """The dataset of an incarnation."""
        captured = [incarnation if t is self._incarnation else t for t in self._functions.step.captured_inputs]
        dataset = _PerDeviceDataset(self._functions.dataset(dataset_ops.flat_structure(self._element_spec), captured),
                                    self._element_spec)
        if prefetch_buffer_size > 0:
            dataset = PrefetchDataset(dataset, prefetch_buffer_size, slack_period=1 if slack else None)
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.experimental_optimization.autotune = False
        return dataset.with_options(options)


def _prepared(dataset, devices):
    """The dataset with its options applied, and whether prefetching is to be slack."""
    options = Options()
    options.experimental_distribute.num_devices = len(devices)
    dataset = dataset.with_options(options)
    return dataset._apply_options(), dataset.options().experimental_slack


class _PerDeviceNext:
    """get_next, for one device or all."""

    def get_next(self, device=None):
        """The next element of a device, or the list of all devices' next ones."""
        if device is not None:
            return self._device_iterators[self._devices.index(device)].get_next()
        result = []
        for device, iterator in zip(self._devices, self._device_iterators):
            with ops.device(device):
                result.append(iterator.get_next())
        return result

    def get_next_as_optional(self):
        """The list of all devices' next elements as Optionals."""
        result = []
        for device, iterator in zip(self._devices, self._device_iterators):
            with ops.device(device):
                result.append(iterator_ops.get_next_as_optional(iterator))
        return result


class MultiDeviceIterator(_PerDeviceNext):
    """An iterator over a dataset whose elements go to `devices` in turn.

    max_buffer_size: how many elements wait on the source device for each of them. prefetch_buffer_size: how many wait
    on each. source_device: where the dataset is.
    """

    def __init__(self, dataset, devices, max_buffer_size=1, prefetch_buffer_size=1, source_device="/cpu:0"):
        self._dataset, self._slack = _prepared(dataset, devices)
        self._devices, self._source_device = devices, source_device
        source = ops.convert_to_tensor(source_device)
        self._prefetch_buffer_size = prefetch_buffer_size
        self._max_buffer_size = max(max_buffer_size, prefetch_buffer_size)
        shared_name = iterator_ops._generate_shared_name("multi_device_iterator") if ops.executing_eagerly() else ""
        with ops.device(source_device):
            self._resource = gen.multi_device_iterator(
                devices=devices, shared_name=shared_name, container="", **self._dataset._flat_structure)
            incarnation = self._begin()
        self._per_device, self._device_iterators = [], []
        for i, device in enumerate(devices):
            with ops.device(device):
                self._per_device.append(_Device(i, self._resource, incarnation, source, source_device,
                                                self._dataset.element_spec))
        make = dataset_ops.make_one_shot_iterator if ops.executing_eagerly() else \
            dataset_ops.make_initializable_iterator
        for device, per_device in zip(devices, self._per_device):
            with ops.device(device):
                self._device_iterators.append(make(per_device.dataset(incarnation, prefetch_buffer_size,
                                                                      self._slack)))
        if not ops.executing_eagerly():
            self._initializer = control_flow_ops.group(*[i.initializer for i in self._device_iterators])

    def _begin(self):
        return gen.multi_device_iterator_init(self._dataset._variant_tensor, self._resource,
                                              max_buffer_size=self._max_buffer_size)

    @property
    def initializer(self):
        """The operation that begins a new iteration."""
        return control_flow_ops.no_op() if ops.executing_eagerly() else self._initializer

    def _eager_reset(self):
        """Begins a new iteration. ValueError unless executing eagerly."""
        if not ops.executing_eagerly_outside_functions():
            raise ValueError("Eager reset is only supported in eager mode.")
        incarnation = self._begin()
        for device, per_device, iterator in zip(self._devices, self._per_device, self._device_iterators):
            with ops.device(device):
                dataset = per_device.dataset(incarnation, self._prefetch_buffer_size, self._slack)
                gen.make_iterator(dataset._variant_tensor, iterator._iterator_resource)

    element_spec = property(lambda self: self._dataset.element_spec, doc="The spec of an element.")


class MultiDeviceIteratorSpec(type_spec.TypeSpec):
    """Of OwnedMultiDeviceIterator."""

    __slots__ = ("_devices", "_source_device", "_element_spec")
    _is_opaque = True

    def __init__(self, devices, source_device, element_spec):
        self._devices, self._source_device, self._element_spec = devices, source_device, element_spec

    value_type = property(lambda self: OwnedMultiDeviceIterator, doc="The class of iterators.")

    def _serialize(self):
        return tuple(self._devices), self._source_device, self._element_spec

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.resource)] + [
            iterator_ops.IteratorSpec(self._element_spec) for _ in self._devices]

    def _to_components(self, value):
        return [value._resource, *value._device_iterators]

    def _from_components(self, components):
        return OwnedMultiDeviceIterator(devices=self._devices, source_device=self._source_device,
                                        components=components, element_spec=self._element_spec)

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return value._type_spec


class OwnedMultiDeviceIterator(_PerDeviceNext, composite_tensor.CompositeTensor):
    """The same for eager execution and functions: it lives as long as its handle."""

    def __init__(self, dataset=None, devices=None, max_buffer_size=1, prefetch_buffer_size=1, source_device="/cpu:0",
                 components=None, element_spec=None):
        graph = ops.get_default_graph()
        if not graph._eager and not graph._building_function:
            raise RuntimeError("OwnedMultiDeviceIterator is only supported inside of tf.function or when eager "
                               "execution is enabled.")
        if devices is None:
            raise ValueError("`devices` must be provided.")
        if (dataset is None) != (components is not None and element_spec is not None):
            raise ValueError("Either `dataset` or both `components` and `element_spec` need to be provided.")
        self._devices, self._source_device = list(devices), source_device
        if dataset is None:
            self._element_spec = element_spec
            self._resource, *self._device_iterators = components
            return
        self._dataset, slack = _prepared(dataset, devices)
        self._element_spec = self._dataset.element_spec
        source = ops.convert_to_tensor(source_device)
        with ops.device(source_device):
            self._resource = gen.anonymous_multi_device_iterator_v3(devices=devices, **self._dataset._flat_structure)
            incarnation = gen.multi_device_iterator_init(
                self._dataset._variant_tensor, self._resource,
                max_buffer_size=max(max_buffer_size, prefetch_buffer_size))
        self._per_device, self._device_iterators = [], []
        for i, device in enumerate(devices):
            with ops.device(device):
                per_device = _Device(i, self._resource, incarnation, source, source_device, self._element_spec,
                                     by_name=False)
                self._per_device.append(per_device)  # its functions are there as long as it is
                self._device_iterators.append(iter(per_device.dataset(incarnation, prefetch_buffer_size, slack)))

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__
    element_spec = property(lambda self: self._element_spec, doc="The spec of an element.")

    @property
    def _type_spec(self):
        return MultiDeviceIteratorSpec(self._devices, self._source_device, self._element_spec)


MultiDeviceIteratorV2 = OwnedMultiDeviceIterator
