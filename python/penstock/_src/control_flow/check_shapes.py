"""tf.debugging.assert_rank*, assert_scalar, assert_shapes: checks of shapes."""

from penstock._src.graph import context
from penstock._src.graph import dtypes, gen, ops, sparse_tensor, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops

__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_at_least_v2", "assert_rank_in", "assert_rank_in_v2",
           "assert_rank_v2", "assert_scalar", "assert_scalar_v2", "assert_shapes", "assert_shapes_v2"]


def label(tensor):
    """What messages call a tensor: its name in a graph, what it looks like when ops run eagerly."""
    if context.executing_eagerly():
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return getattr(tensor, "name", f"SparseTensor of shape {tensor.shape}")


def _dense_or_sparse(x):
    return sparse_tensor.convert_to_tensor_or_sparse_tensor(x, name="x")


def _require_int32(tensor):
    with ops.name_scope(None, "assert_type", [tensor]):
        if tensor.dtype != dtypes.int32:
            raise TypeError(f"  {label(tensor)} must be of type <dtype: 'int32'>")
        control_flow_ops.no_op("statically_determined_correct_type")


def _check_rank(x, ranks, what, holds, condition, data, summarize, message):
    """Decides now if it can, and by an Assert op if not. `holds` compares numbers, `condition` tensors."""
    for rank in ranks:
        _require_int32(rank)
    known = [tensor_util.constant_value(rank) for rank in ranks]
    if all(value is not None for value in known):
        if any(value.ndim != 0 for value in known):
            raise ValueError("Rank must be a scalar.")
        ndims = x.get_shape().ndims
        if ndims is not None:
            if not holds(ndims, [int(value) for value in known]):
                shown = f"({', '.join(str(int(v)) for v in known)})" if what.endswith("in") else int(known[0])
                raise ValueError(f"{message}.  Tensor {label(x)} must have rank {what}{shown}.  Received rank {ndims}, "
                                 f"shape {x.get_shape()}".replace("rank in(", "rank in ("))
            return control_flow_ops.no_op(name="static_checks_determined_all_ok")
    result = condition(array_ops.rank(x))
    for rank, value in zip(ranks, known):
        if value is None:
            check = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            result = control_flow_ops.with_dependencies([check], result)
    return control_flow_ops.Assert(result, data, summarize=summarize)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Fails unless x has that rank: ValueError now if it is known, else when the operation runs."""
    with ops.name_scope(name, "assert_rank", [x, rank] + list(data or [])):
        x = _dense_or_sparse(x)
        rank = ops.convert_to_tensor(rank, name="rank")
        if data is None:
            data = [message or "", f"Tensor {label(x)} must have rank", rank, "Received shape: ", array_ops.shape(x)]
        return _check_rank(x, [rank], "", lambda n, known: n == known[0], lambda n: gen.equal(n, rank), data, summarize,
                           message or "")


def assert_rank_v2(x, rank, message=None, name=None):
    """Fails unless x has that rank: ValueError now if it is known, else when the operation runs."""
    return assert_rank(x=x, rank=rank, message=message, name=name)


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """Fails unless x has at least that rank."""
    with ops.name_scope(name, "assert_rank_at_least", [x, rank] + list(data or [])):
        x = _dense_or_sparse(x)
        rank = ops.convert_to_tensor(rank, name="rank")
        if data is None:
            data = [message or "", f"Tensor {label(x)} must have rank at least", rank, "Received shape: ",
                    array_ops.shape(x)]
        return _check_rank(x, [rank], "at least ", lambda n, known: n >= known[0],
                           lambda n: gen.greater_equal(n, rank), data, summarize, message or "")


def assert_rank_at_least_v2(x, rank, message=None, name=None):
    """Fails unless x has at least that rank."""
    return assert_rank_at_least(x=x, rank=rank, message=message, name=name)


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """Fails unless x has one of the ranks."""
    with ops.name_scope(name, "assert_rank_in", [x] + list(ranks) + list(data or [])):
        x = _dense_or_sparse(x)
        ranks = [ops.convert_to_tensor(rank, name="rank") for rank in ranks]
        if data is None:
            data = [message or "", f"Tensor {label(x)} must have rank in", *ranks, "Received shape: ",
                    array_ops.shape(x)]

        def is_one(actual):
            if not ranks:
                return ops.convert_to_tensor(False)
            result = gen.equal(ranks[0], actual)
            for rank in ranks[1:]:
                result = gen.logical_or(result, gen.equal(rank, actual))
            return result

        return _check_rank(x, ranks, "in", lambda n, known: n in known, is_one, data, summarize, message or "")


def assert_rank_in_v2(x, ranks, message=None, name=None):
    """Fails unless x has one of the ranks."""
    return assert_rank_in(x=x, ranks=ranks, message=message, name=name)


def assert_scalar(tensor, name=None, message=None):
    """The tensor; ValueError unless it is known to be a scalar."""
    with ops.name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = ops.convert_to_tensor(tensor, name=scope)
        if tensor.get_shape().ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {label(tensor)}, "
                             f"saw shape: {tensor.get_shape()}.")
        return tensor


def assert_scalar_v2(tensor, message=None, name=None):
    """The tensor; ValueError unless it is known to be a scalar."""
    assert_scalar(tensor, name, message)


class _Constraint:
    """A tensor and the sizes its (last) dimensions shall have: numbers, names, or None for any."""

    def __init__(self, tensor, shape, message):
        self.tensor = tensor
        if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
            raise ValueError(f"{message}.  Tensor {label(tensor)}.  Specified shape must be an iterable.  An iterable "
                             f"has the attribute `__iter__` or `__getitem__`.  Received specified shape: {shape}")
        sizes = tuple(shape)
        for i, size in enumerate(sizes):
            if i > 0 and (size is Ellipsis or isinstance(size, str) and size == "*"):
                raise ValueError(f"{message}.  Tensor {label(tensor)} specified shape index {i}.  Symbol `...` or `*` "
                                 "for a variable number of unspecified dimensions is only allowed as the first entry")
        self.open = bool(sizes) and (sizes[0] is Ellipsis or isinstance(sizes[0], str) and sizes[0] == "*")
        self.sizes = (sizes[1:] if self.open else sizes) or (1,)
        self.actual = self._actual_sizes()

    def _actual_sizes(self):
        dynamic = array_ops.shape(self.tensor)
        ndims = self.tensor.get_shape().ndims
        if ndims is None:
            # A scalar counts as a vector of one element.
            scalar = array_ops.reshape(gen.cast(gen.equal(array_ops.rank(self.tensor), 0), dtypes.int32), [1])
            return array_ops.concat([gen.fill(scalar, 1), dynamic], 0)
        if ndims == 0:
            return (1,)
        return [dynamic[i] if size is None else size for i, size in enumerate(self.tensor.get_shape().as_list())]

    def check_rank(self, **how):
        """The operation that checks the number of dimensions, or None if any will do."""
        count = len(self.sizes)
        if self.open:
            return None if count <= 1 else assert_rank_at_least(x=self.tensor, rank=count, **how)
        if count <= 1:
            return assert_rank_in(x=self.tensor, ranks=[0, 1], **how)
        return assert_rank(x=self.tensor, rank=count, **how)


def _as_int(size):
    if isinstance(size, ops.Tensor):
        return None
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Fails unless the tensors have the shapes given in numbers and names; a name stands for one size throughout."""
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    message = message or ""
    with ops.name_scope(name, "assert_shapes", [shapes, data]):
        pairs = [(_dense_or_sparse(x), shape) for x, shape in pairs if shape is not None]
        constraints = [_Constraint(x, shape, message) for x, shape in pairs]
        how = dict(data=data, summarize=summarize, message=message, name=name)
        checks = [check for check in (c.check_rank(**how) for c in constraints) if check is not None]
        named, sizes = {}, []
        for constraint in constraints:
            sizes += _check_sizes(constraint, named, data, summarize, message)
        with ops.control_dependencies(checks):
            return control_flow_ops.group(sizes)


def _check_sizes(constraint, named, data, summarize, message):
    x, result = constraint.tensor, []
    for i, wanted in enumerate(constraint.sizes):
        dim = i - len(constraint.sizes) if constraint.open else i
        if wanted is None or isinstance(wanted, str) and wanted == ".":
            continue
        actual = constraint.actual[dim]
        if _as_int(wanted) is not None:
            size, reason = int(wanted), "Specified explicitly"
        elif wanted in named:
            size, reason = named[wanted]
        else:
            named[wanted] = (actual, f"Specified by tensor {label(x)} dimension {dim}")
            continue
        if _as_int(actual) is not None and _as_int(size) is not None:
            if int(actual) != int(size):
                begin = f"{message}.  " if message or not tf2.enabled() else ""
                raise ValueError(f"{begin}{reason}.  Tensor {label(x)} dimension {dim} must have size "
                                 f"{int(size)}.  Received size {int(actual)}, shape {x.get_shape()}")
            continue
        shown = data
        if data is None:
            shown = [message, reason, f"Tensor {label(x)} dimension", dim, "must have size", size, "Received shape: ",
                     array_ops.shape(x)]
        condition = gen.equal(ops.convert_to_tensor(actual), ops.convert_to_tensor(size))
        result.append(control_flow_ops.Assert(condition, shown, summarize=summarize))
    return result


def assert_shapes_v2(shapes, data=None, summarize=None, message=None, name=None):
    """Fails unless the tensors have the shapes given in numbers and names; a name stands for one size throughout."""
    assert_shapes(shapes, data=data, summarize=summarize, message=message, name=name)
