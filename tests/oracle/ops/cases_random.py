"""Random numbers: the same ones for the same seeds."""

import numpy as np

from spec import Case, T, Type, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=("half", "bfloat16", "float32", "float64"), **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",), grad=False))

    for shape in ([], [5], [2, 3], [0], [300]):
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            add(op, shape=i32(shape), dtype=T, seed=7, seed2=3)
            add(op, shape=i64(shape), dtype=T, seed=0, seed2=9)
        add(
            "RandomUniformInt",
            shape=i32(shape),
            minval=V(values=-3),
            maxval=V(values=9),
            seed=1,
            seed2=2,
            types=("int32", "int64"),
        )
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
            add(op, shape=i32(shape), seed=i32(1, 2), dtype=T)
            add(op, shape=i32(shape), seed=i64(-1, 2**40), dtype=T)
        for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"):
            for alg in (1, 2):
                add(
                    op,
                    shape=i32(shape),
                    key=np.array([5], np.uint64),
                    counter=np.array([1, 2] if alg == 1 else [1, 0], np.uint64),
                    alg=i32(alg),
                    dtype=T,
                )
        add(
            "StatelessRandomUniformInt",
            shape=i32(shape),
            seed=i32(1, 2),
            minval=V(values=-3),
            maxval=V(values=9),
            types=("int32", "int64"),
        )
        add(
            "StatelessRandomUniformFullInt",
            shape=i32(shape),
            seed=i32(1, 2),
            dtype=T,
            types=("int32", "int64", "uint32", "uint64"),
        )
    add("RandomUniform", shape=i32([-1]), dtype=T, seed=7, error="")
    add("RandomUniform", shape=i32([[1]]), dtype=T, seed=7, error="")
    add("RandomUniformInt", shape=i32([1]), minval=i32(3), maxval=i32(3), seed=1, error="")
    add("StatelessRandomUniform", shape=i32([1]), seed=i32(1, 2, 3), dtype=T, error="")
    for shape in ((5,), (4, 2), (0,), (1, 3)):
        add("RandomShuffle", value=V(*shape), seed=3, seed2=4, types=None)
    whole = ("int32", "int64", "uint32", "uint64")
    for rounds in (4, 8):
        for most in (0, 9, 70000):
            index = V(values=list(range(min(most, 7) + 1)))
            add("RandomIndexShuffle", index=index, seed=i32([1, 2, 3]), max_index=V(values=most), rounds=rounds,
                types=whole)
    add("RandomIndexShuffle", index=i32([1, 2]), seed=i64([[1, 2, 3], [4, 5, 2**40 + 6]]), max_index=i32([5, 6]))
    add("RandomIndexShuffle", index=i32(1), seed=i32([1, 2, 3]), max_index=i32(-4), error="max_index must be >= 0")
    add("RandomIndexShuffle", index=i32(1), seed=i32([1, 2]), max_index=i32(4), error="Seed must")
    add("RandomIndexShuffle", index=i32([[1]]), seed=i32([1, 2, 3]), max_index=i32(4), error="")
    add("Multinomial", logits=V(2, 4), num_samples=i32(6), seed=3, seed2=1, output_dtype=Type("int64"))
    add("Multinomial", logits=V(2, 4), num_samples=i32(6), seed=3, seed2=1, output_dtype=Type("int32"))
    add("StatelessMultinomial", logits=V(2, 4), num_samples=i32(6), seed=i32(1, 2), output_dtype=Type("int64"))
    add("Multinomial", logits=V(2, 0), num_samples=i32(6), seed=3, error="")
    add("Multinomial", logits=V(4), num_samples=i32(6), seed=3, error="")
    add("RandomGamma", shape=i32([4]), alpha=V(values=[0.5, 2.0]), seed=3, seed2=1)
    add("RandomPoissonV2", shape=i32([4]), rate=V(values=[0.5, 20.0]), seed=3, seed2=1, dtype=Type("int64"))
    limits = {"means": V(values=0.5), "stddevs": V(values=2.0), "minvals": V(values=-1.0), "maxvals": V(values=3.0)}
    for shape in ([5], [2, 3]):
        add("StatelessParameterizedTruncatedNormal", shape=i32(shape), seed=i32(1, 2), **limits)
    for dim, count, skip in ((1, 5, 0), (3, 40, 7), (40, 3, 12345), (2056, 2, 99)):
        add("SobolSample", dim=i32(dim), num_results=i32(count), skip=i32(skip), dtype=T, types=("float32", "float64"))
    add("SobolSample", dim=i32(0), num_results=i32(3), skip=i32(0), error="dim must be at least one")
    add("SobolSample", dim=i32(3), num_results=i32(0), skip=i32(0), error="num_results must be at least one")
    add("SobolSample", dim=i32(3), num_results=i32(1), skip=i32(-1), error="skip must be non-negative")
    box = np.array([[[0.1, 0.2, 0.5, 0.6]]], np.float32)
    for seed, covered in ((i32(1, 2), 0.3), (i64(7, 2**40), 0.1)):
        args = {"image_size": V(values=[50, 60, 3]), "min_object_covered": np.float32(covered), "seed": seed}
        add("StatelessSampleDistortedBoundingBox", bounding_boxes=box, types=("uint8", "int32", "int64"), **args)
        add("StatelessSampleDistortedBoundingBox", bounding_boxes=box, aspect_ratio_range=[0.5, 2.0],
            area_range=[0.2, 0.9], max_attempts=5, types=("int32",), **args)
        add("StatelessSampleDistortedBoundingBox", bounding_boxes=box[:, :0], types=("int32",),
            use_image_if_no_bounding_boxes=True, **args)
    return made


CASES = _cases()
