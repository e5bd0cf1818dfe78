"""Reductions over segments."""

from spec import Case, V, i32, i64


def _cases():
    made = []

    def add(op, error=None, types=None, **args):
        # TensorFlow's gradient of nothing gathered is memory that it never wrote.
        grad = not (op.startswith("SparseSegment") and "indices" in args and args["indices"].size == 0)
        made.append(Case(op, args, error=error, types=types, grad=grad))

    for op in ("Sum", "Mean", "Prod", "Max", "Min"):
        for ids, shape in (([0, 0, 1], (3, 2)), ([0, 2, 2], (3,)), ([1, 1, 4], (3, 2)), ([], (0, 2)), ([0], (1, 0))):
            add("Segment" + op, data=V(*shape), segment_ids=i32(ids))
            add("Segment" + op, data=V(*shape), segment_ids=i64(ids))
            if op != "Mean" and shape[0]:
                add("Segment" + op + "V2", data=V(*shape), segment_ids=i32(ids), num_segments=i32(5))
                add("UnsortedSegment" + op, data=V(*shape), segment_ids=i32(ids), num_segments=i32(6))
        if op != "Mean":
            add("UnsortedSegment" + op, data=V(2, 2), segment_ids=i32([[1, -1], [0, 1]]), num_segments=i64(2))
            add("UnsortedSegment" + op, data=V(4), segment_ids=i64(3, 0, 3, -1), num_segments=i32(4))
            add("UnsortedSegment" + op, data=V(2), segment_ids=i32(3, 0), num_segments=i32(2), error="")
            add("UnsortedSegment" + op, data=V(2), segment_ids=i32(0, 0), num_segments=i32(-2), error="")
            add("UnsortedSegment" + op, data=V(2), segment_ids=i32(0, 0, 1), num_segments=i32(2), error="")
        for ids in ([1, 0, 1], [-1, 0, 1], [0, 1]):
            add("Segment" + op, data=V(3, 2), segment_ids=i32(ids), error="")
    for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
        for indices, ids in (([0, 2, 1], [0, 0, 2]), ([], []), ([3, 3], [0, 1])):
            add(op, data=V(4, 2), indices=i32(indices), segment_ids=i32(ids))
            add(op + "WithNumSegments", data=V(4, 2), indices=i64(indices), segment_ids=i32(ids), num_segments=i32(4))
        add(op + "Grad", grad=V(2, 2), indices=i32(0, 2, 1), segment_ids=i32(0, 0, 1), output_dim0=i32(4))
        for indices, ids in (([4], [0]), ([-1], [0]), ([0, 1], [1, 0]), ([0], [0, 1])):
            add(op, data=V(4, 2), indices=i32(indices), segment_ids=i32(ids), error="")
        add(
            op + "WithNumSegments",
            data=V(4, 2),
            indices=i32(0, 1),
            segment_ids=i32(0, 5),
            num_segments=i32(2),
            error="",
        )
        add(op + "Grad", grad=V(2, 2), indices=i32(0, 7), segment_ids=i32(0, 1), output_dim0=i32(4), error="")
        add(op + "Grad", grad=V(2, 2), indices=i32(0, 1), segment_ids=i32(0, 4), output_dim0=i32(4), error="")
    return made


CASES = _cases()
