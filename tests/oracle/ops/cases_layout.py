"""Dimensions and sizes in other layouts of images."""

from spec import Case, V


def _cases():
    made = []

    def add(op, source, target, *values, error=None):
        for value in values:
            args = {"x": V(values=value), "src_format": source, "dst_format": target}
            made.append(Case(op, args, types=("int32", "int64") if error is None else ("int32",), error=error))

    for source, target in (("NHWC", "NCHW"), ("NHWC", "HWNC"), ("NCHW", "NHWC"), ("qwer", "rewq")):
        add("DataFormatDimMap", source, target, [0, 1, 2, 3, -1, -2, -3, -4], [[1, -3], [2, 0]], 2)
    add("DataFormatDimMap", "NDHWC", "DHWNC", [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4])
    for source, target in (("NHWC", "NCHW"), ("NHWC", "HWNC"), ("NCHW", "NHWC"), ("NHWC", "NCWH")):
        pairs = [[7, 4], [9, 3], [4, 5], [5, 1]]
        add("DataFormatVecPermute", source, target, [7, 4, 9, 3], [7, 4], pairs, pairs[:2])
    add("DataFormatVecPermute", "NDHWC", "NCDHW", [1, 2, 3, 4, 5], [1, 2, 3], [[1, 2]] * 5)
    for op in ("DataFormatDimMap", "DataFormatVecPermute"):
        for source, target in (("NHW", "NCHW"), ("NHWW", "NCHW"), ("NHWC", "NCDHW"), ("NHWC", "NCHX"),
                           ("NHWC", "NHWCD")):
            add(op, source, target, [0, 1], error="")
    add("DataFormatVecPermute", "NHWC", "NCHW", [0, 1, 2], [[1, 2, 3]] * 4, [[[1, 2]] * 4], error="")
    return made


CASES = _cases()
