"""Types of inputs whose type attribute has a default. Expected values: TensorFlow 2.21's; version 1: 1.15.5's."""
import numpy as np
import pytest

import penstock.v2 as tf

RAW = tf.raw_ops
IMAGE = [[[[2]]]]
# (op, arguments, type in graphs of version 2, type where it runs at once, type in version 1)
CASES = [
    ("FFT", dict(input=np.complex128([1, 2])), "complex128", "complex64", "complex64"),
    ("FFT", dict(input=np.float64([1, 2])), "complex64", "complex64", "complex64"),
    ("FFT", dict(input=[1 + 0j, 2]), "complex128", "complex128", "complex64"),
    ("Conj", dict(input=np.complex128([1])), "complex128", "complex64", "complex64"),
    ("Conj", dict(input=np.complex128(1)), "complex128", "complex128", "complex64"),
    ("Range", dict(start=np.int64(0), limit=3, delta=1), "int64", "int64", "int32"),
    ("Range", dict(start=np.array(0, np.int64), limit=3, delta=1), "int64", "int32", "int32"),
    ("Range", dict(start=np.float64(0), limit=3, delta=1), "float64", "int32", "int32"),
    ("Range", dict(start=np.float64(0), limit=np.int64(3), delta=1), "float64", "float64", "int32"),
    ("RGBToHSV", dict(images=np.float64([[[2, 1, 1]]])), "float64", "float32", "float32"),
    ("LRN", dict(input=np.float16(IMAGE)), "float16", "float16", "float32"),
    ("LRN", dict(input=np.float16(IMAGE), bias=1.0, alpha=1.0), "float16", "float32", "float32"),
    ("LeakyRelu", dict(features=np.float64([2])), "float64", "float32", "float32"),
    ("LeakyRelu", dict(features=[np.float64(2)]), "float32", "float64", "float32"),
    ("LeakyRelu", dict(features=[1, 2]), "float32", "float32", "float32"),
    ("MaxPool", dict(input=np.float64(IMAGE), ksize=[1] * 4, strides=[1] * 4, padding="SAME"), "float64", "float32",
     "float32"),
    ("RFFT", dict(input=np.float64([2, 3]), fft_length=[2], Tcomplex=tf.complex128), "complex128", "complex128", None),
    ("ComplexAbs", dict(x=np.complex128([2]), Tout=tf.float64), "float64", None, None),
]


@pytest.mark.parametrize("op, arguments, in_graph, eager, _", CASES, ids=map(str, range(len(CASES))))
def test_types_in_version_two(version_two, op, arguments, in_graph, eager, _):
    def build():
        return getattr(RAW, op)(**arguments)

    assert tf.function(build)().dtype.name == in_graph
    with tf.Graph().as_default():
        assert build().dtype.name == in_graph
    assert eager is None or build().dtype.name == eager


@pytest.mark.parametrize("op, arguments, _, __, expected", CASES, ids=map(str, range(len(CASES))))
def test_types_in_version_one(op, arguments, _, __, expected):
    with tf.Graph().as_default():
        assert expected is None or getattr(RAW, op)(**arguments).dtype.name == expected


def test_values_are_not_rounded(version_two):
    start, limit, delta = np.float64([.5, 3, 1])
    assert tf.function(lambda: RAW.Range(start=start, limit=limit, delta=delta))().numpy().tolist() == [.5, 1.5, 2.5]
    assert tf.signal.fft([1 + 2**-30 * 1j]).numpy()[0].imag == 2**-30
    deep = np.full([1, 1, 1], 1000, np.uint16)
    for encode in tf.io.encode_png, tf.function(lambda x=deep: tf.io.encode_png(deep)):
        assert tf.io.decode_png(encode(deep), dtype=tf.uint16).numpy().tolist() == [[[1000]]]


def test_one_list_keeps_the_types_of_all_inputs(version_two):
    assert RAW.Complex(real=np.float64(1), imag=[2.0], Tout=tf.complex128).numpy() == [1 + 2j]


def test_what_is_refused(version_two):
    with pytest.raises(TypeError, match="Cannot convert 1.5 to EagerTensor of dtype int32"):
        RAW.Range(start=1.5, limit=3, delta=1)
    for image in [[[1]]], np.ones((1, 1, 1)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'T' of .* is not in the list of allowed values: "
                                                                 "uint8, uint16"):
            tf.io.encode_png(image)
