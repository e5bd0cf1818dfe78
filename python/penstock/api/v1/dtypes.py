"""tf.dtypes: the types. The ops that convert them are in the rows of their family."""
FROM = {
    "graph.dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16
        int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 variant""",
    "core_ops.math_ops": "cast complex saturate_cast",
    "graph.gen": "as_string",
}
