"""Generators in variables, and distributions by seed with parameters."""

import numpy as np
from spec import Case, Res, T, Type, V, i32, i64

_REAL = ("half", "float32", "float64")


def _state(words=(3, 1, 5)):
    return Res(V(values=list(words), dtype="int64"))


def _cases():
    made = []

    def add(op, error=None, types=("float32",), outputs=None, tolerance=None, **args):
        made.append(
            Case(
                op,
                args,
                error=error,
                types=types if error is None else ("float32",),
                grad=False,
                outputs=outputs,
                tolerance=tolerance,
            )
        )

    one, algorithm = i64(1), {"resource": _state(), "algorithm": i64(1)}
    for shape in ([], [5], [2, 3], [0], [300]):
        for op in ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"):
            add(op, **algorithm, shape=i32(shape), dtype=T, types=("half", "bfloat16", "float32", "float64"))
        add(
            "StatefulUniformFullInt",
            **algorithm,
            shape=i64(shape),
            dtype=T,
            types=("int32", "int64", "uint32", "uint64"),
        )
        add(
            "StatefulUniformInt",
            **algorithm,
            shape=i64(shape),
            minval=V(values=-3),
            maxval=V(values=9),
            types=("int32", "int64"),
        )
    add("StatefulUniform", resource=_state((1, 2)), algorithm=one, shape=i32([2]), dtype=T, error="size of state")
    add("StatefulUniform", resource=_state(), algorithm=i64(7), shape=i32([2]), dtype=T, error="Unsupported algorithm")
    add("StatefulUniformInt", **algorithm, shape=i32([2]), minval=i64(3), maxval=i64(3), error="Need minval")
    for delta in (0, 3, 2**40):
        add("RngReadAndSkip", resource=_state(), alg=i32(1), delta=np.array(delta, np.uint64))
        add("RngSkip", resource=_state(), algorithm=one, delta=i64(delta))
    counts, probs = V(values=[10, 100, 0, 3000]), V(values=[0.25, 0.5, 0.5, 0.875])
    for dtype in ("int32", "int64", "float32", "float64", "half"):
        out = {"dtype": Type(dtype)}
        for shape in ([4], [3, 4], [40, 4]):
            add(
                "StatelessRandomBinomial",
                shape=i32(shape),
                seed=i32(1, 2),
                counts=counts,
                probs=probs,
                **out,
                types=_REAL,
            )
        add("StatefulRandomBinomial", **algorithm, shape=i32(3, 4), counts=counts, probs=probs, **out, types=_REAL)
        add(
            "StatelessRandomPoisson",
            shape=i32(3, 2),
            seed=i64(1, 2),
            lam=V(values=[0.5, 30.0]),
            **out,
            types=("half", "float32", "float64"),
        )
    for shape, many, likely in (([2, 2], [[9.0], [90.0]], [0.25, 0.75]), ([3], [5, -1, 5], [1.5, 0.5, -0.5])):
        likely = V(values=likely)
        add("StatelessRandomBinomial", shape=i32(shape), seed=i32(1, 2), counts=V(values=many), probs=likely)
    add("StatelessRandomBinomial", shape=i32([3]), seed=i32(1, 2), counts=V(2), probs=V(2), error="must end with")
    add("StatelessRandomPoisson", shape=i32([3]), seed=i32(1, 2), lam=V(2), dtype=Type("int64"), error="must end with")
    for shape in ([2], [3, 2]):
        for seed in (i32(1, 2), i64(-1, 2**40)):
            add(
                "StatelessRandomGammaV2",
                shape=i32(shape),
                seed=seed,
                alpha=V(values=[0.5, 3.0]),
                types=("half", "float32", "float64"),
                tolerance=1e-5,
            )
        add(
            "StatelessRandomGammaV3",
            shape=i32(shape),
            key=np.array([5], np.uint64),
            counter=np.array([1, 2], np.uint64),
            alg=i32(1),
            alpha=V(values=[0.5, 3.0]),
            types=("half", "float32", "float64"),
            tolerance=1e-5,
        )
    add("StatelessRandomGammaV2", shape=i32([3]), seed=i32(1, 2), alpha=V(2), error="must end with")
    # Each way of drawing: by normals, uniforms, exponentials; bounds on one side. From the second hundred on
    # TensorFlow's numbers depend on how it splits the work among threads.
    bounds = ((-2, 1), (-0.5, 0.5), (1, 1.25), (2, np.inf), (-np.inf, -3), (-np.inf, 1), (3, 9))
    for low, high in bounds:
        for shape in ([4], [3, 30]):
            add(
                "ParameterizedTruncatedNormal",
                shape=i32(shape),
                means=V(values=0.5),
                stdevs=V(values=2),
                minvals=V(values=low),
                maxvals=V(values=high),
                seed=3,
                seed2=4,
                types=_REAL,
                tolerance=1e-5,
            )
    def bad(phrase, means=0.0, stdevs=1.0, minvals=-1.0, maxvals=1.0):
        values = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
        values = {name: V(values=value) for name, value in values.items()}
        add("ParameterizedTruncatedNormal", shape=i32(2, 3), **values, seed=3, error=phrase)

    bad("Invalid parameters", stdevs=-1.0)
    bad("Invalid parameters", minvals=2.0)
    bad("Invalid parameters", minvals=-np.inf, maxvals=np.inf)
    bad("should have length 1 or shape[0]", means=[0.0, 1.0, 2.0])
    return made


CASES = _cases()
