"""tf.experimental.numpy."""
FROM = {
    "ops.numpy.np_array_ops": """
        all amax amin any arange around array asanyarray asarray ascontiguousarray atleast_1d atleast_2d
        atleast_3d broadcast_arrays broadcast_to compress copy cumprod cumsum diag diag_indices diagflat
        diagonal dsplit dstack empty empty_like expand_dims eye flatten flip fliplr flipud full full_like hsplit
        hstack identity imag isscalar ix_ max mean min moveaxis ndim newaxis nonzero ones ones_like pad prod
        ravel real repeat reshape roll rot90 round select shape sign size split squeeze stack std sum swapaxes
        take take_along_axis transpose tri tril triu vander var vsplit vstack where zeros zeros_like""",
    "ops.numpy.np_arrays": """
        ndarray""",
    "ops.numpy.np_config": """
        experimental_enable_numpy_behavior=enable_numpy_behavior""",
    "ops.numpy.np_dtypes": """
        bool_ complex128 complex64 complex_ float16 float32 float64 float_ iinfo inexact int16 int32 int64 int8
        int_ issubdtype object_ string_ uint16 uint32 uint64 uint8 unicode_""",
    "ops.numpy.np_math_ops": """
        abs absolute add allclose angle append arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
        argmin argsort array_equal average bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil clip
        concatenate conj conjugate cos cosh count_nonzero cross deg2rad diff divide divmod dot e einsum equal
        exp exp2 expm1 fabs fix float_power floor floor_divide gcd geomspace greater greater_equal heaviside
        hypot inf inner isclose iscomplex iscomplexobj isfinite isinf isnan isneginf isposinf isreal isrealobj
        kron lcm less less_equal linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
        logical_or logical_xor logspace matmul maximum meshgrid minimum mod multiply nanmean nanprod nansum
        negative nextafter not_equal outer pi polyval positive power ptp rad2deg reciprocal remainder signbit
        sin sinc sinh sort sqrt square subtract tan tanh tensordot tile trace true_divide vdot""",
    "ops.numpy.np_utils": """
        finfo promote_types result_type""",
}
