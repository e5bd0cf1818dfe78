"""Staging areas: tuples that one part of a graph puts in and another takes out."""
import weakref

from penstock import _core
from penstock._src.graph import dtypes as _dtypes
from penstock._src.graph import gen, ops, tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops

__all__ = ["BaseStagingArea", "MapStagingArea", "StagingArea"]


def _values(vals):
    if isinstance(vals, (list, tuple)):
        return vals
    return list(vals.values()) if isinstance(vals, dict) else [vals]


class BaseStagingArea:
    """What both kinds have."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        if shared_name is None:
            self._name = ops.get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._dtypes = dtypes
        self._shapes = [tensor_shape.unknown_shape() for _ in dtypes] if shapes is None \
            else [tensor_shape.TensorShape(shape) for shape in shapes]
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        with ops.name_scope(f"{self._name}_root"):
            self._coloc_op = control_flow_ops.no_op()
        if shared_name is None and ops.executing_eagerly():  # nothing else puts anything in
            attrs = dict(self._attrs(), dtypes=[_dtypes.as_dtype(t).as_datatype_enum for t in self._dtypes],
                         shared_name=self._name.encode())
            weakref.finalize(self, _core.eager_execute, self._clear_op, [], attrs, False).atexit = False

    @property
    def name(self):
        """The name that the operations on the area share."""
        return self._name

    @property
    def dtypes(self):
        """The types of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    @property
    def capacity(self):
        """How many tuples fit in; 0: any number."""
        return self._capacity

    @property
    def memory_limit(self):
        """How many bytes fit in; 0: any number."""
        return self._memory_limit

    def _attrs(self, dtypes=None):
        return dict(dtypes=self._dtypes if dtypes is None else dtypes, shared_name=self._name, capacity=self._capacity,
                    memory_limit=self._memory_limit)

    def _check_put_dtypes(self, vals, indices=None):
        """The values as tensors, and which components they are."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals).issubset(self._names):
                raise ValueError(f"Keys in dictionary to put do not match names of staging area. "
                                 f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})")
            chosen = [(vals[name], i) for i, name in enumerate(self._names) if name in vals]
            vals, indices = zip(*chosen)
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(vals):
                raise ValueError(f"Number of indices '{len(indices)}' doesn't match number of values '{len(vals)}'")
            if not isinstance(vals, (list, tuple)):
                vals, indices = [vals], [0]
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = []
        for val, i in zip(vals, indices):
            if val.dtype != self._dtypes[i]:
                raise ValueError(f"Datatypes do not match. '{val.dtype}' != '{self._dtypes[i]}'")
            val.get_shape().assert_is_compatible_with(self._shapes[i])
            tensors.append(ops.convert_to_tensor(val, dtype=self._dtypes[i], name=f"component_{i}"))
        return tensors, indices

    def _transferred(self, tensors):
        """The tensors on the current device, if that is not the area's own."""
        tensors = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
        if control_flow_ops.no_op().device != self._coloc_op.device:
            tensors = [array_ops.identity(t) for t in tensors]
        return tensors

    def _get_return_value(self, tensors, indices):
        tensors = self._transferred(tensors)
        for output, i in zip(tensors, indices):
            output.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: t for t, i in zip(tensors, indices)}
        return tensors


class StagingArea(BaseStagingArea):
    """First in, first out."""

    _clear_op = "StageClear"

    def put(self, values, name=None):
        """An operation that puts a tuple in; it waits while the area is full."""
        with ops.name_scope(name, f"{self._name}_put", _values(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._check_put_dtypes(values, list(range(len(values))))
            with ops.colocate_with(self._coloc_op):
                return gen.stage(values=tensors, shared_name=self._name, name=scope, capacity=self._capacity,
                                 memory_limit=self._memory_limit)

    def get(self, name=None):
        """Takes the first tuple; waits for one."""
        with ops.colocate_with(self._coloc_op):
            out = gen.unstage(name=name or f"{self._name}_get", **self._attrs())
        return self._get_return_value(out, range(len(self._dtypes)))

    def peek(self, index, name=None):
        """The tuple at a place, which stays there."""
        with ops.colocate_with(self._coloc_op):
            out = gen.stage_peek(index, name=name or f"{self._name}_peek", **self._attrs())
        return self._get_return_value(out, range(len(self._dtypes)))

    def size(self, name=None):
        """The number of tuples."""
        return gen.stage_size(name=name or f"{self._name}_size", **self._attrs())

    def clear(self, name=None):
        """An operation that removes all tuples."""
        return gen.stage_clear(name=name or f"{self._name}_clear", **self._attrs())


class MapStagingArea(BaseStagingArea):
    """By key; components may come and go one by one."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, ordered=False, capacity=0, memory_limit=0):
        self._ordered = ordered
        self._clear_op = "OrderedMapClear" if ordered else "MapClear"
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)

    def _op(self, name):
        return getattr(gen, ("ordered_map_" if self._ordered else "map_") + name)

    def put(self, key, vals, indices=None, name=None):
        """An operation that puts components in under a key."""
        with ops.name_scope(name, f"{self._name}_put", _values(vals)) as scope:
            vals, indices = self._check_put_dtypes(vals, indices)
            with ops.colocate_with(self._coloc_op):
                return self._op("stage")(key, indices, vals, name=scope, **self._attrs())

    def _chosen(self, indices):
        """Which components, and their types."""
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(f"String indices provided '{indices}', but this Staging Area was not created with "
                                 "names.")
            unknown = [i for i in indices if i not in self._names]
            if unknown:
                raise ValueError(f"Named index '{unknown[0]}' not in Staging Area names '{self._names}'")
            indices = [self._names.index(i) for i in indices]
        elif not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return indices, [self._dtypes[i] for i in indices]

    def peek(self, key, indices=None, name=None):
        """Components of the tuple with a key, which stay there."""
        indices, types = self._chosen(indices)
        with ops.colocate_with(self._coloc_op):
            out = self._op("peek")(key, indices=indices, name=name or f"{self._name}_pop", **self._attrs(types))
        return self._get_return_value(out, indices)

    def get(self, key=None, indices=None, name=None):
        """Takes components of the tuple with a key, or of any one: the key and the components."""
        indices, types = self._chosen(indices)
        if key is None:
            with ops.colocate_with(self._coloc_op):
                key, out = self._op("unstage_no_key")(indices=indices, name=name or f"{self._name}_get_nokey",
                                                      **self._attrs(types))
            return self._transferred(key)[0], self._get_return_value(out, indices)
        with ops.colocate_with(self._coloc_op):
            out = self._op("unstage")(key, indices=indices, name=name or f"{self._name}_get", **self._attrs(types))
        return key, self._get_return_value(out, indices)

    def size(self, name=None):
        """The number of complete tuples."""
        return self._op("size")(name=name or f"{self._name}_size", **self._attrs())

    def incomplete_size(self, name=None):
        """The number of tuples that are not complete yet."""
        return self._op("incomplete_size")(name=name or f"{self._name}_incomplete_size", **self._attrs())

    def clear(self, name=None):
        """An operation that removes all tuples."""
        return self._op("clear")(name=name or f"{self._name}_clear", **self._attrs())
