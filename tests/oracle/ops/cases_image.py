"""Images: colours, crops, sizes, boxes; layouts."""

import numpy as np
from spec import Case, V, i32, i64

_BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]],
    np.float32,
)
_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)


def f(value):
    return np.float32(value).reshape(())


def _cases():
    made = []

    def add(op, error=None, types=("half", "float32"), tolerance=1e-3, grad=True, **args):
        made.append(
            Case(op, args, error=error, types=types if error is None else ("float32",), tolerance=tolerance, grad=grad)
        )

    for shape in ((2, 3, 3), (1, 2, 2, 3), (0, 3)):
        add("RGBToHSV", images=V(*shape, low=0, high=1), types=("half", "bfloat16", "float32", "float64"))
        add("HSVToRGB", images=V(*shape, low=0, high=1), types=("half", "bfloat16", "float32", "float64"))
        if len(shape) > 2:
            add("AdjustHue", images=V(*shape, low=0, high=1), delta=f(0.25))
            add("AdjustSaturation", images=V(*shape, low=0, high=1), scale=f(1.5))
            add("AdjustContrastv2", images=V(*shape, low=0, high=1), contrast_factor=f(1.5))
    for op, name in (("AdjustHue", "delta"), ("AdjustSaturation", "scale")):
        add(op, images=V(2, 3, 4), **{name: f(0.5)}, error="")
        add(op, images=V(2, 3), **{name: f(0.5)}, error="")
    add("RGBToHSV", images=V(2, 4), error="")
    add("HSVToRGB", images=V(), error="")
    add("AdjustContrastv2", images=V(2, 3), contrast_factor=f(1), error="")

    boxes = np.array([[0.1, 0.2, 0.9, 0.8], [0, 0, 1, 1], [0.8, 0.7, 0.2, 0.1], [-0.5, -0.5, 1.5, 1.5]], np.float32)
    which = i32(0, 1, 0, 1)
    for method in ("bilinear", "nearest"):
        add(
            "CropAndResize",
            image=V(2, 5, 4, 2),
            boxes=boxes,
            box_ind=which,
            crop_size=i32(3, 2),
            method=method,
            extrapolation_value=0.5,
            types=("uint8", "uint16", "int8", "int16", "int32", "int64", "half", "float32", "float64"),
        )
        add(
            "CropAndResizeGradImage",
            grads=V(4, 3, 2, 2, dtype="float32"),
            boxes=boxes,
            box_ind=which,
            image_size=i32(2, 5, 4, 2),
            method=method,
            T=_type("float32"),
        )
    add("CropAndResizeGradBoxes", grads=V(4, 3, 2, 2, dtype="float32"), image=V(2, 5, 4, 2), boxes=boxes, box_ind=which)
    add("CropAndResize", image=V(2, 5, 4, 2), boxes=boxes, box_ind=i32(0, 1, 2, 0), crop_size=i32(3, 2), error="")
    add("CropAndResize", image=V(2, 5, 4, 2), boxes=boxes, box_ind=which, crop_size=i32(0, 2), error="")
    add("CropAndResize", image=V(2, 5, 4), boxes=boxes, box_ind=which, crop_size=i32(3, 2), error="")
    add("CropAndResize", image=V(2, 5, 4, 2), boxes=boxes[:2], box_ind=which, crop_size=i32(3, 2), error="")

    for align, half in ((False, False), (True, False), (False, True)):
        add(
            "ResizeBicubicGrad",
            grads=V(1, 4, 3, 2, dtype="float32"),
            original_image=V(1, 3, 5, 2),
            align_corners=align,
            half_pixel_centers=half,
            types=("float32", "float64"),
            grad=False,
        )
    for kernel in ("lanczos3", "triangle", "gaussian", "mitchellcubic", "box"):
        for antialias in (True, False):
            args = {
                "scale": np.array([1.5, 0.6], np.float32),
                "translation": np.array([0.5, 0], np.float32),
                "kernel_type": kernel,
                "antialias": antialias,
            }
            add(
                "ScaleAndTranslate",
                images=V(1, 4, 5, 2),
                size=i32(6, 3),
                types=("float32", "uint8", "int32", "float64"),
                **args,
            )
            add(
                "ScaleAndTranslateGrad",
                grads=V(1, 6, 3, 2),
                original_image=V(1, 4, 5, 2),
                types=("float32",),
                grad=False,
                **args,
            )

    for limit in (0, 2, 10):
        size = i32(limit)
        add("NonMaxSuppression", boxes=_BOXES, scores=_SCORES, max_output_size=size, types=("float32",))
        for version, thresholds in (("V2", 1), ("V3", 2), ("V4", 2), ("V5", 3)):
            names = ("iou_threshold", "score_threshold", "soft_nms_sigma")[:thresholds]
            args = dict(zip(names, (f(0.5), f(0.4), f(0.5))))
            add(
                "NonMaxSuppression" + version,
                boxes=_BOXES,
                scores=_SCORES,
                max_output_size=size,
                types=("float32",),
                **args,
            )
        for pad in (True,):
            add(
                "NonMaxSuppressionV4",
                boxes=_BOXES,
                scores=_SCORES,
                max_output_size=size,
                iou_threshold=f(0.5),
                score_threshold=f(0.0),
                pad_to_max_output_size=pad,
                types=("float32",),
            )
        overlaps = np.eye(6, dtype=np.float32) + np.eye(6, k=1, dtype=np.float32) + np.eye(6, k=-1, dtype=np.float32)
        add(
            "NonMaxSuppressionWithOverlaps",
            overlaps=overlaps,
            scores=_SCORES,
            max_output_size=size,
            overlap_threshold=f(0.5),
            score_threshold=f(0.4),
            types=("float32",),
        )
        for clip in (True, False):
            add(
                "CombinedNonMaxSuppression",
                boxes=_BOXES[None, :, None],
                scores=_SCORES[None, :, None],
                max_output_size_per_class=i32(3),
                max_total_size=i32(4),
                iou_threshold=f(0.5),
                score_threshold=f(0.4),
                clip_boxes=clip,
                types=("float32",),
            )
    add("NonMaxSuppression", boxes=_BOXES, scores=_SCORES[:3], max_output_size=i32(2), error="")
    add("NonMaxSuppression", boxes=_BOXES[:, :3], scores=_SCORES, max_output_size=i32(2), error="")
    add(
        "NonMaxSuppressionV3",
        boxes=_BOXES,
        scores=_SCORES,
        max_output_size=i32(2),
        iou_threshold=f(1.5),
        score_threshold=f(0),
        error="",
    )

    kernel = {
        "strides": [1, 1, 1, 1],
        "rates": [1, 1, 1, 1],
        "padding": "SAME",
        "types": ("float32", "float64", "int32", "uint8"),
    }
    add("Dilation2DBackpropInput", input=V(1, 4, 4, 2), filter=V(2, 2, 2), out_backprop=V(1, 4, 4, 2), **kernel)
    add("Dilation2DBackpropFilter", input=V(1, 4, 4, 2), filter=V(2, 2, 2), out_backprop=V(1, 4, 4, 2), **kernel)
    add("DrawBoundingBoxes", images=V(1, 6, 6, 3, low=0, high=1), boxes=np.array([[[0.1, 0.2, 0.7, 0.9]]], np.float32))

    for src, dst in (("NHWC", "NCHW"), ("NCHW", "NHWC")):
        add(
            "DataFormatDimMap",
            x=V(values=[0, 1, 2, 3, -1, -4]),
            src_format=src,
            dst_format=dst,
            types=("int32", "int64"),
        )
        add("DataFormatVecPermute", x=V(4), src_format=src, dst_format=dst, types=("int32", "int64"))
        add("DataFormatVecPermute", x=V(4, 2), src_format=src, dst_format=dst, types=("int32", "int64"))
    add("DataFormatDimMap", x=i32([4]), error="")
    add("DataFormatVecPermute", x=i32([4]), error="")
    add(
        "BatchNormWithGlobalNormalization",
        t=V(2, 2, 2, 3),
        m=V(3),
        v=V(3, low=0.5, high=2),
        beta=V(3),
        gamma=V(3),
        variance_epsilon=0.125,
        scale_after_normalization=True,
        types=("float32",),
    )
    add("CTCGreedyDecoder", inputs=V(4, 2, 3), sequence_length=i32(4, 3), types=("float32", "float64"))
    add("CTCGreedyDecoder", inputs=V(4, 2, 3), sequence_length=i32(4, 3), merge_repeated=True, types=("float32",))
    add("CTCGreedyDecoder", inputs=V(4, 2, 3), sequence_length=i32(5, 3), error="")
    labels = {"labels_indices": i64([[0, 0], [0, 1], [1, 0]]), "labels_values": i32(0, 1, 1)}
    add("CTCLoss", inputs=V(4, 2, 3), sequence_length=i32(4, 3), types=("float32", "float64"), **labels)
    add("CTCLoss", inputs=V(4, 2, 3), sequence_length=i32(4, 3), ctc_merge_repeated=False, types=("float32",), **labels)
    add(
        "CTCLoss",
        inputs=V(4, 2, 3),
        sequence_length=i32(4, 1),
        labels_indices=i64([[0, 0], [1, 0], [1, 1]]),
        labels_values=i32(0, 1, 1),
        error="",
    )
    return made


def _type(name):
    from spec import Type

    return Type(name)


CASES = _cases()
