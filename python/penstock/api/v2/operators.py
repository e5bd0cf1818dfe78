"""tf.__operators__: implementations of Python's operators."""
FROM = {
    "core_ops.array_slice": "getitem=_slice_helper",
    "core_ops.math_operators": "add=_add",
    "core_ops.math_ops": "eq=equal ne=not_equal",
    "ops.ragged.ragged_getitem": "ragged_getitem=ragged_tensor_getitem",
}
