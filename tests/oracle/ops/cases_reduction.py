"""Reductions, running sums and the like."""

from spec import Case, V, i32, i64

_WHERE = [
    ((2, 3), i32([])),
    ((2, 3), i32(0)),
    ((2, 3), i32(-1)),
    ((2, 3), i32(0, 1)),
    ((2, 3, 4), i32(1)),
    ((2, 3, 4), i32(0, 2)),
    ((2, 3, 4), i32(-1, 0)),
    ((), i32([])),
    ((0, 3), i32(0)),
    ((0, 3), i32(1)),
    ((2, 0, 3), i32(1)),
    ((5,), i64(0)),
    ((2, 3, 2, 2, 2), i64(1, 3)),
    ((33, 3), i32([0])),
    ((3, 33), i32([1])),
    ((2, 1, 3), i32([1])),
]


def _cases():
    made = []
    for op in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "All", "Any"):
        for shape, axis in _WHERE:
            for keep in (False, True):
                made.append(Case(op, {"input": V(*shape), "axis": axis, "keep_dims": keep}))
        made.append(Case(op, {"input": V(special=0), "axis": i32(0)}, grad=False))
        types = ("bool",) if op in ("All", "Any") else ("float32",)
        made.append(Case(op, {"input": V(2, 3), "axis": i32(2)}, error="nvalid reduction dimension", types=types))
        made.append(Case(op, {"input": V(2, 3), "axis": i32(-3)}, error="nvalid reduction dimension", types=types))
        made.append(Case(op, {"input": V(2, 3), "axis": i32(0, 0)}, error="", types=types))
        made.append(Case(op, {"input": V(2, 3), "axis": i32(0, -2)}, error="", types=types))
    for op in ("ArgMax", "ArgMin"):
        for shape, axis in (((5,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3, 4), 1), ((2, 3, 2, 2), -1), ((3, 0), 0)):
            for make in (i32, i64):
                for out in ("int32", "int64"):
                    made.append(Case(op, {"input": V(*shape), "dimension": make(axis), "output_type": _type(out)}))
        made.append(Case(op, {"input": V(special=0), "dimension": i32(0)}))
        made.append(Case(op, {"input": V(2, 3), "dimension": i32(2)}, error=""))
        made.append(Case(op, {"input": V(0, 3), "dimension": i32(0)}, error=""))
    for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
        for shape, axis in (((5,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3, 4), 1), ((0, 3), 0), ((1,), 0), ((70, 2), 0)):
            for exclusive in (False, True):
                for reverse in (False, True):
                    made.append(
                        Case(
                            op,
                            {
                                "x": V(*shape, low=-1, high=2),
                                "axis": i32(axis),
                                "exclusive": exclusive,
                                "reverse": reverse,
                            },
                            rough=16 if shape == (70, 2) else 1,
                        )
                    )
        made.append(Case(op, {"x": V(2, 3), "axis": i64(1)}))
        made.append(Case(op, {"x": V(2, 3), "axis": i32(2)}, error=""))
        made.append(Case(op, {"x": V(2, 3), "axis": i32(0, 1)}, error=""))
    for shape in ((), (0,), (7,), (2, 3)):
        made.append(Case("L2Loss", {"t": V(*shape)}))
        made.append(
            Case("Bincount", {"arr": V(*shape, dtype="int32", low=0, high=5), "size": i32(4), "weights": V(*shape)})
        )
        made.append(Case("Bincount", {"arr": V(*shape, dtype="int32", low=0, high=5), "size": i32(4), "weights": V(0)}))
        made.append(
            Case("HistogramFixedWidth", {"values": V(*shape), "value_range": V(values=[-1, 1]), "nbins": i32(4)})
        )
    made.append(Case("Bincount", {"arr": i32(1, -1), "size": i32(4), "weights": V(2)}, error=""))
    made.append(Case("Bincount", {"arr": i32(1, 1), "size": i32(-4), "weights": V(2)}, error=""))
    return made


def _type(name):
    from spec import Type

    return Type(name)


CASES = _cases()
