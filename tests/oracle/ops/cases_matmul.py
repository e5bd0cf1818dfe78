"""Products of matrices."""

from spec import Case, V, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types, tolerance=None))

    for ta in (False, True):
        for tb in (False, True):
            for m, k, n in ((2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (5, 1, 17)):
                add(
                    "MatMul",
                    a=V(*((k, m) if ta else (m, k))),
                    b=V(*((n, k) if tb else (k, n))),
                    transpose_a=ta,
                    transpose_b=tb,
                )
                for op in ("BatchMatMul", "BatchMatMulV2"):
                    add(
                        op, x=V(2, *((k, m) if ta else (m, k))), y=V(2, *((n, k) if tb else (k, n))), adj_x=ta, adj_y=tb
                    )
            add(
                "BatchMatMulV2",
                x=V(2, 1, *((3, 2) if ta else (2, 3))),
                y=V(3, *((4, 3) if tb else (3, 4))),
                adj_x=ta,
                adj_y=tb,
            )
    add("BatchMatMulV2", x=V(2, 3), y=V(3, 2))
    add("BatchMatMulV2", x=V(0, 2, 3), y=V(3, 2))
    for given, out in (("float32", "float32"), ("int8", "int32"), ("uint8", "int32"), ("float64", "float64")):
        add("BatchMatMulV3", x=V(2, 2, 3), y=V(3, 2), Tout=_type(out), types=(given,))
    add("MatMul", a=V(2, 3), b=V(2, 3), error="")
    add("MatMul", a=V(2), b=V(2, 3), error="")
    add("BatchMatMulV2", x=V(2, 2, 3), y=V(3, 3, 2), error="")
    add("BatchMatMulV2", x=V(3), y=V(3, 2), error="")
    add("BatchMatMul", x=V(2, 2, 3), y=V(2, 4, 2), error="")
    for ta in (False, True):
        for types in (("float32",), ("bfloat16",)):
            add("SparseMatMul", a=V(3, 3), b=V(3, 3), transpose_a=ta, transpose_b=False, types=types)
    add("SparseTensorDenseMatMul", a_indices=i64([[0, 1], [2, 0]]), a_values=V(2), a_shape=i64(3, 2), b=V(2, 3))
    add(
        "SparseTensorDenseMatMul",
        a_indices=i64([[0, 1], [2, 0]]),
        a_values=V(2),
        a_shape=i64(3, 2),
        b=V(3, 2),
        adjoint_a=True,
    )
    add(
        "SparseTensorDenseMatMul",
        a_indices=i64([[0, 1], [2, 0]]),
        a_values=V(2),
        a_shape=i64(3, 2),
        b=V(3, 2),
        adjoint_a=True,
        adjoint_b=False,
    )
    add(
        "SparseTensorDenseMatMul",
        a_indices=i64([[0, 2], [2, 0]]),
        a_values=V(2),
        a_shape=i64(3, 2),
        b=V(2, 3),
        error="",
    )
    add(
        "SparseTensorDenseMatMul",
        a_indices=i64([[0, 1], [-2, 0]]),
        a_values=V(2),
        a_shape=i64(3, 2),
        b=V(2, 3),
        error="",
    )
    for equation, shapes in (
        ("ij,jk->ik", ((2, 3), (3, 4))),
        ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))),
        ("ij->ji", ((2, 3),)),
        ("ii->i", ((3, 3),)),
        ("ij->", ((2, 3),)),
        ("...ij,...jk->...ik", ((2, 2, 3), (3, 2))),
        ("i,j->ij", ((2,), (3,))),
        ("i,i->", ((3,), (3,))),
    ):
        add("Einsum", inputs=[V(*s) for s in shapes], equation=equation)
    add("Einsum", inputs=[V(2, 3), V(2, 3)], equation="ij,jk->ik", error="")
    add("Cross", a=V(2, 3), b=V(2, 3))
    return made


def _type(name):
    from spec import Type

    return Type(name)


CASES = _cases()
