"""Python's built-in functions over tensors."""
from penstock._src.graph import defaults
from penstock._src.graph.tensor import Tensor
from penstock._src.base import hooks
from penstock._src.base import nest


def _symbolic(x):
    return isinstance(x, Tensor) and not x._is_eager


def _any_symbolic(args):
    return any(_symbolic(x) for x in args)


def _datasets(values):
    """Whether there are values, all of them datasets."""
    return bool(values) and all(hasattr(x, "__ag_for_stmt__") and hasattr(x, "cardinality") for x in values)


def len_(s):
    """len(); of a tensor of a graph, the size of its first dimension; of a dataset, its cardinality."""
    if hasattr(s, "flow") and hasattr(s, "size"):  # a TensorArray
        return s.size()
    if _datasets([s]) and not defaults.get_default_graph()._eager:
        return _cardinality(s)
    if not _symbolic(s):
        return len(s)
    if s.shape.rank == 0:
        raise ValueError("len requires a non-scalar tensor, got one of shape {}".format(s.shape))
    if s.shape.rank is not None and s.shape.as_list()[0] is not None:
        return s.shape.as_list()[0]
    from penstock._src.core_ops import array_ops
    return array_ops.shape(s)[0]


def _cardinality(dataset):
    from penstock._src.graph import gen, ops
    from penstock._src.control_flow import control_flow_ops
    count = dataset.cardinality()
    known = control_flow_ops.Assert(gen.greater_equal(count, 0), [
        "len requires dataset with definitive and finite cardinality"])
    with ops.control_dependencies([known]):
        return gen.identity(count)


def range_(start_or_stop, stop=None, step=None):
    """range(); of tensors, tf.range."""
    given = [x for x in (start_or_stop, stop, step) if x is not None]
    if _any_symbolic(given) or any(isinstance(x, Tensor) for x in given):
        from penstock._src.core_ops import math_ops
        if stop is None:
            start_or_stop, stop = 0, start_or_stop
        if step is None:  # as Python's, empty rather than wrong
            from penstock._src.graph import gen
            stop = gen.maximum(start_or_stop, stop)
        return math_ops.range(start_or_stop, stop, 1 if step is None else step)
    return range(*given)


def abs_(x):
    """abs(); of a dataset, of its elements."""
    if not _datasets([x]):
        return abs(x)
    from penstock._src.graph import gen
    return x.map(lambda *element: nest.map_structure(gen.abs, element[0] if len(element) == 1 else element))


def float_(x=0):
    """float(); of a tensor, a cast."""
    if _symbolic(x):
        return _parsed(x, "float32")
    return float(x)


def int_(x=0, base=10):
    """int(); of a tensor, a cast."""
    if _symbolic(x):
        if base not in (10, None):
            raise NotImplementedError("base {} not supported for int".format(base))
        return _parsed(x, "int32")
    return int(x) if base == 10 else int(x, base)


def _parsed(x, dtype):
    from penstock._src.graph import dtypes, gen
    from penstock._src.core_ops import math_ops
    if x.dtype == dtypes.string:
        return gen.string_to_number(x, out_type=dtypes.as_dtype(dtype))
    return math_ops.cast(x, dtypes.as_dtype(dtype))


def enumerate_(s, start=0):
    """enumerate()"""
    return s.enumerate(start) if _datasets([s]) else enumerate(s, start)


def zip_(*iterables, strict=False):
    """zip(); of datasets, a dataset."""
    if not _datasets(iterables):
        return zip(*iterables, strict=True) if strict else zip(*iterables)  # Python 3.9 has no strict
    if strict:
        raise ValueError("strict zip not supported for Dataset")
    return type(iterables[0]).zip(iterables)


def map_(function, *iterables):
    """map(); of datasets, a dataset."""
    if not _datasets(iterables):
        return map(function, *iterables)
    return (iterables[0] if len(iterables) == 1 else zip_(*iterables)).map(function)


def filter_(function, iterable):
    """filter(); of a dataset, a dataset."""
    return iterable.filter(function) if _datasets([iterable]) else filter(function, iterable)


_vectorized_map = hooks.Hook("vectorized_map")


def sorted_(iterable, key=None, reverse=False):
    """sorted(); of a tensor of rank one, tf.sort."""
    if not _symbolic(iterable):
        return sorted(iterable, key=key, reverse=reverse)
    from penstock._src.core_ops import array_ops, sort_ops
    keys = iterable if key is None else _vectorized_map(key, iterable)
    if keys.shape.rank != 1:
        raise ValueError("sort only supports only 1D tensors")
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return sort_ops.sort(iterable, direction=direction)
    return array_ops.gather(iterable, sort_ops.argsort(keys, direction=direction, stable=True))


def _reduced(name, function):
    def reduced(*args, **kwargs):
        if function in (any, all) and _datasets(args):
            from penstock._src.graph import dtypes, gen
            spec = args[0].element_spec
            if nest.is_sequence(spec) or spec.shape.rank not in (0, None) or spec.dtype != dtypes.bool:
                raise ValueError(f'in graph mode, the "{function.__name__}" builtin only supports datasets that return '
                                 f"bool scalars; got: {spec}")
            combine = gen.logical_or if function is any else gen.logical_and
            return args[0].reduce(function is all, lambda found, x: combine(found, x))
        if len(args) == 1 and _symbolic(args[0]) and not kwargs:
            from penstock._src.core_ops import math_ops
            if args[0].shape.rank != 1:
                raise ValueError(f"{name} only supports tensors of rank 1")
            return getattr(math_ops, name)(args[0], axis=0)
        if name in ("reduce_max", "reduce_min") and len(args) > 1 and _any_symbolic(args):
            if any(isinstance(x, Tensor) and x.shape.rank not in (0, None) for x in args):
                raise ValueError(f"{function.__name__} of several tensors only supports scalars")
            from penstock._src.graph import gen
            combine = gen.maximum if name == "reduce_max" else gen.minimum
            result = args[0]
            for x in args[1:]:
                result = combine(result, x)
            return result
        return function(*args, **kwargs)
    reduced.__name__ = function.__name__
    return reduced


max_, min_ = _reduced("reduce_max", max), _reduced("reduce_min", min)
any_, all_ = _reduced("reduce_any", any), _reduced("reduce_all", all)


def sum_(values, start=0):
    """sum(); of a tensor, tf.reduce_sum."""
    if _symbolic(values):
        from penstock._src.core_ops import math_ops
        total = math_ops.reduce_sum(values, axis=0)
        return total if isinstance(start, int) and start == 0 else total + start
    return sum(values, start)


_OVERLOADS = {len: len_, range: range_, abs: abs_, float: float_, int: int_, enumerate: enumerate_, sorted: sorted_,
              max: max_, min: min_, any: any_, all: all_, sum: sum_, zip: zip_, map: map_, filter: filter_}


def overload_of(function):
    """What is called instead of a built-in function."""
    try:
        return _OVERLOADS.get(function, function)
    except TypeError:
        return function
