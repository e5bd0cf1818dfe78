"""Ops that move, make and describe arrays."""

import numpy as np
from spec import Case, NUMBERS, T, Type, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types))

    for shape in ((), (0,), (2, 3), (2, 0, 3), (3, 1, 2, 1)):
        rank = len(shape)
        for out in ("int32", "int64"):
            add("Shape", input=V(*shape), out_type=Type(out))
            add("Size", input=V(*shape), out_type=Type(out))
            add("ShapeN", input=[V(*shape), V(2)], out_type=Type(out))
        add("Rank", input=V(*shape))
        for axis in range(-rank - 1, rank + 1):
            add("ExpandDims", input=V(*shape), axis=i32(axis))
        add("ExpandDims", input=V(*shape), axis=i32(rank + 1), error="")
        add("ExpandDims", input=V(*shape), axis=i32(-rank - 2), error="")
        add("Squeeze", input=V(*shape), axis=[])
        add("Reshape", tensor=V(*shape), shape=i32([-1]))
        add("Reshape", tensor=V(*shape), shape=i64([int(np.prod(shape)), 1]))
        add("BroadcastTo", input=V(*shape), shape=i32([2] + list(shape)))
        add("Tile", input=V(*shape), multiples=i32([2] * rank))
        add("Tile", input=V(*shape), multiples=i64([0] * rank))
        add("Transpose", x=V(*shape), perm=i32(list(range(rank))[::-1]))
        add("ConjugateTranspose", x=V(*shape), perm=i32(list(range(rank))[::-1]), types=NUMBERS)
        add("ReverseV2", tensor=V(*shape), axis=i32(list(range(0, rank, 2))))
        add("Reverse", tensor=V(*shape), dims=np.array([i % 2 == 0 for i in range(rank)], bool))
        add("Where", condition=V(*shape))
        add("Fill", dims=i32(list(shape)), value=V())
        add("PlaceholderWithDefault", input=V(*shape), shape=list(shape))
        add("Empty", shape=i32(list(shape)), dtype=T, init=True)
    add("Squeeze", input=V(1, 3, 1), axis=[-1])
    add("Squeeze", input=V(1, 3, 1), axis=[0, 2])
    add("Squeeze", input=V(1, 3, 1), axis=[1], error="")
    add("Squeeze", input=V(1, 3, 1), axis=[3], error="")
    for shape in ([3, -1], [-1, 2, 1], [6], [1, 6, 1], [2, 3, -1]):
        add("Reshape", tensor=V(2, 3), shape=i32(shape))
    for shape in ([4], [-1, 4], [-1, -1], [-2, 3], [0, -1]):
        add("Reshape", tensor=V(2, 3), shape=i32(shape), error="")
    add("Reshape", tensor=V(0, 3), shape=i32(0, 7))
    add("Reshape", tensor=V(0, 3), shape=i32(3, -1))
    add("Reshape", tensor=V(0, 3), shape=i32(0, -1), error="")
    add("BroadcastTo", input=V(2, 1), shape=i32(3, 2, 4))
    add("BroadcastTo", input=V(2, 1), shape=i32(3, 4), error="")
    add("BroadcastTo", input=V(2, 1), shape=i32([2]), error="")
    add("BroadcastTo", input=V(2, 1), shape=i32([-2, 1]), error="")
    add("Tile", input=V(2, 3), multiples=i32(2), error="")
    add("Tile", input=V(2, 3), multiples=i32(2, -1), error="")
    add("Tile", input=V(2, 3, 2), multiples=i32(2, 1, 3))
    for perm in ([1, 0, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0]):
        add("Transpose", x=V(2, 3, 4), perm=i32(perm))
        add("ConjugateTranspose", x=V(2, 3, 4), perm=i64(perm), types=NUMBERS)
    for perm in ([0, 0, 1], [0, 1], [0, 1, 3], [0, 1, -4]):
        add("Transpose", x=V(2, 3, 4), perm=i32(perm), error="")
    add("Transpose", x=V(2, 3, 1, 2, 2), perm=i32(4, 0, 3, 1, 2))
    for axis in ([0], [-1], [0, 2], [-2, 0], []):
        add("ReverseV2", tensor=V(2, 3, 4), axis=i32(axis))
    for axis in ([3], [0, 0], [-4]):
        add("ReverseV2", tensor=V(2, 3, 4), axis=i32(axis), error="")
    add("Reverse", tensor=V(2, 3), dims=np.array([True]), error="")
    for batch, seq in ((0, 1), (1, 0)):
        add("ReverseSequence", input=V(3, 3, 2), seq_lengths=i32(0, 2, 3), seq_dim=seq, batch_dim=batch)
        add("ReverseSequence", input=V(3, 3, 2), seq_lengths=i64(1, 2, 1), seq_dim=seq, batch_dim=batch)
    add("ReverseSequence", input=V(3, 3, 2), seq_lengths=i32(0, 2, 4), seq_dim=1, error="")
    add("ReverseSequence", input=V(3, 3, 2), seq_lengths=i32(0, -2, 4), seq_dim=1, error="")
    add("ReverseSequence", input=V(3, 3, 2), seq_lengths=i32(0, 2), seq_dim=1, error="")
    for shift, axis in (
        (i32(1), i32(0)),
        (i32(-4), i32(1)),
        (i32(1, 2), i32(0, 1)),
        (i32(1, 1), i32(0, 0)),
        (i64(100), i64(-1)),
    ):
        add("Roll", input=V(2, 3), shift=shift, axis=axis)
        add("Roll", input=V(0, 3), shift=shift, axis=axis)
    add("Roll", input=V(2, 3), shift=i32(1), axis=i32(2), error="")
    add("Roll", input=V(), shift=i32(1), axis=i32(0), error="")
    for paddings in ([[0, 0], [0, 0]], [[1, 2], [0, 3]], [[0, 1], [2, 0]]):
        add("Pad", input=V(2, 3), paddings=i32(paddings))
        add("PadV2", input=V(2, 3), paddings=i64(paddings), constant_values=V())
        add("Pad", input=V(0, 3), paddings=i32(paddings))
        for mode, p in (("REFLECT", [[1, 1], [0, 2]]), ("SYMMETRIC", [[2, 1], [0, 3]]), ("REFLECT", [[0, 0], [0, 0]])):
            add("MirrorPad", input=V(2, 3), paddings=i32(p), mode=mode)
            add("MirrorPadGrad", input=V(5, 7), paddings=i32([[1, 1], [1, 2]]), mode=mode)
    add("Pad", input=V(), paddings=np.zeros((0, 2), np.int32))
    add("Pad", input=V(2, 1, 2, 1, 2), paddings=i32([[1, 0]] * 5))
    add("Pad", input=V(2, 3), paddings=i32([[-1, 0], [0, 0]]), error="")
    add("Pad", input=V(2, 3), paddings=i32([[1, 0]]), error="")
    add("MirrorPad", input=V(2, 3), paddings=i32([[2, 0], [0, 0]]), mode="REFLECT", error="")
    add("MirrorPad", input=V(2, 3), paddings=i32([[3, 0], [0, 0]]), mode="SYMMETRIC", error="")
    add("MirrorPad", input=V(2, 3), paddings=i32([[-1, 0], [0, 0]]), mode="SYMMETRIC", error="")
    for indices, on in (
        (i32(0, 2, -1, 5), 3),
        (i64([[0, 1], [2, 1]]), 3),
        (np.array([1, 0], np.uint8), 2),
        (i32([]), 2),
        (i32(1), 3),
        (i32(1, 0), 0),
    ):
        for axis in (-1, 0):
            add("OneHot", indices=indices, depth=i32(on), on_value=V(), off_value=V(), axis=axis)
    add("OneHot", indices=i32(1, 0), depth=i32(-1), on_value=V(), off_value=V(), error="")
    add("OneHot", indices=i32(1, 0), depth=i32(2), on_value=V(), off_value=V(), axis=2, error="")
    for start, limit, delta in ((0, 5, 1), (5, 0, -2), (1, 1, 1), (0, 7, 3)):
        add(
            "Range",
            start=V(values=start),
            limit=V(values=limit),
            delta=V(values=delta),
            types=("half", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64") if delta < 0 else None,
        )
    add("Range", start=i32(0), limit=i32(5), delta=i32(0), error="")
    add("Range", start=i32(0), limit=i32(5), delta=i32(-1), error="")
    for num in (1, 2, 5):
        add("LinSpace", start=V(values=-1), stop=V(values=4), num=i32(num))
    add("LinSpace", start=V(values=-1), stop=V(values=4), num=i32(0), error="")
    add("Fill", dims=i32(2, -1), value=V(), error="")
    add("Fill", dims=i32([[2]]), value=V(), error="")
    add("InvertPermutation", x=i32(2, 0, 1))
    add("InvertPermutation", x=i64(0)) if False else None
    add("InvertPermutation", x=i32(2, 0, 0), error="")
    add("InvertPermutation", x=i32(2, 0, 7), error="")
    for shape in ((), (0,), (3,), (2, 3), (2, 2, 3)):
        if shape:
            add("Diag", diagonal=V(*shape))
            for op in ("MatrixDiag", "BatchMatrixDiag"):
                add(op, diagonal=V(*shape))
    add("DiagPart", input=V(3, 3))
    add("DiagPart", input=V(2, 3, 2, 3))
    add("DiagPart", input=V(2, 3), error="")
    for shape in ((3, 3), (2, 3), (2, 3, 2), (0, 3), (2, 0, 0)):
        for op in ("MatrixDiagPart", "BatchMatrixDiagPart"):
            add(op, input=V(*shape))
        for low, high in ((-1, 1), (0, 0), (-1, -1), (1, 0), (0, -1), (1, -1)):
            for op in ("MatrixBandPart", "BatchMatrixBandPart"):
                if min(shape) > 0:
                    add(op, input=V(*shape), num_lower=i64(low), num_upper=i64(high))
        diagonal = V(*(shape[:-2] + (min(shape[-2:]),)))
        add("MatrixSetDiag", input=V(*shape), diagonal=diagonal)
        add("BatchMatrixSetDiag", input=V(*shape), diagonal=diagonal)
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        for k in (i32(0), i32(1), i32(-1, 1), i32(-2, -1), i32(0, 2)):
            add("MatrixDiagPartV3", input=V(2, 3, 4), k=k, padding_value=V(), align=align)
    for k in (i32(0), i32(1), i32(-1, 1)):
        add("MatrixDiagPartV2", input=V(3, 4), k=k, padding_value=V())
    for k, shape in ((i32(0), (2, 3)), (i32(1), (3,)), (i32(-1, 1), (3, 3)), (i32(-1, 0), (2, 2, 3))):
        for align in ("RIGHT_LEFT", "LEFT_LEFT"):
            add(
                "MatrixDiagV3",
                diagonal=V(*shape),
                k=k,
                num_rows=i32(-1),
                num_cols=i32(-1),
                padding_value=V(),
                align=align,
            )
        add("MatrixDiagV2", diagonal=V(*shape), k=k, num_rows=i32(-1), num_cols=i32(-1), padding_value=V())
    add("MatrixSetDiagV3", input=V(3, 4), diagonal=V(3, 3), k=i32(-1, 1))
    add("MatrixSetDiagV2", input=V(3, 4), diagonal=V(3), k=i32(1))
    add("MatrixDiagPartV3", input=V(3, 4), k=i32(7), padding_value=V(), error="")
    add("MatrixDiagPartV3", input=V(3, 4), k=i32(1, 0), padding_value=V(), error="")
    for block in (2,):
        for shape in ((1, 4, 4, 1), (2, 2, 4, 3), (0, 2, 2, 1)):
            add("SpaceToDepth", input=V(*shape), block_size=block)
            add("SpaceToBatch", input=V(*shape), paddings=i32([[0, 0], [0, 0]]), block_size=block)
        add("DepthToSpace", input=V(2, 1, 3, 8), block_size=block)
        add("SpaceToBatchND", input=V(2, 3, 4, 1), block_shape=i32(2, 2), paddings=i32([[1, 0], [0, 2]]))
        add("SpaceToBatchND", input=V(2, 3), block_shape=i64([3]), paddings=i32([[0, 0]]))
        add("BatchToSpaceND", input=V(8, 3, 2, 1), block_shape=i32(2, 2), crops=i32([[1, 0], [0, 2]]))
        add("BatchToSpace", input=V(4, 3, 2, 1), crops=i32([[1, 0], [0, 2]]), block_size=block)
    add("SpaceToDepth", input=V(1, 3, 4, 1), block_size=2, error="")
    add("SpaceToBatchND", input=V(2, 3), block_shape=i32([2]), paddings=i32([[0, 0]]), error="")
    add("SpaceToBatchND", input=V(2, 3), block_shape=i32([0]), paddings=i32([[0, 0]]), error="")
    add("BatchToSpaceND", input=V(3, 3), block_shape=i32([2]), crops=i32([[0, 0]]), error="")
    for rates in ([1, 1, 1, 1], [1, 2, 2, 1]):
        for padding in ("SAME", "VALID"):
            add(
                "ExtractImagePatches",
                images=V(2, 5, 6, 2),
                ksizes=[1, 2, 3, 1],
                strides=[1, 2, 1, 1],
                rates=rates,
                padding=padding,
            )
    return [c for c in made if c]


CASES = _cases()
