"""Elementwise ops of one argument."""

from spec import ALL, Case, FLOATING, Type, V

_ANY = [
    "Abs",
    "Neg",
    "Sign",
    "Square",
    "Ceil",
    "Floor",
    "Rint",
    "Round",
    "IsFinite",
    "IsInf",
    "IsNan",
    "OnesLike",
    "ZerosLike",
    "Exp",
    "Expm1",
    "Sin",
    "Cos",
    "Tan",
    "Sinh",
    "Cosh",
    "Tanh",
    "Asinh",
    "Atan",
    "Sigmoid",
    "Erf",
    "Erfc",
    "Invert",
    "PopulationCount",
    "LogicalNot",
    "Conj",
    "Real",
    "Imag",
    "Angle",
    "ComplexAbs",
    "Inv",
    "Reciprocal",
    "Softplus",
    "Softsign",
    "Relu",
    "Relu6",
    "Elu",
    "Selu",
    "LeakyRelu",
    "Digamma",
    "Lgamma",
    "Identity",
    "StopGradient",
    "Snapshot",
    "PreventGradient",
    "DeepCopy",
    "GuaranteeConst",
    "DebugGradientIdentity",
    "InvGrad",
    "BesselI0e",
    "BesselI1e",
    "BesselI0",
    "BesselI1",
    "Dawsn",
    "Expint",
    "FresnelCos",
    "FresnelSin",
    "Spence",
    "BesselJ0",
    "BesselJ1",
]
_POSITIVE = ["Log", "Log1p", "Sqrt", "Rsqrt", "BesselK0", "BesselK1", "BesselK0e", "BesselK1e", "BesselY0", "BesselY1"]
_UNIT = ["Acos", "Asin", "Atanh", "Erfinv", "Ndtri"]
_NAMES = {
    "Conj": "input",
    "Real": "input",
    "Imag": "input",
    "Angle": "input",
    "Identity": "input",
    "StopGradient": "input",
    "Snapshot": "input",
    "PreventGradient": "input",
    "GuaranteeConst": "input",
    "DebugGradientIdentity": "input",
    "Softplus": "features",
    "Softsign": "features",
    "Relu": "features",
    "Relu6": "features",
    "Elu": "features",
    "Selu": "features",
    "LeakyRelu": "features",
}
_LOOSE = ("Digamma", "Lgamma", "Ndtri", "Erfinv", "Tan")


def _cases():
    made = []

    def unary(op, low, high, special=True):
        if op == "InvGrad":
            return
        tolerance = 1e-4 if op in _LOOSE or op.startswith("Bessel") else None
        shapes = [
            V(low=low, high=high),
            V(0, low=low, high=high),
            V(2, 3, low=low, high=high),
            V(2, 0, 3),
            V(17, low=low, high=high),
        ]
        if special:
            shapes.append(V(special=0))
        name = _NAMES.get(op, "x")
        for value in shapes:
            args = {name: value}
            if op in ("Real", "Imag", "Angle", "ComplexAbs"):
                for given, out in (("complex64", "float32"), ("complex128", "float64")):
                    made.append(Case(op, {**args, "Tout": Type(out)}, types=(given,)))
                continue
            made.append(Case(op, args, tolerance=tolerance))

    for op in _ANY:
        unary(op, -3, 3)
    for op in _POSITIVE:
        unary(op, 1 / 8, 5)
    for op in ("Acosh",):
        unary(op, 1, 5)
    for op in _UNIT:
        unary(op, 1 / 16 if op == "Ndtri" else -15 / 16, 1)
    for op, a, b in (
        ("SigmoidGrad", "y", "dy"),
        ("TanhGrad", "y", "dy"),
        ("SqrtGrad", "y", "dy"),
        ("RsqrtGrad", "y", "dy"),
        ("ReciprocalGrad", "y", "dy"),
        ("InvGrad", "y", "dy"),
        ("SoftplusGrad", "gradients", "features"),
        ("SoftsignGrad", "gradients", "features"),
        ("ReluGrad", "gradients", "features"),
        ("Relu6Grad", "gradients", "features"),
        ("EluGrad", "gradients", "outputs"),
        ("SeluGrad", "gradients", "outputs"),
        ("LeakyReluGrad", "gradients", "features"),
    ):
        for shape in ((), (0,), (2, 3), (9,)):
            made.append(Case(op, {a: V(*shape, low=1 / 8, high=1), b: V(*shape)}, types=FLOATING))
    for value in (V(2, 3, low=-8, high=8), V(), V(0), V(special=0)):
        for out in ALL:
            if out != "string" and not (
                value.special is not None and out not in ("float32", "float64", "half", "bfloat16")
            ):
                made.append(Case("Cast", {"x": value, "DstT": Type(out)}, types=ALL[:-1]))
                if out in ("half", "float32", "bfloat16"):
                    made.append(
                        Case("Cast", {"x": value, "DstT": Type(out), "Truncate": True}, types=("float64", "float32"))
                    )
    for given, out in (
        ("float32", "int32"),
        ("float32", "uint8"),
        ("uint8", "int8"),
        ("float64", "int64"),
        ("int64", "float64"),
        ("complex64", "float32"),
        ("half", "int16"),
        ("int16", "uint8"),
        ("complex128", "complex64"),
    ):
        for shape in ((2, 4), (0, 8), (3, 8)):
            made.append(Case("Bitcast", {"input": V(*shape), "type": Type(out)}, types=(given,)))
    made.append(Case("Bitcast", {"input": V(2, 4, dtype="uint8"), "type": Type("int32")}, types=("float32",)))
    made.append(
        Case(
            "Bitcast",
            {"input": V(2, 3, dtype="uint8"), "type": Type("int32")},
            error="annot bitcast",
            types=("float32",),
        )
    )
    for shape in ((), (0,), (2, 3)):
        made.append(
            Case("Complex", {"real": V(*shape), "imag": V(*shape), "Tout": Type("complex64")}, types=("float32",))
        )
        made.append(
            Case("Complex", {"real": V(*shape), "imag": V(*shape), "Tout": Type("complex128")}, types=("float64",))
        )
        made.append(Case("CheckNumerics", {"tensor": V(*shape), "message": "here"}))
        made.append(Case("ClipByValue", {"t": V(*shape), "clip_value_min": V(values=0), "clip_value_max": V(values=1)}))
        made.append(
            Case(
                "ClipByValue",
                {
                    "t": V(*shape),
                    "clip_value_min": V(*shape, low=0, high=1),
                    "clip_value_max": V(*shape, low=1, high=2),
                },
            )
        )
    made.append(Case("CheckNumerics", {"tensor": V(special=0), "message": "here"}, error="Tensor had"))
    made.append(
        Case("CheckNumericsV2", {"tensor": V(values=[1.0, float("inf")]), "message": "here"}, error="Tensor had")
    )
    made.append(Case("LeakyRelu", {"features": V(3, 3), "alpha": 0.3}))
    made.append(Case("AddN", {"inputs": [V(2, 3), V(2, 3), V(2, 3)]}))
    made.append(Case("AddN", {"inputs": [V(0)]}))
    made.append(Case("AddN", {"inputs": [V(2), V(3)]}, error=""))
    made.append(Case("IdentityN", {"input": [V(2, 3), V(0), V(2, dtype="int32")]}))
    made.append(Case("AccumulateNV2", {"inputs": [V(2, 3), V(2, 3)], "shape": [2, 3]}))
    made.append(Case("EnsureShape", {"input": V(2, 3), "shape": [None, 3]}))
    made.append(Case("EnsureShape", {"input": V(2, 3), "shape": [None, 4]}, error=""))
    return made


CASES = _cases()
