"""The switch that makes tensors behave as NumPy's arrays."""
from penstock._src.base.mode import enable_numpy_style_slicing, set_dtype_conversion_mode
from penstock._src.ops.numpy import np_dtypes, np_math_ops


def enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Tensors get NumPy's methods (`T`, `reshape`, `astype`...) and indexing with arrays; operators bring two tensors
    to one type by NumPy's rules.

    prefer_float32: whether Python's floats are float32 instead of float64.
    dtype_conversion_mode: "legacy", or "off" for operators that ask for equal types. ValueError for others;
        NotImplementedError for "safe" and "all", the modes with weak tensors.
    """
    set_dtype_conversion_mode(dtype_conversion_mode)
    enable_numpy_style_slicing()
    np_math_ops.enable_numpy_methods_on_tensor()
    np_dtypes.set_prefer_float32(prefer_float32)
