"""Functions of the innermost values of ragged tensors."""
from penstock.framework import ops
from penstock.ops import check_ops, control_flow_ops
from penstock.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def map_flat_values(op, *args, **kwargs):
    """op of the innermost values of all ragged arguments, which must have the same rows; the result has them too."""
    found = []

    def flat(value):
        if is_ragged(value):
            value = convert_to_tensor_or_ragged_tensor(value)
            found.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)):
            return type(value)([flat(v) for v in value])
        if isinstance(value, dict):
            return {key: flat(v) for key, v in value.items()}
        return value

    flat_args = [flat(value) for value in args]
    flat_kwargs = {key: flat(value) for key, value in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    match_row_splits_dtypes(*found)
    if len({value.ragged_rank for value in found}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    splits = [value.nested_row_splits for value in found]
    checks = [check_ops.assert_equal(a, b, message="Inputs must have identical ragged splits")
              for other in splits[1:] for a, b in zip(splits[0], other) if a is not b]
    with ops.control_dependencies(checks):
        values = op(*flat_args, **flat_kwargs)
        if checks:
            return RaggedTensor.from_nested_row_splits(
                values, [control_flow_ops.with_dependencies(checks, s) for s in splits[0]], validate=False)
        return RaggedTensor.from_nested_row_splits(values, splits[0], validate=False)
