"""Elementwise ops of two and more arguments, with broadcasting."""

from spec import Case, INTEGERS, REAL, SIGNED, V, i32, i64
import numpy as np

_SHAPES = [
    ((), ()),
    ((2, 3), (3,)),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (3,)),
    ((3,), ()),
    ((), (2, 2)),
    ((2, 3), (2, 3)),
    ((1,), (0,)),
    ((2, 3, 1, 2), (1, 3, 2, 1)),
    ((1, 1, 1, 1, 2, 3), (2, 1, 2, 1, 1, 3)),
]
_PLAIN = [
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "MulNoNan",
    "DivNoNan",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Equal",
    "NotEqual",
    "Less",
    "LessEqual",
    "Greater",
    "GreaterEqual",
    "LogicalAnd",
    "LogicalOr",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Atan2",
    "Xdivy",
    "Xlogy",
    "Xlog1py",
]
_NONZERO = ["Div", "RealDiv", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod"]


def _cases():
    made = []
    names = {
        "Atan2": ("y", "x"),
        "Igamma": ("a", "x"),
        "Igammac": ("a", "x"),
        "IgammaGradA": ("a", "x"),
        "Zeta": ("x", "q"),
        "Polygamma": ("a", "x"),
        "NextAfter": ("x1", "x2"),
    }
    for op in _PLAIN:
        a, b = names.get(op, ("x", "y"))
        low = 1 / 16 if op in ("Xlogy", "Xlog1py", "Xdivy") else -3
        for left, right in _SHAPES:
            made.append(Case(op, {a: V(*left, low=low, high=3), b: V(*right, low=low, high=3)}))
        made.append(Case(op, {a: V(special=0), b: V(special=1)}, grad=False))
        made.append(Case(op, {a: V(special=0), b: V(special=5)}, grad=False))
        logical = ("bool",) if op.startswith("Logical") else ("int32",) if op.startswith("Bitwise") else ("float32",)
        if op not in ("Equal", "NotEqual"):
            made.append(Case(op, {a: V(2, 3), b: V(2)}, error="", types=logical))
    for op in _NONZERO:
        for left, right in _SHAPES:
            made.append(Case(op, {"x": V(*left, low=-9, high=9), "y": V(*right, low=1, high=4)}))
            made.append(Case(op, {"x": V(*left, low=-9, high=9), "y": V(*right, low=-4, high=-1)}, types=REAL + SIGNED))
        made.append(Case(op, {"x": V(special=0), "y": V(special=1)}, types=REAL, grad=False))
        made.append(Case(op, {"x": V(values=[-100, 100, 7]), "y": V(values=[-1, 1, -1])}, types=SIGNED))
        if op != "RealDiv":
            for dtype in INTEGERS:
                made.append(Case(op, {"x": V(values=[1, 2]), "y": V(values=[1, 0])}, types=(dtype,)))
    for dtype in SIGNED:
        lowest = np.iinfo(dtype).min
        for op in ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod"):
            made.append(Case(op, {"x": V(values=[lowest + 1, 5]), "y": V(values=[-1, 5])}, types=(dtype,)))
    for left, right in _SHAPES:
        made.append(Case("Pow", {"x": V(*left, low=1 / 4, high=3), "y": V(*right, low=0, high=3)}))
        for op in ("LeftShift", "RightShift"):
            made.append(Case(op, {"x": V(*left, low=-9, high=9), "y": V(*right, low=0, high=7)}))
        for op in ("Igamma", "Igammac", "IgammaGradA", "Zeta"):
            a, b = names[op]
            made.append(Case(op, {a: V(*left, low=1.25, high=3), b: V(*right, low=1.25, high=3)}, tolerance=1e-3))
        made.append(
            Case("Polygamma", {"a": V(*left, values=np.full(left, 2)), "x": V(*right, low=1, high=3)}, tolerance=1e-3)
        )
        made.append(Case("NextAfter", {"x1": V(*left), "x2": V(*right)}))
        made.append(Case("SelectV2", {"condition": V(*left, dtype="bool"), "t": V(*right), "e": V(*left)}))
        made.append(
            Case(
                "BroadcastArgs",
                {"s0": i32(list(left) if left else []), "s1": i32(list(right) if right else [])},
                types=("float32",),
            )
            if left and right
            else Case("BroadcastArgs", {"s0": i64(2, 1), "s1": i64([3])}, types=("half",))
        )
        if left and right:
            made.append(
                Case("BroadcastGradientArgs", {"s0": i32(list(left)), "s1": i32(list(right))}, types=("float32",))
            )
    for x, y in (([-2, -1, 2], [2, 3, 0]), ([0, 0, 1], [0, 2, 5]), ([3, 2, -3], [3, 0, 1])):
        made.append(
            Case(
                "Pow",
                {"x": V(values=x), "y": V(values=y)},
                types=SIGNED + REAL + ("complex64", "complex128"),
                grad=False,
            )
        )
    made.append(Case("Pow", {"x": V(values=[2, 3]), "y": V(values=[-1, 2])}, types=SIGNED))
    made.append(Case("Pow", {"x": V(special=0), "y": V(special=2)}, types=REAL, grad=False))
    made.append(
        Case(
            "LeftShift",
            {"x": V(special=0), "y": V(low=0, high=99, values=[0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 63, 99])},
            types=INTEGERS,
        )
    )
    made.append(
        Case("RightShift", {"x": V(special=0), "y": V(values=[0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 63, 99])}, types=INTEGERS)
    )
    for shape in ((), (0,), (3, 2)):
        made.append(
            Case(
                "Betainc",
                {"a": V(*shape, low=1, high=3), "b": V(*shape, low=1, high=3), "x": V(*shape, low=1 / 16, high=1)},
                tolerance=1e-3,
            )
        )
        made.append(Case("ApproximateEqual", {"x": V(*shape), "y": V(*shape), "tolerance": 0.6}))
        made.append(Case("Select", {"condition": V(*shape, dtype="bool"), "x": V(*shape), "y": V(*shape)}))
    made.append(Case("Select", {"condition": V(3, dtype="bool"), "x": V(3, 2), "y": V(3, 2)}))
    made.append(Case("Select", {"condition": V(dtype="bool"), "x": V(3, 2), "y": V(3, 2)}))
    made.append(Case("Select", {"condition": V(2, dtype="bool"), "x": V(3, 2), "y": V(3, 2)}, error=""))
    made.append(Case("Select", {"condition": V(3, dtype="bool"), "x": V(3, 2), "y": V(2, 3)}, error=""))
    made.append(Case("Equal", {"x": V(2, 3), "y": V(2), "incompatible_shape_error": False}, types=("float32",)))
    made.append(Case("Equal", {"x": V(2, 3), "y": V(2)}, error=""))
    made.append(Case("ApproximateEqual", {"x": V(2), "y": V(3)}, error=""))
    return made


CASES = _cases()
