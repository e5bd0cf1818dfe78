"""Neural networks: convolutions, pools, normalisation, losses."""

from spec import Case, V, i32, i64


def _cases():
    made = []
    real = ("half", "bfloat16", "float32", "float64")

    def add(op, error=None, types=real, tolerance=1e-3, rough=1, **args):
        made.append(
            Case(
                op, args, error=error, types=types if error is None else ("float32",), tolerance=tolerance, rough=rough
            )
        )

    for strides in ([1, 1, 1, 1], [1, 2, 2, 1], [1, 1, 2, 1]):
        for padding in ("SAME", "VALID"):
            for dilation in (1, 2):
                if dilation == 2 and strides != [1, 1, 1, 1]:
                    continue
                d = [1, dilation, dilation, 1]
                add(
                    "Conv2D",
                    input=V(2, 6, 5, 3),
                    filter=V(3, 2, 3, 4),
                    strides=strides,
                    padding=padding,
                    dilations=d,
                    rough=8,
                )
                add(
                    "DepthwiseConv2dNative",
                    input=V(2, 6, 5, 2),
                    filter=V(3, 2, 2, 2),
                    strides=[1, strides[1], strides[1], 1],
                    padding=padding,
                    dilations=d,
                    rough=8,
                )
            for op in ("MaxPool", "AvgPool"):
                args = {"value" if op == "AvgPool" else "input": V(2, 6, 5, 2)}
                add(op, ksize=[1, 3, 2, 1], strides=strides, padding=padding, **args)
            add("MaxPoolWithArgmax", input=V(1, 5, 4, 2), ksize=[1, 2, 2, 1], strides=strides, padding=padding)
    add(
        "Conv2D",
        input=V(1, 4, 4, 2),
        filter=V(3, 3, 2, 2),
        strides=[1, 1, 1, 1],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0],
    )
    add("Conv2D", input=V(0, 4, 4, 2), filter=V(3, 3, 2, 2), strides=[1, 1, 1, 1], padding="SAME")
    add("Conv2D", input=V(1, 4, 4, 4), filter=V(3, 3, 2, 6), strides=[1, 1, 1, 1], padding="SAME")
    add("Conv2D", input=V(1, 4, 4, 3), filter=V(3, 3, 2, 6), strides=[1, 1, 1, 1], padding="SAME", error="")
    add("Conv2D", input=V(1, 2, 2, 3), filter=V(3, 3, 3, 6), strides=[1, 1, 1, 1], padding="VALID", error="")
    add("Conv2D", input=V(4, 4, 3), filter=V(3, 3, 3, 6), strides=[1, 1, 1, 1], padding="VALID", error="")
    add("Conv2D", input=V(1, 4, 4, 3), filter=V(3, 3, 3, 6), strides=[1, 0, 1, 1], padding="VALID", error="")
    add("Conv2D", input=V(1, 4, 4, 3), filter=V(3, 3, 3, 6), strides=[2, 1, 1, 1], padding="VALID", error="")
    add("MaxPool", input=V(1, 2, 2, 3), ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="VALID", error="")
    add("MaxPool", input=V(1, 2, 2), ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="VALID", error="")
    add("AvgPool", value=V(1, 2, 2, 3), ksize=[1, 0, 3, 1], strides=[1, 1, 1, 1], padding="VALID", error="")
    add(
        "MaxPool",
        input=V(1, 4, 4, 1),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
        types=("int32", "int64", "uint8", "int16"),
    )
    for padding in ("SAME", "VALID"):
        add(
            "Conv2DBackpropInput",
            input_sizes=i32(2, 6, 5, 3),
            filter=V(3, 2, 3, 4),
            out_backprop=V(2, *((6, 5) if padding == "SAME" else (4, 4)), 4),
            strides=[1, 1, 1, 1],
            padding=padding,
            rough=8,
        )
        add(
            "Conv2DBackpropFilter",
            input=V(2, 6, 5, 3),
            filter_sizes=i32(3, 2, 3, 4),
            out_backprop=V(2, *((6, 5) if padding == "SAME" else (4, 4)), 4),
            strides=[1, 1, 1, 1],
            padding=padding,
            rough=8,
        )
        add("Conv3D", input=V(1, 3, 4, 3, 2), filter=V(2, 2, 2, 2, 3), strides=[1, 1, 1, 1, 1], padding=padding)
        add("MaxPool3D", input=V(1, 3, 4, 4, 2), ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding=padding)
        add("AvgPool3D", input=V(1, 3, 4, 4, 2), ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding=padding)
        add(
            "Dilation2D",
            input=V(1, 4, 4, 2),
            filter=V(2, 2, 2),
            strides=[1, 1, 1, 1],
            rates=[1, 1, 1, 1],
            padding=padding,
        )
    every = None
    for shape in ((3,), (2, 3), (2, 2, 3), (0, 3)):
        add("Softmax", logits=V(*shape))
        add("LogSoftmax", logits=V(*shape))
        if len(shape) > 1:
            add("BiasAdd", value=V(*shape), bias=V(3), types=every)
            add("BiasAddV1", value=V(*shape), bias=V(3), types=every)
            add("BiasAddGrad", out_backprop=V(*shape), types=every)
    add("BiasAdd", value=V(2, 3, 2, 2), bias=V(3), data_format="NCHW")
    add("BiasAddGrad", out_backprop=V(2, 3, 2, 2), data_format="NCHW")
    add("BiasAdd", value=V(2, 3), bias=V(2), error="")
    add("BiasAdd", value=V(3), bias=V(3), error="")
    add("SoftmaxCrossEntropyWithLogits", features=V(4, 3), labels=V(4, 3, low=0, high=1))
    add("SoftmaxCrossEntropyWithLogits", features=V(4, 3), labels=V(1, 3, low=0, high=1))
    add("SoftmaxCrossEntropyWithLogits", features=V(0, 3), labels=V(0, 3))
    add("SoftmaxCrossEntropyWithLogits", features=V(4, 3), labels=V(4, 2), error="")
    add("SoftmaxCrossEntropyWithLogits", features=V(3), labels=V(3), error="")
    for make in (i32, i64):
        add("SparseSoftmaxCrossEntropyWithLogits", features=V(4, 3), labels=make(0, 2, 1, 1))
    add("SparseSoftmaxCrossEntropyWithLogits", features=V(2, 3), labels=i32(0, 3), error="")
    add("SparseSoftmaxCrossEntropyWithLogits", features=V(2, 3), labels=i32(0, -1), error="")
    add("SparseSoftmaxCrossEntropyWithLogits", features=V(2, 3), labels=i32([0]), error="")
    for radius in (1, 2):
        add(
            "LRN",
            input=V(1, 2, 2, 5),
            depth_radius=radius,
            bias=1.5,
            alpha=0.5,
            beta=0.75,
            types=("half", "bfloat16", "float32"),
        )
    for training in (True, False):
        size = 0 if training else 2
        for op, types in (
            ("FusedBatchNorm", ("float32",)),
            ("FusedBatchNormV2", ("float32",)),
            ("FusedBatchNormV3", ("float32",)),
        ):
            made.append(
                Case(
                    op,
                    {
                        "x": V(2, 3, 2, 2),
                        "scale": V(2, low=1, high=2),
                        "offset": V(2),
                        "mean": V(size),
                        "variance": V(size, low=1, high=2),
                        "is_training": training,
                        "epsilon": 0.001,
                    },
                    types=types,
                    tolerance=1e-3,
                    outputs=[0, 1, 2],
                )
            )
    add("FusedBatchNorm", x=V(2, 3, 2, 2), scale=V(3), offset=V(2), mean=V(0), variance=V(0), error="")
    for align, half in ((False, False), (True, False), (False, True)):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
            extra = {} if op == "ResizeArea" else {"half_pixel_centers": half}
            if half and op == "ResizeArea":
                continue
            add(op, images=V(1, 3, 4, 2), size=i32(5, 3), align_corners=align, **extra)
    return made


CASES = _cases()
