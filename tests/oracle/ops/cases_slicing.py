"""Slices, joins and splits."""

from spec import Case, Ref, Res, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        made.append(Case(op, args, error=error, types=types))

    for begin, size in (([0, 0], [2, 3]), ([1, 0], [1, 2]), ([0, 1], [-1, -1]), ([2, 0], [0, 3]), ([0, 0], [2, 0])):
        add("Slice", input=V(2, 3), begin=i32(begin), size=i32(size))
        add("Slice", input=V(2, 3), begin=i64(begin), size=i64(size))
    add("Slice", input=V(), begin=i32([]), size=i32([]))
    add("Slice", input=V(5), begin=i32([1]), size=i32([3]))
    add("Slice", input=V(3, 4, 2, 2), begin=i32(1, 0, 0, 1), size=i32(2, 3, -1, 1))
    for begin, size in (
        ([0, 0], [3, 3]),
        ([-1, 0], [1, 1]),
        ([0], [1]),
        ([3, 0], [-1, 1]),
        ([0, 0], [-2, 1]),
        ([2**31 - 1, 0], [2, 1]),
    ):
        add("Slice", input=V(2, 3), begin=i32(begin), size=i32(size), error="")
    full = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)
    strided = []
    for begin, end, strides, masks in (
        ([0, 0], [2, 3], [1, 1], {}),
        ([1, 0], [2, 3], [1, 2], {}),
        ([0, -1], [2, -4], [1, -1], {}),
        ([0, 0], [0, 0], [1, 1], {"end_mask": 3}),
        ([1, 1], [1, 2], [1, 1], {"begin_mask": 3}),
        ([1], [2], [1], {"shrink_axis_mask": 1}),
        ([-1, 0], [0, 2], [1, 1], {"shrink_axis_mask": 1}),
        ([0, 0], [0, 0], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
        ([0, 0, 0], [0, 0, 2], [1, 1, 1], {"new_axis_mask": 1, "ellipsis_mask": 2}),
        ([0, 0], [1, 0], [1, 1], {"new_axis_mask": 2}),
        ([5, 0], [9, 3], [1, 1], {}),
        ([0, 100], [2, -100], [1, -2], {}),
        ([0, 0, 0], [0, 2, 2], [1, 1, 1], {"new_axis_mask": 1}),
        ([1, 2], [0, 0], [1, 1], {"shrink_axis_mask": 3}),
        ([], [], [], {}),
        ([0, 0], [0, 2], [1, 1], {"ellipsis_mask": 1}),
        ([0, 2], [0, 0], [-1, -1], {"begin_mask": 1, "end_mask": 3}),
    ):
        attrs = {**full, **masks}
        strided.append((begin, end, strides, attrs))
        add("StridedSlice", input=V(2, 3), begin=i32(begin), end=i32(end), strides=i32(strides), **attrs)
        add("StridedSlice", input=V(2, 3, 2, 2), begin=i64(begin), end=i64(end), strides=i64(strides), **attrs)
    for begin, end, strides, masks in (
        ([0], [1], [0], {}),
        ([2], [3], [1], {"shrink_axis_mask": 1}),
        ([0, 0, 0], [1, 1, 1], [1, 1, 1], {}),
        ([0], [1, 1], [1], {}),
        ([0], [1], [-1], {"shrink_axis_mask": 1}),
        ([0, 0, 0], [1, 1, 1], [1, 1, 1], {"ellipsis_mask": 3}),
        ([-3], [1], [1], {"shrink_axis_mask": 1}),
    ):
        add(
            "StridedSlice",
            input=V(2, 3),
            begin=i32(begin),
            end=i32(end),
            strides=i32(strides),
            error="",
            **{**full, **masks},
        )
    add("StridedSliceGrad", shape=i32(3, 4), begin=i32(1, 0), end=i32(3, 4), strides=i32(1, 2), dy=V(2, 2), **full)
    add(
        "StridedSliceGrad",
        shape=i32(3, 4),
        begin=i32(1, 0),
        end=i32(3, 4),
        strides=i32(1, 2),
        dy=V(2, 3),
        error="",
        **full,
    )
    add(
        "TensorStridedSliceUpdate",
        input=V(3, 4),
        begin=i32(1, 0),
        end=i32(3, 4),
        strides=i32(1, 2),
        value=V(2, 2),
        **full,
    )
    add(
        "TensorStridedSliceUpdate",
        input=V(3, 4),
        begin=i32(1, 0),
        end=i32(3, 4),
        strides=i32(1, 2),
        value=V(2, 3),
        error="",
        **full,
    )
    add(
        "ResourceStridedSliceAssign",
        ref=Res(V(3, 4)),
        begin=i32(1, 0),
        end=i32(3, 4),
        strides=i32(1, 2),
        value=V(2, 2),
        **full,
    )
    add(
        "StridedSliceAssign", ref=Ref(V(3, 4)), begin=i32(1, 0), end=i32(3, 4), strides=i32(1, 2), value=V(2, 2), **full
    )
    add("StridedSliceAssign", ref=Ref(V(3, 4)), begin=i32(1, 0), end=i32(3, 4), strides=i32(1, 2), value=V(), **full)
    for axis, shapes in (
        (0, ((2, 3), (1, 3))),
        (1, ((2, 3), (2, 0), (2, 2))),
        (-1, ((2, 3), (2, 1))),
        (0, ((3,), (0,), (2,))),
        (1, ((2, 1, 2), (2, 3, 2))),
        (0, ((0, 2), (0, 2))),
    ):
        add("ConcatV2", values=[V(*s) for s in shapes], axis=i32(axis))
        add("ConcatV2", values=[V(*s) for s in shapes], axis=i64(axis))
        if axis >= 0:
            add("Concat", concat_dim=i32(axis), values=[V(*s) for s in shapes])
    add("ConcatV2", values=[V(2, 3), V(1, 2)], axis=i32(0), error="")
    add("ConcatV2", values=[V(2, 3), V(2, 3)], axis=i32(2), error="")
    add("ConcatV2", values=[V(2, 3), V(2)], axis=i32(0), error="")
    add("ConcatV2", values=[V(), V()], axis=i32(0), error="")
    add("ConcatOffset", concat_dim=i32(1), shape=[i32(2, 3), i32(2, 4), i32(2, 1)])
    add("ConcatOffset", concat_dim=i32(0), shape=[i32(2, 3), i32(2, 4)], error="")
    add("ParallelConcat", values=[V(1, 2), V(1, 2)], shape=[2, 2])
    for axis in (0, 1, -1):
        add("Pack", values=[V(2, 3), V(2, 3)], axis=axis)
        add("Unpack", value=V(2, 3), num=2 if axis == 0 else 3, axis=axis)
    add("Pack", values=[V(), V(), V()], axis=0)
    add("Pack", values=[V(0), V(0)], axis=1)
    add("Pack", values=[V(2), V(3)], axis=0, error="")
    add("Pack", values=[V(2), V(2)], axis=2, error="")
    add("Unpack", value=V(0, 3), num=0, axis=0)
    add("Unpack", value=V(2, 0), num=2, axis=0)
    add("Unpack", value=V(2, 3), num=4, axis=1, error="")
    add("Unpack", value=V(), num=0, axis=0, error="")
    for axis, n, shape in ((0, 2, (4, 3)), (1, 3, (2, 3)), (-1, 1, (2, 3)), (1, 2, (2, 4, 3)), (0, 2, (0, 3))):
        add("Split", axis=i32(axis), value=V(*shape), num_split=n)
    add("Split", axis=i32(0), value=V(3, 3), num_split=2, error="")
    add("Split", axis=i32(2), value=V(3, 3), num_split=3, error="")
    for axis, sizes, shape in (
        (0, [1, 3], (4, 3)),
        (1, [0, 3], (2, 3)),
        (-1, [1, -1], (2, 3)),
        (1, [1, 1, 2], (2, 4, 3)),
        (0, [4], (4,)),
    ):
        add("SplitV", value=V(*shape), size_splits=i32(sizes), axis=i32(axis), num_split=len(sizes))
        add("SplitV", value=V(*shape), size_splits=i64(sizes), axis=i32(axis), num_split=len(sizes))
    for sizes in ([1, 1], [-1, -1], [5, -1], [-2, 6]):
        add("SplitV", value=V(4, 3), size_splits=i32(sizes), axis=i32(0), num_split=2, error="")
    add("DynamicPartition", data=V(4, 2), partitions=i32(0, 1, 1, 2), num_partitions=4)
    add("DynamicPartition", data=V(2, 2), partitions=i32([[0, 1], [1, 0]]), num_partitions=2)
    add("DynamicPartition", data=V(4), partitions=i32(0, 1, 1, 3), num_partitions=2, error="")
    add("DynamicPartition", data=V(3), partitions=i32(0, 1), num_partitions=2, error="")
    for op in ("DynamicStitch", "ParallelDynamicStitch"):
        add(op, indices=[i32(0, 2), i32(1, 3)], data=[V(2, 2), V(2, 2)])
        add(op, indices=[i32(1), i32([[0], [2]])], data=[V(2), V(2, 1, 2)])
        add(op, indices=[i32(1, -1)], data=[V(2)], error="")
        add(op, indices=[i32(1, 0), i32(2)], data=[V(2, 2), V(3)], error="")
    return made


CASES = _cases()
