"""Values that session.run takes and gives as several tensors."""
from penstock._src.graph import indexed_slices
from penstock._src.graph import sparse_tensor


def _slices_parts(slices):
    return [slices.values, slices.indices] + ([] if slices.dense_shape is None else [slices.dense_shape])


def _slices_value(values):
    return indexed_slices.IndexedSlicesValue(values[0], values[1], values[2] if len(values) == 3 else None)


def _sparse_parts(sparse):
    return [sparse.indices, sparse.values, sparse.dense_shape]


# (type, fetch -> (elements, values -> result), (feed, value) -> pairs, feed -> elements), the first that fits.
expansions = [
    (sparse_tensor.SparseTensor, lambda f: (_sparse_parts(f), lambda v: sparse_tensor.SparseTensorValue(*v)),
     lambda f, v: list(zip(_sparse_parts(f), v)), _sparse_parts),
    (indexed_slices.IndexedSlices, lambda f: (_slices_parts(f), _slices_value),
     lambda f, v: list(zip(_slices_parts(f), v)), _slices_parts),
    (object, lambda f: ([f], lambda v: v[0]), lambda f, v: [(f, v)], lambda f: [f]),
]


def register_session_run_conversion_functions(tensor_type, fetch_function, feed_function=None,
                                              feed_function_for_partial_run=None):
    """Lets run take objects of `tensor_type`.

    fetch_function(object) -> (elements, function of their values); feed_function(object, value) -> pairs of element and
    value. ValueError if the type, or one derived from it, is known already.
    """
    for known in expansions:
        if issubclass(known[0], tensor_type):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    expansions.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def feed_pairs(feed, value):
    """The pairs of element and value that feeding `feed` means."""
    for kind, _, expand, _ in expansions:
        if isinstance(feed, kind):
            return expand(feed, value)
    raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")


def feed_elements(feed):
    """The elements that feeding `feed` means."""
    for kind, _, _, expand in expansions:
        if isinstance(feed, kind):
            return expand(feed)
    raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")
