"""Gathers and scatters."""

from spec import Case, Ref, Res, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types))

    for shape, indices in (
        ((5,), [0, 4, 1]),
        ((3, 2), [2, 0]),
        ((3, 2), [[0, 1], [2, 2]]),
        ((3, 2), []),
        ((3, 0), [1]),
        ((4, 2, 3), [3]),
    ):
        for make in (i32, i64):
            add("Gather", params=V(*shape), indices=make(indices))
            add("GatherV2", params=V(*shape), indices=make(indices), axis=i32(0))
            add("ResourceGather", resource=Res(V(*shape)), indices=make(indices), dtype=_T)
        add("GatherV2", params=V(2, *shape), indices=i32(indices), axis=i32(1))
        add("GatherV2", params=V(*shape), indices=i32(indices), axis=i64(-len(shape)))
    add("GatherV2", params=V(2, 3, 4), indices=i32([[0, 2], [1, 1]]), axis=i32(1), batch_dims=1)
    add("GatherV2", params=V(2, 3), indices=i32([2, 0]), axis=i32(1), batch_dims=1)
    add("GatherV2", params=V(2, 3), indices=i32(1), axis=i32(0))
    for indices, axis in (([3], 0), ([-1], 0), ([0], 2), ([0], -3)):
        add("GatherV2", params=V(3, 2), indices=i32(indices), axis=i32(axis), error="")
    add("Gather", params=V(), indices=i32([0]), error="")
    for shape, indices in (
        ((3, 2), [[0, 1], [2, 0]]),
        ((3, 2), [[1]]),
        ((3, 2), [1, 1]),
        ((2, 2, 2), [[[0, 1]], [[1, 1]]]),
        ((3,), [[]]),
        ((3, 2), [[], []]),
    ):
        add("GatherNd", params=V(*shape), indices=i32(indices))
        add("GatherNd", params=V(*shape), indices=i64(indices))
        add("ResourceGatherNd", resource=Res(V(*shape)), indices=i32(indices), dtype=_T)
    for indices in ([[3, 0]], [[0, -1]], [[0, 0, 0]]):
        add("GatherNd", params=V(3, 2), indices=i32(indices), error="")
    for indices, updates, shape in (([[0], [2]], (2, 2), [3, 2]), ([[0, 1], [0, 1]], (2,), [2, 2]), ([[1]], (1,), [4])):
        add("ScatterNd", indices=i32(indices), updates=V(*updates), shape=i32(shape))
        add("ScatterNd", indices=i64(indices), updates=V(*updates), shape=i64(shape))
        for op in ("Add", "Sub", "Max", "Min", "Update"):
            add("TensorScatter" + op, tensor=V(*shape), indices=i32(indices), updates=V(*updates))
            add("ScatterNd" + op, ref=Ref(V(*shape)), indices=i32(indices), updates=V(*updates))
            add("ResourceScatterNd" + op, ref=Res(V(*shape)), indices=i64(indices), updates=V(*updates))
        add("ScatterNdNonAliasingAdd", input=V(*shape), indices=i32(indices), updates=V(*updates))
    for indices, updates, shape in (
        ([[3]], (1, 2), [3, 2]),
        ([[-1]], (1, 2), [3, 2]),
        ([[0]], (1, 3), [3, 2]),
        ([[0, 0, 0]], (1,), [3, 2]),
    ):
        add("ScatterNd", indices=i32(indices), updates=V(*updates), shape=i32(shape), error="")
        add("TensorScatterAdd", tensor=V(*shape), indices=i32(indices), updates=V(*updates), error="")
        add("ScatterNdAdd", ref=Ref(V(*shape)), indices=i32(indices), updates=V(*updates), error="")
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Update"):
        for indices, updates in (
            ([0, 2], (2, 2)),
            ([1, 1], (2, 2)),
            ([], (0, 2)),
            ([[0], [2]], (2, 1, 2)),
            ([0, 2], ()),
            (1, (2,)),
        ):
            low = 1 if op == "Div" else -2
            if op != "Update" or updates:
                add("Scatter" + op, ref=Ref(V(3, 2)), indices=i32(indices), updates=V(*updates, low=low, high=3))
            add(
                "ResourceScatter" + op,
                resource=Res(V(3, 2)),
                indices=i64(indices),
                updates=V(*updates, low=low, high=3),
            )
        for indices, updates in (([3], (1, 2)), ([-1], (1, 2)), ([0], (1, 3)), ([0, 1], (1, 2))):
            add("Scatter" + op, ref=Ref(V(3, 2)), indices=i32(indices), updates=V(*updates), error="")
            add("ResourceScatter" + op, resource=Res(V(3, 2)), indices=i32(indices), updates=V(*updates), error="")
    for op in ("InplaceAdd", "InplaceSub", "InplaceUpdate"):
        add(op, x=V(3, 2), i=i32(0, 2), v=V(2, 2))
    add("UnravelIndex", indices=i32(3, 5, 0), dims=i32(2, 3))
    add("UnravelIndex", indices=i32(4), dims=i32(2, 3))
    add("UnravelIndex", indices=i32([6]), dims=i32(2, 3), error="")
    add("UnravelIndex", indices=i32([0]), dims=i32(0, 3), error="")
    return made


from spec import T as _T  # noqa: E402

CASES = _cases()
