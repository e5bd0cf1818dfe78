"""PartitionedVariable: several variables that are the slices of one."""
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops


class PartitionedVariable(object):
    """A list of variables along one axis; as a tensor, their concatenation. Iterating gives the variables."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError("variable_list is not a list or tuple: %s" % variable_list)
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions is not a list or tuple: %s" % partitions)
        if not all(p >= 1 for p in partitions):
            raise ValueError("partition values must be positive: %s" % partitions)
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for v in variable_list:
            if v._get_save_slice_info() is None:
                raise ValueError("All variables must have a save_slice_info available: %s" %
                                 [v.name for v in variable_list])
            if len(shape) != len(partitions):
                raise ValueError("len(shape) != len(partitions): %s vs. %s" % (shape, partitions))
            if v._get_save_slice_info().full_shape != shape:
                raise ValueError("All variables' full shapes must match shape: %s; but full shapes were: %s" %
                                 (shape, str([v._get_save_slice_info().full_shape])))
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions
        self._as_tensor = None

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError("Cannot get a length for %d > 1 partition axes" % len(axes))
        return len(self._variable_list)

    def _partition_axes(self):
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def _concat(self):
        if len(self._variable_list) == 1:
            with ops.name_scope(None):
                return array_ops.identity(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError("Cannot concatenate along more than one dimension: %s.  "
                                      "Multi-axis partition concat is not supported" % str(axes))
        with ops.name_scope(self._name + "/ConcatPartitions/"):
            whole = array_ops.concat(self._variable_list, axes[0])
        with ops.name_scope(None):
            return array_ops.identity(whole, name=self._name)

    def as_tensor(self):
        """The concatenated value, free of the control dependencies around the call."""
        with ops.control_dependencies(None):
            return self._concat()

    @staticmethod
    def _TensorConversionFunction(v, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(v.dtype):
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" %
                             (dtype.name, v.dtype.name))
        if as_ref:
            raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
        return v.as_tensor()

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._shape

    def get_shape(self):
        return self._shape

    @property
    def _distribute_strategy(self):
        return None

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _each(self, method, value, use_locking, name, read_value):
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError("Cannot do assign action along more than one dimension: %s.  "
                                      "Multi-axis partition assign action is not supported " % str(axes))
        if isinstance(value, list):
            assert len(value) == len(self._variable_list)
            parts = value
        elif isinstance(value, PartitionedVariable):
            parts = list(value)
        else:
            sizes = [tensor_shape.dimension_value(v.shape[axes[0]]) for v in self._variable_list]
            parts = array_ops.split(value, sizes, axis=axes[0])
        out = [getattr(v, method)(part, use_locking=use_locking, name=name, read_value=read_value)
               for v, part in zip(self._variable_list, parts)]
        return out if read_value else [assign.op for assign in out]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Assigns to each slice its part of `value` (a tensor, a list or another partitioned variable)."""
        return self._each("assign", value, use_locking, name, read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        return self._each("assign_add", value, use_locking, name, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        return self._each("assign_sub", value, use_locking, name, read_value)


ops.register_tensor_conversion_function(PartitionedVariable, PartitionedVariable._TensorConversionFunction)
