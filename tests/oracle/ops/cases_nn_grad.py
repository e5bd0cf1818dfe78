"""Gradients of neural networks' ops as ops of their own, and quantisation."""

from spec import Case, V, i32, i64

_REAL = ("half", "bfloat16", "float32", "float64")
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}
_POOL3D = {"ksize": [1, 1, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}


def _cases():
    made = []

    def add(op, error=None, types=_REAL, tolerance=1e-3, rough=4, **args):
        made.append(
            Case(
                op, args, error=error, types=types if error is None else ("float32",), tolerance=tolerance, rough=rough
            )
        )

    for training in (True, False):
        for version in ("", "V2", "V3"):
            args = {
                "y_backprop": V(3, 2, 2, 4),
                "x": V(3, 2, 2, 4),
                "scale": V(4, dtype="float32"),
                "reserve_space_1": V(4, dtype="float32"),
                "reserve_space_2": V(4, dtype="float32", low=0.5, high=2),
            }
            if version == "V3":
                args["reserve_space_3"] = V(0, dtype="float32")
            types = ("half", "bfloat16", "float32") if version else ("float32",)
            add("FusedBatchNormGrad" + version, epsilon=0.125, is_training=training, types=types, **args)
    for padding, out in (("SAME", (6, 5)), ("VALID", (4, 4))):
        d = {"strides": [1, 1, 1, 1], "padding": padding}
        add(
            "DepthwiseConv2dNativeBackpropInput",
            input_sizes=i32(2, 6, 5, 2),
            filter=V(3, 2, 2, 2),
            out_backprop=V(2, *out, 4),
            **d,
        )
        add(
            "DepthwiseConv2dNativeBackpropFilter",
            input=V(2, 6, 5, 2),
            filter_sizes=i32(3, 2, 2, 2),
            out_backprop=V(2, *out, 4),
            rough=8,
            **d,
        )
    bad = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    add(
        "DepthwiseConv2dNativeBackpropInput",
        input_sizes=i32(2, 6, 5),
        filter=V(3, 2, 2, 2),
        out_backprop=V(2, 6, 5, 4),
        error="",
        **bad,
    )
    add(
        "DepthwiseConv2dNativeBackpropInput",
        input_sizes=i32(2, 6, 5, 2),
        filter=V(3, 2, 2, 2),
        out_backprop=V(2, 6, 5, 3),
        error="",
        **bad,
    )
    add(
        "DepthwiseConv2dNativeBackpropFilter",
        input=V(2, 6, 5, 2),
        filter_sizes=i32(3, 2, 2),
        out_backprop=V(2, 6, 5, 4),
        error="",
        **bad,
    )
    for padding, out in (("SAME", (3, 4, 3)), ("VALID", (2, 3, 2))):
        d = {"strides": [1] * 5, "padding": padding}
        for make in (i32, i64):
            add(
                "Conv3DBackpropInputV2",
                input_sizes=make(1, 3, 4, 3, 2),
                filter=V(2, 2, 2, 2, 3),
                out_backprop=V(1, *out, 3),
                rough=8,
                **d,
            )
        add(
            "Conv3DBackpropFilterV2",
            input=V(1, 3, 4, 3, 2),
            filter_sizes=i32(2, 2, 2, 2, 3),
            out_backprop=V(1, *out, 3),
            rough=8,
            **d,
        )
    add(
        "Conv3DBackpropInputV2",
        input_sizes=i32(1, 3, 4, 3),
        filter=V(2, 2, 2, 2, 3),
        out_backprop=V(1, 3, 4, 3, 3),
        strides=[1] * 5,
        padding="SAME",
        error="",
    )
    add(
        "Conv3DBackpropFilterV2",
        input=V(1, 3, 4, 3, 2),
        filter_sizes=i32(2, 2, 2, 2, 3),
        out_backprop=V(1, 3, 4, 3, 2),
        strides=[1] * 5,
        padding="SAME",
        error="",
    )

    # Distinct numbers, so that every window has one largest.
    x = [[[[(7 * (4 * i + j) + 3 * c) % 31] for j in range(5)] for i in range(4)] for c in range(2)]
    top = [
        [[[max(x[c][i + a][j + b][0] for a in range(2) for b in range(2))] for j in (0, 2)] for i in range(3)]
        for c in range(2)
    ]
    add("MaxPoolGrad", orig_input=V(values=x), orig_output=V(values=top), grad=V(2, 3, 2, 1), **_POOL)
    add("MaxPoolGradGrad", orig_input=V(values=x), orig_output=V(values=top), grad=V(2, 4, 5, 1), **_POOL)
    ksize, strides = i32(_POOL["ksize"]), i32(_POOL["strides"])
    add("MaxPoolV2", input=V(2, 4, 5, 1), ksize=ksize, strides=strides, padding="VALID")
    add(
        "MaxPoolV2",
        input=V(2, 4, 5, 1),
        ksize=ksize,
        strides=strides,
        padding="SAME",
        types=("int32", "int64", "uint8"),
    )
    add("MaxPoolV2", input=V(2, 4, 5, 1), ksize=i32(2, 2), strides=strides, padding="VALID", error="")
    add(
        "MaxPoolGradV2",
        orig_input=V(values=x),
        orig_output=V(values=top),
        grad=V(2, 3, 2, 1),
        ksize=ksize,
        strides=strides,
        padding="VALID",
    )
    add(
        "MaxPoolGradGradV2",
        orig_input=V(values=x),
        orig_output=V(values=top),
        grad=V(2, 4, 5, 1),
        ksize=ksize,
        strides=strides,
        padding="VALID",
    )
    add("MaxPoolGrad", orig_input=V(values=x), orig_output=V(values=top), grad=V(2, 3, 3, 1), error="", **_POOL)
    add(
        "MaxPoolGradWithArgmax",
        input=V(1, 4, 5, 1),
        grad=V(1, 3, 2, 1),
        argmax=i64([[[[0], [3]], [[6], [8]], [[15], [18]]]]),
        **_POOL,
    )
    add("AvgPoolGrad", orig_input_shape=i32(2, 4, 5, 1), grad=V(2, 3, 2, 1), **_POOL)
    add("AvgPoolGrad", orig_input_shape=i32(2, 4, 5), grad=V(2, 3, 2, 1), error="", **_POOL)
    add("AvgPoolGrad", orig_input_shape=i32(2, 4, 9, 1), grad=V(2, 3, 2, 1), error="", **_POOL)
    add("AvgPool3DGrad", orig_input_shape=i32(1, 2, 3, 3, 2), grad=V(1, 2, 2, 2, 2), **_POOL3D)
    add("AvgPool3DGrad", orig_input_shape=i32(1, 2, 3, 3), grad=V(1, 2, 2, 2, 2), error="", **_POOL3D)
    cube = [[[[[(5 * (9 * p + 3 * i + j)) % 23] for j in range(3)] for i in range(3)] for p in range(2)]]
    best = [
        [
            [
                [[max(cube[0][p][i + a][j + b][0] for a in range(2) for b in range(2))] for j in range(2)]
                for i in range(2)
            ]
            for p in range(2)
        ]
    ]
    add("MaxPool3DGrad", orig_input=V(values=cube), orig_output=V(values=best), grad=V(1, 2, 2, 2, 1), **_POOL3D)
    add("MaxPool3DGradGrad", orig_input=V(values=cube), orig_output=V(values=best), grad=V(1, 2, 3, 3, 1), **_POOL3D)
    add(
        "ExtractVolumePatches", input=V(1, 3, 4, 3, 2), ksizes=[1, 2, 2, 1, 1], strides=[1, 1, 2, 1, 1], padding="VALID"
    )
    add(
        "ExtractVolumePatches",
        input=V(1, 3, 4, 3, 2),
        ksizes=[1, 2, 2, 1, 1],
        strides=[1, 1, 2, 1, 1],
        padding="SAME",
        types=None,
    )
    add(
        "LRNGrad",
        input_grads=V(1, 2, 2, 5),
        input_image=V(1, 2, 2, 5),
        output_image=V(1, 2, 2, 5),
        depth_radius=2,
        bias=1.5,
        alpha=0.5,
        beta=0.5,
        types=("half", "bfloat16", "float32"),
    )
    for align, half in ((False, False), (True, False), (False, True)):
        add(
            "ResizeBilinearGrad",
            grads=V(1, 4, 3, 2, dtype="float32"),
            original_image=V(1, 3, 5, 2),
            align_corners=align,
            half_pixel_centers=half,
        )
        add(
            "ResizeNearestNeighborGrad",
            grads=V(1, 4, 3, 2),
            size=i32(3, 5),
            align_corners=align,
            half_pixel_centers=half,
            types=None,
        )
    add("ResizeBilinearGrad", grads=V(4, 3, 2, dtype="float32"), original_image=V(1, 3, 5, 2), error="")
    add("ResizeNearestNeighborGrad", grads=V(1, 4, 3, 2), size=i32([3]), error="")
    add("ResizeNearestNeighborGrad", grads=V(1, 4, 3, 2), size=i32(3, 0), error="")

    one = ("float32",)
    for narrow in (False, True):
        for bits in (2, 8):
            q = {"num_bits": bits, "narrow_range": narrow, "types": one}
            x, g, low, high = V(3, 4, low=-8, high=8), V(3, 4), V(values=-3.1), V(values=4.3)
            add("FakeQuantWithMinMaxArgs", inputs=x, min=-3.1, max=4.3, **q)
            add("FakeQuantWithMinMaxArgsGradient", gradients=g, inputs=x, min=-3.1, max=4.3, **q)
            add("FakeQuantWithMinMaxVars", inputs=x, min=low, max=high, **q)
            add("FakeQuantWithMinMaxVarsGradient", gradients=g, inputs=x, min=low, max=high, **q)
            lows, highs = V(values=[-3.1, 0.0, 1.0, -1.0]), V(values=[4.3, 2.0, 3.0, -0.5])
            add("FakeQuantWithMinMaxVarsPerChannel", inputs=x, min=lows, max=highs, **q)
            add("FakeQuantWithMinMaxVarsPerChannelGradient", gradients=g, inputs=x, min=lows, max=highs, **q)
            for mode in ("HALF_TO_EVEN", "HALF_UP"):
                for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
                    for given in (False, True):
                        for signed in (False, True):
                            add(
                                op,
                                input=x,
                                input_min=V(values=-3.0),
                                input_max=V(values=4.0),
                                num_bits=bits,
                                narrow_range=narrow,
                                range_given=given,
                                round_mode=mode,
                                signed_input=signed,
                            )
            add(
                "QuantizeAndDequantizeV4",
                input=x,
                input_min=V(values=[-3.0, -2.0, -1.0]),
                input_max=V(values=[4.0, 3.0, 2.0]),
                num_bits=bits,
                narrow_range=narrow,
                range_given=True,
                axis=0,
            )
            add(
                "QuantizeAndDequantizeV3",
                input=x,
                input_min=V(values=-3.0),
                input_max=V(values=4.0),
                num_bits=i32(bits),
                narrow_range=narrow,
            )
    add("FakeQuantWithMinMaxArgs", inputs=V(3), min=1.0, max=0.0, error="")
    add("FakeQuantWithMinMaxArgs", inputs=V(3), num_bits=20, error="")
    add("FakeQuantWithMinMaxVars", inputs=V(3), min=V(2), max=V(2), error="")
    add("FakeQuantWithMinMaxVarsPerChannel", inputs=V(2, 3), min=V(2), max=V(2), error="")
    add("QuantizeAndDequantize", input=V(3, 4), types=("float32", "float64"))
    add(
        "QuantizeAndDequantizeV4Grad",
        gradients=V(5),
        input=V(values=[-4.0, -3.0, 0.0, 2.0, 5.0]),
        input_min=V(values=-3.0),
        input_max=V(values=4.0),
    )
    add(
        "QuantizeAndDequantizeV2",
        input=V(3),
        input_min=V(values=2.0),
        input_max=V(values=1.0),
        range_given=True,
        error="",
    )
    add("QuantizeAndDequantizeV2", input=V(3), input_min=V(values=2.0), input_max=V(values=1.0), num_bits=70, error="")
    add(
        "QuantizeAndDequantizeV3",
        input=V(3),
        input_min=V(values=2.0),
        input_max=V(values=1.0),
        num_bits=i32(1, 2),
        error="",
    )
    return made


CASES = _cases()
