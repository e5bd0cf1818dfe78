"""Sparse tensors given by their indices, values and shape."""

import numpy as np
from spec import Case, V, i32, i64

_A = i64([[0, 0], [0, 2], [1, 1]])
_B = i64([[0, 0], [1, 0], [1, 1], [1, 2]])
_NONE = np.zeros((0, 2), np.int64)
_SHAPE = i64(2, 3)
_REAL = ("half", "bfloat16", "float32", "float64")


def _sparse(prefix, indices, shape=_SHAPE, **kind):
    return {f"{prefix}_indices": indices, f"{prefix}_values": V(len(indices), **kind), f"{prefix}_shape": shape}


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",)))

    for a, b in ((_A, _B), (_A, _NONE), (_NONE, _NONE)):
        for threshold in (0, 1):
            add(
                "SparseAdd",
                **_sparse("a", a),
                **_sparse("b", b),
                thresh=V(values=threshold),
                types=("float32", "float64", "int32", "int64"),
            )
        add("SparseAdd", **_sparse("a", a), **_sparse("b", b), thresh=np.float32(0.5).reshape(()), types=("complex64",))
        for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
            add(op, **_sparse("a", a), **_sparse("b", b))
        for make in (i32, i64):
            add("SparseTensorDenseAdd", a_indices=make(a), a_values=V(len(a)), a_shape=make(_SHAPE), b=V(2, 3))
    add("SparseAdd", **_sparse("a", _A), **_sparse("b", _B, i64(2, 4)), thresh=V(values=0), error="")
    add("SparseAdd", **_sparse("a", _A), **_sparse("b", i64([[0], [1]]), i64([3])), thresh=V(values=0), error="")
    add("SparseAdd", **_sparse("a", i64([[0, 5]])), **_sparse("b", _B), thresh=V(values=0), error="")
    add(
        "SparseAddGrad",
        backprop_val_grad=V(5),
        a_indices=_A,
        b_indices=_B,
        sum_indices=i64([[0, 0], [0, 2], [1, 0], [1, 1], [1, 2]]),
    )
    add("SparseTensorDenseAdd", **_sparse("a", _A), b=V(2, 4), error="")
    add("SparseTensorDenseAdd", **_sparse("a", i64([[0, 3]])), b=V(2, 3), error="")
    add("SparseSparseMaximum", **_sparse("a", _A), **_sparse("b", _B, i64(3, 3)), error="")

    for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"):
        for indices in (_A, _B, _NONE):
            for axes in (i32([0]), i32([1]), i32([0, 1]), i32([-1]), i32([])):
                for keep in (False, True):
                    add(op, **_sparse("input", indices), reduction_axes=axes, keep_dims=keep)
        add(op, **_sparse("input", _A), reduction_axes=i32([2]), error="")
        add(op, **_sparse("input", i64([[0, 7]])), reduction_axes=i32([1]), error="")

    for op in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseDenseCwiseAdd"):
        for shape in ((2, 3), (1, 3), (2, 1), (3,), ()):
            add(op, **_sparse("sp", _A), dense=V(*shape, low=1, high=4))
        add(op, **_sparse("sp", _A), dense=V(2, 2), error="")
        add(op, **_sparse("sp", _A), dense=V(2, 2, 3), error="")
        add(op, **_sparse("sp", i64([[0, 9]])), dense=V(2, 3), error="")

    for indices in (_A, _B, _NONE):
        add("SparseSoftmax", **_sparse("sp", indices))
        add("SparseReorder", **_sparse("input", indices[::-1].copy()))
        add("SparseFillEmptyRows", indices=indices, values=V(len(indices)), dense_shape=i64(4, 3), default_value=V())
    add("SparseSoftmax", **_sparse("sp", i64([[0], [1]]), i64([3])), error="")
    add("SparseReorder", **_sparse("input", i64([[5, 0], [0, 0]])), error="")
    add("SparseReorder", **_sparse("input", _A, i64([3])), error="")
    add("SparseFillEmptyRows", indices=i64([[9, 0]]), values=V(1), dense_shape=i64(4, 3), default_value=V(), error="")
    add("SparseFillEmptyRows", indices=i64([[0, 0]]), values=V(1), dense_shape=i64([]), default_value=V(), error="")
    add("SparseFillEmptyRows", indices=i64([[0, 0]]), values=V(2), dense_shape=i64(4, 3), default_value=V(), error="")
    add("SparseFillEmptyRowsGrad", reverse_index_map=i64(1, 3), grad_values=V(5))
    add("SparseFillEmptyRowsGrad", reverse_index_map=i64(1, 7), grad_values=V(5), error="")

    for rows in ([0, 0, 2], [2, 0], [1, 0, 1], [], [0, 1, 2, 3]):
        add("RaggedFillEmptyRows", value_rowids=i64(rows), values=V(len(rows)), nrows=i64(4), default_value=V())
    add("RaggedFillEmptyRows", value_rowids=i64([5]), values=V(1), nrows=i64(4), default_value=V(), error="is invalid")
    add("RaggedFillEmptyRows", value_rowids=i64([0]), values=V(2), nrows=i64(4), default_value=V(), error="")
    add("RaggedFillEmptyRows", value_rowids=i64([0]), values=V(1), nrows=i64([4]), default_value=V(), error="")
    add("RaggedFillEmptyRowsGrad", reverse_index_map=i64(1, 3), grad_values=V(5))
    add("RaggedFillEmptyRowsGrad", reverse_index_map=i64(1, 7), grad_values=V(5), error="")

    for make in (i32, i64):
        add("SparseToDense", sparse_indices=make(_A), output_shape=make(_SHAPE), sparse_values=V(3), default_value=V())
        add("SparseToDense", sparse_indices=make(1, 3), output_shape=make([5]), sparse_values=V(), default_value=V())
        add("SparseToDense", sparse_indices=make(2), output_shape=make([5]), sparse_values=V(), default_value=V())
    add(
        "SparseToDense",
        sparse_indices=i64([[1, 1], [0, 0]]),
        output_shape=_SHAPE,
        sparse_values=V(2),
        default_value=V(values=0),
        error="",
    )
    add(
        "SparseToDense",
        sparse_indices=i64([[1, 1], [0, 0]]),
        output_shape=_SHAPE,
        sparse_values=V(2),
        default_value=V(),
        validate_indices=False,
    )
    add(
        "SparseToDense",
        sparse_indices=i64([[1, 4]]),
        output_shape=_SHAPE,
        sparse_values=V(1),
        default_value=V(values=0),
        error="",
    )
    add(
        "SparseToDense", sparse_indices=_A, output_shape=_SHAPE, sparse_values=V(2), default_value=V(values=0), error=""
    )

    for new in (i64(3, 2), i64([6]), i64(1, -1), i64(2, 1, 3)):
        add("SparseReshape", input_indices=_A, input_shape=_SHAPE, new_shape=new, types=("float32",))
    for new in (i64(4, 2), i64(-1, -1), i64(4, -1)):
        add("SparseReshape", input_indices=_A, input_shape=_SHAPE, new_shape=new, error="")
    for dim in (0, 1, -1):
        add("SparseConcat", indices=[_A, _A], values=[V(3), V(3)], shapes=[_SHAPE, _SHAPE], concat_dim=dim)
        add("SparseConcat", indices=[_A, _NONE, _B], values=[V(3), V(0), V(4)], shapes=[_SHAPE] * 3, concat_dim=dim)
        add("SparseSplit", split_dim=i64(dim % 2), indices=_B, values=V(4), shape=_SHAPE, num_split=2)
    add("SparseConcat", indices=[_A, _A], values=[V(3), V(3)], shapes=[_SHAPE, _SHAPE], concat_dim=2, error="")
    add("SparseConcat", indices=[_A, _A], values=[V(3), V(3)], shapes=[_SHAPE, i64(3, 3)], concat_dim=1, error="")
    add("SparseSplit", split_dim=i64(1), indices=_B, values=V(4), shape=_SHAPE, num_split=4, error="")
    add("SparseSplit", split_dim=i64(2), indices=_B, values=V(4), shape=_SHAPE, num_split=1, error="")
    for start, size in (((0, 0), (2, 3)), ((0, 1), (2, 2)), ((1, 0), (1, 9)), ((0, 0), (0, 0))):
        add("SparseSlice", indices=_B, values=V(4), shape=_SHAPE, start=i64(*start), size=i64(*size))
    add("SparseSlice", indices=_B, values=V(4), shape=_SHAPE, start=i64([0]), size=i64(1, 1), error="")
    add(
        "SparseSliceGrad",
        backprop_val_grad=V(2),
        input_indices=_B,
        input_start=i64(0, 1),
        output_indices=i64([[1, 0], [1, 1]]),
    )

    for normalize in (False, True):
        add(
            "EditDistance",
            hypothesis_indices=i64([[0, 0], [0, 1], [1, 0]]),
            hypothesis_values=V(3),
            hypothesis_shape=i64(2, 2),
            truth_indices=i64([[0, 0], [1, 0], [1, 1]]),
            truth_values=V(3),
            truth_shape=i64(2, 2),
            normalize=normalize,
        )
        add(
            "EditDistance",
            hypothesis_indices=_NONE,
            hypothesis_values=V(0),
            hypothesis_shape=i64(2, 2),
            truth_indices=i64([[1, 0], [1, 1]]),
            truth_values=V(2),
            truth_shape=i64(2, 2),
            normalize=normalize,
        )
    add(
        "EditDistance",
        hypothesis_indices=i64([[0, 0]]),
        hypothesis_values=V(1),
        hypothesis_shape=i64(2, 2),
        truth_indices=i64([[0, 0, 0]]),
        truth_values=V(1),
        truth_shape=i64(2, 2, 2),
        normalize=False,
        error="",
    )
    for name in ("Sum", "Mean", "SqrtN"):
        add(
            f"SparseSegment{name}GradV2",
            grad=V(2, 3),
            indices=i32(0, 3, 3),
            segment_ids=i32(0, 0, 1),
            dense_output_dim0=i32(5),
            types=_REAL,
        )
        add(
            f"SparseSegment{name}GradV2",
            grad=V(2, 3),
            indices=i32(0, 9, 3),
            segment_ids=i32(0, 0, 1),
            dense_output_dim0=i32(5),
            error="",
        )
        add(
            f"SparseSegment{name}GradV2",
            grad=V(2, 3),
            indices=i32(0, 1, 3),
            segment_ids=i32(0, 0, 2),
            dense_output_dim0=i32(5),
            error="",
        )
    return made


CASES = _cases()
