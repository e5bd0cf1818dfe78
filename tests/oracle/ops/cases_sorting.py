"""Order, sets and search."""

from spec import Case, NUMBERS, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types))

    for shape in ((5,), (2, 7), (2, 2, 4), (0, 4), (1,)):
        for k in (0, 1, min(3, shape[-1])):
            add("TopKV2", input=V(*shape), k=i32(k))
            # TensorFlow infers no shape where one is unknown.
            made.append(Case("ApproxTopK", {"input": V(*shape, low=-9, high=9), "k": k}, shapes=False))

        add("NthElement", input=V(*shape, low=-9, high=9), n=i32(shape[-1] // 2), reverse=len(shape) == 1)
    add("TopKV2", input=V(special=0), k=i32(4), types=("int32", "int64", "uint8", "int8"))
    add("TopKV2", input=V(3), k=i32(4), error="")
    add("TopKV2", input=V(3), k=i32(-1), error="")
    add("TopKV2", input=V(), k=i32(0), error="")
    add("NthElement", input=V(3), n=i32(3), error="")
    add("ApproxTopK", input=V(3), k=4, error="")
    for shape in ((0,), (1,), (9,)):
        for out in ("int32", "int64"):
            add("Unique", x=V(*shape, low=-1, high=1), out_idx=_type(out))
            add("UniqueWithCounts", x=V(*shape, low=-1, high=1), out_idx=_type(out))
        add("ListDiff", x=V(*shape, low=-1, high=1), y=V(3, low=-1, high=1))
    add("ListDiff", x=V(2, 2), y=V(3), error="")
    add("Unique", x=V(2, 2), error="")
    for axis in ([], [0], [1], [-1]):
        shape = (6,) if not axis else (3, 2)
        for op in ("UniqueV2", "UniqueWithCountsV2"):
            if axis:
                add(op, x=V(*shape, values=[[1, 0], [1, 0], [2, 2]]), types=NUMBERS, axis=i64(axis))
            else:
                add(op, x=V(*shape, low=0, high=1), axis=i64(axis))
    for op in ("LowerBound", "UpperBound"):
        for out in ("int32", "int64"):
            add(
                op,
                sorted_inputs=V(2, 5, low=-4, high=4, sort=True),
                values=V(2, 3, low=-4, high=4),
                out_type=_type(out),
            )
        add(op, sorted_inputs=V(2, 5), values=V(3, 3), error="")
    for shape in ((6,), (3, 5), (2, 2, 7), (0, 4), (3, 0), (1,)):
        for dtype in ("half", "bfloat16", "float32", "float64"):
            add("IsotonicRegression", input=V(*shape), output_dtype=_type(dtype), types=(dtype,))
        add("IsotonicRegression", input=V(*shape), output_dtype=_type("float32"), types=("int8", "int16"))
        add("IsotonicRegression", input=V(*shape), output_dtype=_type("float64"), types=("int32", "int64"))
    add("InTopK", predictions=V(3, 4), targets=i32(0, 3, 1), k=2, types=("float32",))
    add("InTopKV2", predictions=V(3, 4), targets=i64(0, 3, 1), k=i64(2), types=("float32",))
    add("InTopKV2", predictions=V(3, 4), targets=i32(0, 7, -1), k=i32(2), types=("float32",))
    add("InTopK", predictions=V(3, 4), targets=i32(0, 3), k=2, error="")
    return made


def _type(name):
    from spec import Type

    return Type(name)


CASES = _cases()
