"""Counting, names of files, and what follows from seeds without being random."""

import numpy as np
from spec import Case, T, V, i32, i64

_KEY, _COUNTER = np.array([5], np.uint64), np.array([1, 2], np.uint64)


def _cases():
    made = []

    def add(op, error=None, types=("float32",), grad=True, **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",), grad=grad))

    for values in ([], [0, 1, 1, 3, 9], [[0, 1], [1, 3]], [[], []]):
        for weights in (V(0), V(*np.shape(values))):
            for binary in (False, True):
                for make in (i32, i64):
                    add(
                        "DenseBincount",
                        input=make(values),
                        size=make(4),
                        weights=weights,
                        binary_output=binary,
                        types=("int32", "int64", "float32", "float64"),
                    )
    add("DenseBincount", input=i32(1, -1), size=i32(4), weights=V(0), error="")
    add("DenseBincount", input=i32(1, 1), size=i32(-4), weights=V(0), error="")
    add("DenseBincount", input=i32(1, 1), size=i32(4), weights=V(3), error="")
    add("DenseBincount", input=i32([[[1]]]), size=i32(4), weights=V(0), error="")
    for shape in ((), (0,), (7,), (2, 3)):
        add(
            "Bucketize",
            input=V(*shape, low=-3, high=9),
            boundaries=[0.0, 2.5, 5.0],
            types=("int32", "int64", "float32", "float64"),
        )
    add("Bucketize", input=V(3), boundaries=[], types=("int32", "float32"))
    add("Bucketize", input=V(3), boundaries=[2.0, 1.0], error="")
    for k in (0, 1, 3):
        add("TopK", input=V(2, 3), k=k, types=None)
    add("TopK", input=V(2, 3), k=4, error="")
    add("TopK", input=V(), k=1, error="")
    for shape in ([], [5], [2, 3], [0]):
        stream = {"shape": i32(shape), "key": _KEY, "counter": _COUNTER, "alg": i32(1), "grad": False}
        add(
            "StatelessRandomUniformIntV2",
            minval=V(values=-3 if shape else 0),
            maxval=V(values=9),
            types=("int32", "int64", "uint32", "uint64") if not shape else ("int32", "int64"),
            **stream,
        )
        add("StatelessRandomUniformFullIntV2", dtype=T, types=("int32", "int64", "uint32", "uint64"), **stream)
    add(
        "StatelessRandomUniformIntV2",
        shape=i32([2]),
        key=_KEY,
        counter=_COUNTER,
        alg=i32(1),
        minval=i32(3),
        maxval=i32(3),
        error="",
    )
    add(
        "StatelessRandomUniformIntV2",
        shape=i32([2]),
        key=_KEY,
        counter=_COUNTER[:1],
        alg=i32(1),
        minval=i32(3),
        maxval=i32(5),
        error="",
    )
    for seed in (i32(1, 2), i64(-7, 2**40)):
        for op in ("StatelessRandomGetKeyCounter",):
            add(op, seed=seed)
    add("StatelessRandomGetKeyCounter", seed=i32(1, 2, 3), error="")
    for make in (i32, i64):
        add("ComputeAccidentalHits", true_classes=i64([[1, 2], [3, 0]]), sampled_candidates=i64(3, 2, 9, 1), num_true=2)
    add(
        "ComputeAccidentalHits",
        true_classes=i64([[1, 2], [3, 0]]),
        sampled_candidates=i64(3, 2, 9, 1),
        num_true=3,
        error="",
    )
    name = np.array(b"/tmp/x", object)
    add("ShardedFilename", basename=name, shard=i32(3), num_shards=i32(12))
    add("ShardedFilespec", basename=name, num_shards=i32(12))
    add("Copy", input=V(2, 3), types=None)
    add("CopyHost", input=V(2, 3), types=None)
    add("NoOp")
    add("Assert", condition=np.array(True), data=[V(2)], types=("float32", "string", "int32"))
    add("Assert", condition=np.array(False), data=[V(values=[1, 2])], error="assertion failed: ")
    add("Assert", condition=np.array([True, True]), data=[V(values=[1, 2])], error="")
    return made


CASES = _cases()
