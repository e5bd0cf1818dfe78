"""Images: sizes, colours, crops, boxes; dilation and fractional pools."""

import numpy as np
from spec import Case, Type, V, i32

BOXES = V(values=[[0, 0, 1, 1], [0.2, 0.1, 0.7, 1.2], [0.9, 0.8, 0.1, 0.2], [0.5, 0.5, 0.5, 0.5]], dtype="float32")
CANDIDATES = V(
    values=[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [1, 1, 0, 0]]
)
SCORES = V(values=[0.9, 0.75, 0.6, 0.95, 0.5, 0.3])


def _f(value):
    return np.array(value, np.float32)


def _cases():
    made = []
    real = ("half", "bfloat16", "float32", "float64", "uint8", "int32")

    def add(op, error=None, types=real, tolerance=1e-4, **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",), tolerance=tolerance))

    for size in ((3, 5), (7, 2), (1, 1), (4, 3)):
        for flags in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            add("ResizeBicubic", images=V(2, 4, 3, 2), size=i32(*size), **flags)
        for align in (False, True):
            add("ResizeArea", images=V(2, 4, 3, 2), size=i32(*size), align_corners=align)
        for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
            for antialias in (False, True):
                add(
                    "ScaleAndTranslate",
                    images=V(1, 5, 4, 1),
                    size=i32(*size),
                    scale=_f([0.6, 1.3]),
                    translation=_f([0.3, -0.2]),
                    kernel_type=kernel,
                    antialias=antialias,
                    types=("float32", "uint8"),
                    tolerance=1e-3,
                )
    add("ResizeBicubicGrad", grads=V(2, 3, 5, 2), original_image=V(2, 4, 3, 2), types=("float32",))
    add(
        "ScaleAndTranslateGrad",
        grads=V(1, 3, 5, 2),
        original_image=V(1, 4, 3, 2),
        scale=_f([0.6, 1.3]),
        translation=_f([0.3, -0.2]),
        types=("float32",),
    )
    for op in ("ResizeBicubic", "ResizeArea"):
        add(op, images=V(4, 3, 2), size=i32(3, 5), error="")
        add(op, images=V(1, 4, 3, 2), size=i32(3), error="")
        add(op, images=V(1, 4, 3, 2), size=i32(0, 3), error="")
        add(op, images=V(1, 0, 3, 2), size=i32(2, 3), error="")
    add("ScaleAndTranslate", images=V(1, 4, 3, 2), size=i32(3, 5), scale=_f([0, 1]), translation=_f([0, 0]), error="")
    plain = ("half", "bfloat16", "float32", "float64")
    add("RGBToHSV", images=V(4, 5, 3, low=0, high=1), types=plain)
    add("RGBToHSV", images=V(3, low=-1, high=1), types=plain)
    add("HSVToRGB", images=V(4, 5, 3, low=0, high=1), types=plain)
    for op in ("RGBToHSV", "HSVToRGB"):
        add(op, images=V(4, 2), error="")
    narrow = ("half", "float32")
    add("AdjustContrastv2", images=V(2, 3, 4, 3), contrast_factor=_f(1.7), types=narrow)
    add("AdjustHue", images=V(2, 3, 4, 3, low=0, high=1), delta=_f(0.3), types=narrow)
    add("AdjustHue", images=V(3, 4, 3, low=0, high=1), delta=_f(-0.9), types=narrow)
    add("AdjustSaturation", images=V(2, 3, 4, 3, low=0, high=1), scale=_f(1.6), types=narrow)
    add("AdjustSaturation", images=V(3, 4, 3, low=0, high=1), scale=_f(0.2), types=narrow)
    for op, factor in (("AdjustContrastv2", "contrast_factor"), ("AdjustHue", "delta"), ("AdjustSaturation", "scale")):
        add(op, images=V(2, 3), error="", **{factor: _f(1)})
        add(op, images=V(2, 2, 3), error="", **{factor: _f([1, 2])})
    for method in ("bilinear", "nearest"):
        for size in ((2, 2), (3, 1), (5, 4)):
            add(
                "CropAndResize",
                image=V(2, 4, 3, 2),
                boxes=BOXES,
                box_ind=i32(0, 1, 1, 0),
                crop_size=i32(*size),
                method=method,
                extrapolation_value=-1.5,
            )
        add(
            "CropAndResizeGradImage",
            grads=V(4, 2, 3, 2, dtype="float32"),
            boxes=BOXES,
            box_ind=i32(0, 1, 1, 0),
            image_size=i32(2, 4, 3, 2),
            T=Type("float32"),
            method=method,
            types=("float32",),
        )
    add(
        "CropAndResizeGradBoxes",
        grads=V(4, 2, 3, 2, dtype="float32"),
        image=V(2, 4, 3, 2),
        boxes=BOXES,
        box_ind=i32(0, 1, 1, 0),
        types=("float32", "uint8"),
        tolerance=1e-3,
    )
    for index, size in (((0, 1, 2, 0), (2, 2)), ((0, 1, 1), (2, 2)), ((0, 1, 1, 0), (0, 2)), ((0, 1, 1, 0), (2, 2, 2))):
        add("CropAndResize", image=V(2, 4, 3, 2), boxes=BOXES, box_ind=i32(*index), crop_size=i32(*size), error="")
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        for centered in (False, True):
            for normalized in (False, True):
                add(
                    op,
                    input=V(2, 5, 6, 2, dtype="float32"),
                    size=i32(3, 2),
                    offsets=_f([[0.5, 0.25], [-0.7, 0.9]]),
                    centered=centered,
                    normalized=normalized,
                    uniform_noise=False,
                    noise="zero",
                    types=("float32",),
                )
        add(op, input=V(2, 5, 6, 2), size=i32(3, 2), offsets=_f([[0, 0]]), error="")
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for interpolation in ("NEAREST", "BILINEAR"):
            args = dict(
                images=V(2, 5, 4, 2),
                transforms=_f([[0.9, 0.2, -1.25, -0.1, 1.2, 0.5, 0, 0], [1.5, 0, 2.25, 0, 1.5, -3.25, 0.01, 0.02]]),
                output_shape=i32(6, 7),
                interpolation=interpolation,
                fill_mode=mode,
                types=("half", "float32", "float64", "uint8"),
            )
            made.append(
                Case("ImageProjectiveTransformV2", _without(args), types=args["types"], grad=False, tolerance=1e-3)
            )
            made.append(
                Case(
                    "ImageProjectiveTransformV3",
                    dict(_without(args), fill_value=_f(1.5)),
                    types=args["types"],
                    grad=False,
                    tolerance=1e-3,
                )
            )
    for channels in (1, 3, 4):
        boxes = _f([[[0.1, 0.2, 0.7, 0.8], [0, 0, 1, 1]], [[-0.5, 0.2, 1.5, 0.4], [0.9, 0.9, 0.1, 0.1]]])
        add("DrawBoundingBoxes", images=V(2, 7, 6, channels), boxes=boxes, types=narrow)
        colors = _f([[0.5, 0.25, 1, 2]])
        add("DrawBoundingBoxesV2", images=V(2, 7, 6, channels), boxes=boxes, colors=colors, types=narrow)
    add("DrawBoundingBoxes", images=V(2, 7, 6, 2), boxes=_f([[[0, 0, 1, 1]]] * 2), error="")
    one = ("float32",)
    few = dict(types=("half", "float32"))
    for limit in (0, 2, 6):
        add("NonMaxSuppression", boxes=CANDIDATES, scores=SCORES, max_output_size=i32(limit), types=one)
        add(
            "NonMaxSuppressionV2",
            boxes=CANDIDATES,
            scores=SCORES,
            max_output_size=i32(limit),
            iou_threshold=V(values=0.5),
            **few,
        )
        add(
            "NonMaxSuppressionV3",
            boxes=CANDIDATES,
            scores=SCORES,
            max_output_size=i32(limit),
            iou_threshold=V(values=0.5),
            score_threshold=V(values=0.4),
            **few,
        )
        for pad in (False, True):
            add(
                "NonMaxSuppressionV4",
                boxes=CANDIDATES,
                scores=SCORES,
                max_output_size=i32(limit),
                iou_threshold=V(values=0.5),
                score_threshold=V(values=0.4),
                pad_to_max_output_size=pad,
                **few,
            )
            for sigma in (0.0, 0.5):
                add(
                    "NonMaxSuppressionV5",
                    boxes=CANDIDATES,
                    scores=SCORES,
                    max_output_size=i32(limit),
                    iou_threshold=V(values=0.5),
                    score_threshold=V(values=0.2),
                    soft_nms_sigma=V(values=sigma),
                    pad_to_max_output_size=pad,
                    types=one,
                )
    overlaps = np.eye(6, dtype=np.float32)
    overlaps[0, 1] = overlaps[1, 0] = 0.9
    add(
        "NonMaxSuppressionWithOverlaps",
        overlaps=overlaps,
        scores=SCORES,
        max_output_size=i32(4),
        overlap_threshold=_f(0.5),
        score_threshold=_f(0.1),
        types=one,
    )
    add("NonMaxSuppression", boxes=V(2, 3), scores=V(2), max_output_size=i32(1), error="")
    add("NonMaxSuppression", boxes=CANDIDATES, scores=V(2), max_output_size=i32(1), error="")
    add("NonMaxSuppression", boxes=CANDIDATES, scores=SCORES, max_output_size=i32(-1), error="")
    both = V(values=[[[0.9, 0.1], [0.75, 0.3], [0.6, 0.8], [0.95, 0.2], [0.5, 0.7], [0.3, 0.4]]])
    for pad in (False, True):
        for clip in (False, True):
            add(
                "CombinedNonMaxSuppression",
                boxes=V(values=np.array(CANDIDATES.values)[None, :, None]),
                scores=both,
                max_output_size_per_class=i32(2),
                max_total_size=i32(5),
                iou_threshold=_f(0.5),
                score_threshold=_f(0.2),
                pad_per_class=pad,
                clip_boxes=clip,
                types=one,
            )
    samplers = {"SampleDistortedBoundingBox": {}, "SampleDistortedBoundingBoxV2": {"min_object_covered": _f(0.3)}}
    for op, covered in samplers.items():
        for seed in range(3):
            add(
                op,
                image_size=i32(40, 50, 3),
                bounding_boxes=_f([[[0.1, 0.2, 0.7, 0.8]]]),
                seed=seed + 1,
                seed2=7,
                area_range=[0.1, 1.0],
                types=one,
                **covered,
            )
    for strides, rates, padding in (([1, 1], [1, 1], "SAME"), ([2, 1], [1, 2], "SAME"), ([1, 2], [2, 1], "VALID")):
        args = dict(
            input=V(2, 6, 5, 2),
            filter=V(2, 3, 2),
            strides=[1, *strides, 1],
            rates=[1, *rates, 1],
            padding=padding,
        )
        add("Dilation2D", types=("float32", "float64", "int32", "uint8"), **args)
        height, width = ((6, 5), (3, 5), (4, 2))[[[1, 1], [2, 1], [1, 2]].index(strides)]
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
            add(op, out_backprop=V(2, height, width, 2), types=("float32", "int32"), **args)
    pooled = ("float32", "float64", "int32", "int64")
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        for pseudo_random in (False, True):
            for overlapping in (False, True):
                add(
                    op,
                    value=V(2, 12, 7, 2),
                    pooling_ratio=[1.0, 1.7, 1.3, 1.0],
                    pseudo_random=pseudo_random,
                    overlapping=overlapping,
                    deterministic=True,
                    seed=3,
                    seed2=4,
                    types=pooled,
                )
    rows, columns = np.array([0, 2, 4], np.int64), np.array([0, 1, 3], np.int64)
    add(
        "FractionalMaxPoolGrad",
        orig_input=V(1, 4, 3, 1, values=np.arange(12).reshape(1, 4, 3, 1)),
        orig_output=V(1, 2, 2, 1, values=np.array([3, 5, 9, 11]).reshape(1, 2, 2, 1)),
        out_backprop=V(1, 2, 2, 1),
        row_pooling_sequence=rows,
        col_pooling_sequence=columns,
        types=pooled,
    )
    add(
        "FractionalAvgPoolGrad",
        orig_input_tensor_shape=np.array([1, 4, 3, 1], np.int64),
        out_backprop=V(1, 2, 2, 1),
        row_pooling_sequence=rows,
        col_pooling_sequence=columns,
        types=("float32", "float64"),
    )
    return made


def _without(args):
    return {k: v for k, v in args.items() if k != "types"}


CASES = _cases()
