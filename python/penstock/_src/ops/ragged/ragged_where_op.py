"""tf.where of ragged tensors."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.ragged import ragged_checks, ragged_concat_ops, ragged_functional_ops, ragged_gather_ops
from penstock._src.ops.ragged.ragged_tensor import (
    convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def where(condition, x=None, y=None, name=None):
    """The places where `condition` holds; or x there and y elsewhere: by element, or by row if `condition` is a vector.

    ValueError: only one of x and y, or shapes that do not fit.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with ops.name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _places(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        condition, x, y = match_row_splits_dtypes(condition, x, y)
        ragged = [is_ragged(v) for v in (condition, x, y)]
        if not any(ragged):
            return array_ops.where(condition, x, y)
        if all(ragged):
            return ragged_functional_ops.map_flat_values(array_ops.where, condition, x, y)
        if ragged[0]:
            raise ValueError("Input shapes do not match.")
        return _rows(condition, x, y)


def where_v2(condition, x=None, y=None, name=None):
    """`where` that stretches condition, x and y to a common shape."""
    if x is None or y is None:
        return where(condition, x, y, name)
    with ops.name_scope(name, "RaggedWhere", [condition, x, y]):
        parts = [convert_to_tensor_or_ragged_tensor(v, name=n) for v, n in ((condition, "condition"), (x, "x"),
                                                                            (y, "y"))]
        if not any(map(is_ragged, parts)):
            return array_ops.where_v2(*parts)
        return ragged_functional_ops.stretched(array_ops.where_v2, *parts)


def _rows(condition, x, y):
    """Whole rows of x or y."""
    condition.shape.assert_has_rank(1)
    both = ragged_concat_ops.concat([x, y], axis=0)
    of_x, of_y = (ragged_checks.nrows_of(v, both.row_splits.dtype) for v in (x, y))
    chosen = array_ops.where(condition, math_ops.range(of_x), of_x + math_ops.range(of_y))
    return ragged_gather_ops.gather(both, chosen)


def _places(condition):
    """The coordinates of what holds: those within the values, with the first one split into row and column."""
    if not is_ragged(condition):
        return array_ops.where(condition)
    inner = _places(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    rows = array_ops.gather(condition.value_rowids(), inner[:, 0])
    columns = inner[:, 0] - array_ops.gather(condition.row_splits, rows)
    return array_ops.concat([array_ops.expand_dims(rows, 1), array_ops.expand_dims(columns, 1), inner[:, 1:]], axis=1)
