"""Ops on strings; expected values are those of TensorFlow 2.21."""
import numpy as np
import pytest

import penstock.v1 as tf


def run(*fetches, feed=None):
    with tf.Session() as sess:
        return sess.run(fetches[0] if len(fetches) == 1 else list(fetches), feed)


def fails(message, make, error=tf.errors.InvalidArgumentError):
    with tf.Graph().as_default(), pytest.raises((error, ValueError), match=message):
        run(make())


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_join():
    assert run(tf.string_join(["a", ["b", "c"], "d"], separator="-")).tolist() == [b"a-b-d", b"a-c-d"]
    x = tf.placeholder(tf.string)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input shapes do not match: \[1\] vs. \[2\]"):
        run(tf.string_join([x, ["b", "c"]]), feed={x: ["a"]})


def test_reduce_join():
    x = [["a", "b"], ["c", "d"]]
    assert run(tf.reduce_join(x, axis=[0, 1])) == b"acbd"
    assert run(tf.reduce_join(x, axis=[1, 0], keepdims=True, separator="-")).tolist() == [[b"a-b-c-d"]]
    assert run(tf.reduce_join(x, axis=-1)).tolist() == [b"ab", b"cd"]
    assert run(tf.reduce_join(tf.zeros([0, 2], tf.string), axis=0)).tolist() == [b"", b""]
    fails("Duplicate reduction dimension", lambda: tf.reduce_join(x, axis=tf.placeholder_with_default([0, -2], [2])))


def test_unsorted_segment_join():
    join = tf.strings.unsorted_segment_join
    assert run(join(["a", "b", "c"], [1, 0, 1], 3, separator=":")).tolist() == [b"b", b"a:c", b""]
    assert run(join([["a", "b"], ["c", "d"]], [0, 0], 1)).tolist() == [[b"ac", b"bd"]]
    fails("not allowed to exceed", lambda: join(["a"], [2], 2))


def test_split():
    split = tf.string_split(["a b", "", " x"], delimiter=" ")
    indices, values, shape = run(split)
    assert values.tolist() == [b"a", b"b", b"x"] and shape.tolist() == [3, 2]
    assert indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert run(tf.string_split(["a,b;c"], delimiter=",;")).values.tolist() == [b"a", b"b", b"c"]
    assert run(tf.string_split(["ab"], delimiter="")).values.tolist() == [b"a", b"b"]
    v2 = tf.raw_ops.StringSplitV2
    assert run(v2(input=["a--b--", "x", ""], sep="--", maxsplit=-1)).values.tolist() == [b"a", b"b", b"", b"x", b""]
    assert run(v2(input=["a  b ", " x", " "], sep="", maxsplit=1)).values.tolist() == [b"a", b"b ", b"x", b""]


def test_substr():
    assert run(tf.substr([b"Hello", b"World"], 1, 3)).tolist() == [b"ell", b"orl"]
    assert run(tf.substr("abc", -2, 9)) == b"bc"
    assert run(tf.substr(["abc", "de"], [[1], [0], [1]], [[1], [1], [2]])).tolist() == [
        [b"b", b"e"], [b"a", b"d"], [b"bc", b"e"]]
    assert run(tf.substr("aéßz".encode(), 1, 2, unit="UTF8_CHAR")) == "éß".encode()
    none = tf.zeros([5, 0, 8], tf.int64)
    assert run(tf.substr(tf.zeros([5, 0, 8], tf.string), none, none)).shape == (5, 0, 8)
    fails("pos 4 out of range for string b'abc' at index 0", lambda: tf.substr("abc", 4, 1))
    fails("pos 5 out of range", lambda: tf.substr("abc", 5, 1, unit="UTF8_CHAR"))


def test_case_length_and_strip():
    assert run(tf.strings.upper("straße ﬁ".encode(), encoding="utf-8")) == "STRASSE FI".encode()
    assert run(tf.strings.lower("ΑΣ Σ ΑΣΑ".encode(), encoding="utf-8")) == "ας σ ασα".encode()
    assert run(tf.strings.upper(b"a\xff\xe2b", encoding="utf-8")) == b"A\xef\xbf\xbd\xef\xbf\xbdB"
    assert run(tf.strings.lower(b"A\xc9b")) == b"a\xc9b"
    assert run(tf.strings.length(["aé", ""], unit="UTF8_CHAR")).tolist() == [2, 0]
    assert run(tf.strings.length(["aé", ""])).tolist() == [3, 0]
    assert run(tf.string_strip([b"\x0b\x0c a\t\r\n", b"\x00 "])).tolist() == [b"a", b"\x00"]
    fails("only utf-8 or ''", lambda: tf.strings.lower("A", encoding="latin1"))


@pytest.mark.parametrize("value, dtype, attrs, text", [
    (0.1, tf.float32, {}, b"0.100000"), (1e10, tf.float32, dict(shortest=True), b"1e+10"),
    (1 / 3, tf.half, {}, b"0.333252"), (float("nan"), tf.float64, {}, b"nan"),
    (0.1, tf.float64, dict(precision=2, width=12, fill="0"), b"000000000.10"),
    (3, tf.int64, dict(width=5, fill="0"), b"00003"),
    (3.0, tf.float32, dict(fill="-", width=9), b"3.000000 "), (1 + 2j, tf.complex64, {}, b"(1.000000,2.000000)"),
    (True, tf.bool, {}, b"true"), (200, tf.uint8, {}, b"200"), (-5, tf.int8, {}, b"-5"),
    (0.5, tf.float32, dict(scientific=True), b"5.000000e-01"),
])
def test_as_string(value, dtype, attrs, text):
    assert run(tf.as_string(tf.constant(value, dtype), **attrs)) == text


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("attrs, form", [({}, "%f"), (dict(precision=3), "%.3f"), (dict(scientific=True), "%e"),
                                         (dict(shortest=True), "%g"), (dict(precision=0), "%.0f"),
                                         (dict(shortest=True, precision=9), "%.9g"), (dict(width=12), "%12f"),
                                         (dict(width=12, fill="0", precision=2), "%012.2f"),
                                         (dict(width=14, fill="-"), "%-14f")])
def test_as_string_is_what_printf_makes(dtype, attrs, form):
    numbers = np.array([0, -0.0, 1, 0.5, -1.5, 2.5, 1e-7, 123456.789, -3e30, 1e22, np.inf, -np.inf, 5e-324, 0.1], dtype)
    text = run(tf.as_string(tf.constant(numbers), **attrs))
    numbers[12] = 0  # denormal numbers are zero to ops
    plain = attrs.get("fill") != "0"
    assert [t for t, x in zip(text, numbers) if plain or np.isfinite(x)] == [
        (form % x).encode() for x in numbers if plain or np.isfinite(x)]


@pytest.mark.parametrize("attrs, form", [({}, "%d"), (dict(width=6), "%6d"), (dict(width=6, fill="0"), "%06d"),
                                         (dict(width=6, fill="-"), "%-6d"), (dict(width=6, fill="+"), "%+6d")])
def test_as_string_of_integers(attrs, form):
    numbers = [0, 7, -7, 123456, -123456, 1234567, -1234567]
    assert list(run(tf.as_string(tf.constant(numbers), **attrs))) == [(form % x).encode() for x in numbers]


def test_as_string_refuses():
    fails("scientific and shortest format not supported for datatype int32", lambda: tf.as_string(3, shortest=True))
    fails("Cannot select both", lambda: tf.as_string(3.0, shortest=True, scientific=True))
    fails("Fill argument not supported", lambda: tf.as_string(3.0, fill="*"))


@pytest.mark.parametrize("text, dtype, value", [
    (" 1e3 ", tf.float32, 1000.0), ("-Infinity", tf.float32, -np.inf), ("0x10", tf.float64, 16.0),
    ("1e400", tf.float64, np.inf),
    ("+5", tf.int32, 5), ("-2147483648", tf.int32, -2147483648), ("nan", tf.float32, np.nan)])
def test_to_number(text, dtype, value):
    np.testing.assert_equal(run(tf.string_to_number(text, dtype)), np.array(value, dtype.as_numpy_dtype))


@pytest.mark.parametrize("text, dtype", [("", tf.float32), ("1_0", tf.float32), ("1.5.", tf.float64), ("1e3", tf.int32),
                                         ("99999999999", tf.int32), ("+-5", tf.int64), ("--1", tf.float32)])
def test_to_number_refuses(text, dtype):
    fails("StringToNumberOp could not correctly convert string: ", lambda: tf.string_to_number(text, dtype))


def test_hash_buckets():
    words = ["a", "bcdefghijklmn", ""]
    assert run(tf.string_to_hash_bucket(words, 1 << 62)).tolist() == [
        2996632905371535868, 2016471390678169366, 105434511174508091]
    assert run(tf.string_to_hash_bucket_fast(words, 1 << 62)).tolist() == [
        3694432073954588131, 1805293620107585010, 1936946117179621455]
    assert run(tf.string_to_hash_bucket_strong(words[:2], 1 << 62, [98765, 132])).tolist() == [
        2545703790749078880, 2097318199675753009]
    fails("Key must have 2 elements", lambda: tf.string_to_hash_bucket_strong(["a"], 10, [1, 2, 3]))


def test_base64():
    for raw in (b"", b"a", b"ab", b"abc", bytes(range(256))):
        assert run(tf.decode_base64(tf.encode_base64(raw))) == raw
        assert run(tf.decode_base64(tf.encode_base64(raw, pad=True))) == raw
    assert run(tf.encode_base64(b"\xfb\xff", pad=True)) == b"-_8="
    fails("Invalid character found in base64", lambda: tf.decode_base64("ab+c"))
    fails("cannot be 1 modulo 4", lambda: tf.decode_base64("Y"))


def test_format():
    text = tf.strings.format
    assert run(text("x {} y", tf.range(8))) == b"x [0 1 2 ... 5 6 7] y"
    assert run(text("{} {}", (1.5, [0.1, 1e10]))) == b"1.5 [0.1 1e+10]"
    assert run(text("{}", tf.reshape(tf.range(60), [3, 4, 5]), summarize=1)) == (
        b"[[[0 ... 4]\n  ...\n  [15 ... 19]]\n\n ...\n\n [[40 ... 44]\n  ...\n  [55 ... 59]]]")
    assert run(text("{}", tf.constant(["a", "b\n'\""]))) == b'["a" "b\\n\\\'\\""]'
    assert run(text("{}", tf.constant([1 / 3], tf.float64))) == b"[0.33333333333333331]"
    assert run(text("{}", tf.zeros([0, 3]))) == b"[]"


def test_regular_expressions():
    replace, match = tf.strings.regex_replace, tf.strings.regex_full_match
    assert run(replace(["aab", "b"], "a*", "-")).tolist() == [b"-b-", b"-b-"]
    assert run(replace(["aab"], "(a)(b)", r"\2\1")).tolist() == [b"aba"]
    assert run(replace(["aab"], "a", "x", replace_global=False)).tolist() == [b"xab"]
    assert run(replace(["é"], ".", "x")).tolist() == [b"x"]
    assert run(match(["aab", "ab"], "a+b")).tolist() == [True, True]
    assert run(match(["é1"], r"\pL\d")).tolist() == [True]
    pattern = tf.placeholder(tf.string, [])
    matched = match(["ab", "b"], pattern)
    with tf.Session() as sess:
        assert sess.run(matched, {pattern: "a?b"}).tolist() == [True, True]
        assert sess.run(matched, {pattern: "b"}).tolist() == [False, True]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Invalid pattern: \(a, error: missing \): \(a"):
            sess.run(matched, {pattern: "(a"})
    fails("Invalid pattern", lambda: replace("a", "(a", "x"))


def test_ngrams():
    def ngrams(data, splits, widths, pad=0, keep=False):
        op = tf.raw_ops.StringNGrams(data=data, data_splits=tf.constant(splits, tf.int64), separator="|",
                                     ngram_widths=widths, left_pad="L", right_pad="R", pad_width=pad,
                                     preserve_short_sequences=keep)
        return [part.tolist() for part in run(op)]

    assert ngrams(["a", "b", "c"], [0, 2, 3], [1, 2]) == [[b"a", b"b", b"a|b", b"c"], [0, 3, 4]]
    assert ngrams(["a", "b", "c"], [0, 3], [4], -1)[0] == [
        b"L|L|L|a", b"L|L|a|b", b"L|a|b|c", b"a|b|c|R", b"b|c|R|R", b"c|R|R|R"]
    assert ngrams(["a", "b", "c"], [0, 3], [5], 1, True) == [[b"L|a|b|c|R"], [0, 1]]
    for splits, message in (([0, 2], "Last split value must be data size"), ([1, 3], "First split value must be 0"),
                            ([0, 2, 1, 3], "Invalid split value 1")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            ngrams(["a", "b", "c"], splits, [1])
    with pytest.raises(tf.errors.ResourceExhaustedError):
        ngrams(["abc"] * 3, [0, 3], [1 << 27], 1 << 27)


def test_decode_raw():
    assert run(tf.decode_raw(["ab", "cd"], tf.uint8)).tolist() == [[97, 98], [99, 100]]
    assert run(tf.decode_raw([b"\x00\x01"], tf.int16, little_endian=False)).tolist() == [[1]]
    assert run(tf.decode_raw(["abcdefgh"], tf.complex64, little_endian=False)).tobytes() == b"dcbahgfe"
    fails("all be the same size", lambda: tf.decode_raw(["abc", "d"], tf.uint8))
    fails("not a multiple of 2, the size of int16", lambda: tf.decode_raw(["abc"], tf.int16))
    padded = tf.raw_ops.DecodePaddedRaw
    assert run(padded(input_bytes=["abc", "d"], fixed_length=2, out_type=tf.uint8)).tolist() == [[97, 98], [100, 0]]


@pytest.mark.parametrize("raw, encoding, characters, starts", [
    (b"a\xe2\x82b", "UTF-8", [97, 65533, 98], [0, 1, 3]), (b"\xc0\x80", "UTF-8", [65533] * 2, [0, 1]),
    (b"\xed\xa0\x80x", "UTF-8", [65533] * 3 + [120], [0, 1, 2, 3]), (b"\xf0\x9f\x98\x80", "utf8", [0x1F600], [0]),
    (b"\x00a\xd8\x3d\xde\x00\xd8\x00\x00b\x00", "UTF-16-BE", [97, 0x1F600, 65533, 98, 65533], [0, 2, 6, 8, 10]),
    (b"\xff\xfea\x00", "UTF-16", [97], [0]), (b"\x00\x00\x00a\x00\x11\x00\x00", "UTF-32-BE", [97, 65533], [0, 4]),
    (b"a\xff", "US-ASCII", [97, 65533], [0, 1]), (b"a\xff", "latin1", [97, 255], [0, 1]),
    (b"a\xff\x83\x5c\xe9\x80", "SHIFT-JIS", [97, 65533, 12477, 39486], [0, 1, 2, 4]),
    (b"\x80", "windows-1252", [8364], [0]),
])
def test_unicode_decode(raw, encoding, characters, starts):
    op = tf.raw_ops.UnicodeDecodeWithOffsets(input=[raw], input_encoding=encoding)
    splits, values, at = run(op)
    assert values.tolist() == characters and at.tolist() == starts and splits.tolist() == [0, len(characters)]


def test_unicode_errors():
    def decode(**how):
        return tf.raw_ops.UnicodeDecode(input=[b"a\x01\xffb"], input_encoding="UTF-8", **how).char_values

    assert run(decode(errors="ignore")).tolist() == [97, 1, 98]
    assert run(decode(replacement_char=63, replace_control_characters=True)).tolist() == [97, 63, 63, 98]
    fails("Invalid formatting on input string", lambda: decode(errors="strict"))
    fails("Could not create converter for input encoding: bogus",
          lambda: tf.raw_ops.UnicodeDecode(input=["a"], input_encoding="bogus").char_values)


def test_unicode_encode_and_transcode():
    def encode(values, splits, encoding="UTF-8", errors="replace"):
        return tf.raw_ops.UnicodeEncode(input_values=values, input_splits=tf.constant(splits, tf.int64),
                                        output_encoding=encoding, errors=errors)

    points = [65, 0xD800, 0x110000, -1, 0x1F600]
    assert run(encode(points, [0, 5], "UTF-16-BE")).tolist() == [b"\x00A\xff\xfd\xff\xfd\xff\xfd\xd8=\xde\x00"]
    assert run(encode(points, [0, 1, 5], errors="ignore")).tolist() == [b"A", b"\xf0\x9f\x98\x80"]
    fails("Code point is out of range", lambda: encode(points, [0, 5], errors="strict"))
    for splits in ([0, 6], [1, 5], [0, 3, 2, 5], [-1, 5]):
        fails("input_splits", lambda: encode(points, splits))
    transcode = tf.strings.unicode_transcode
    assert run(transcode(["é".encode("latin1")], "ISO-8859-1", "UTF-8")).tolist() == ["é".encode()]
    assert run(transcode(["aé"], "UTF-8", "UTF-32-BE")).tolist() == ["aé".encode("utf-32-be")]
    for name in ("shift_jis", "euc_kr", "gb18030", "big5"):
        assert run(transcode(["術".encode(name)], name, "UTF-8")).tolist() == ["術".encode()]


def test_unicode_script():
    assert run(tf.strings.unicode_script([65, 0x110000, -5, 0xD800, 0x3B1])).tolist() == [25, -1, -1, 103, 14]


@pytest.mark.parametrize("encoding, text, expected", [
    ("Shift_JIS", b"a\\b~", b"a\\b~"), ("sjis", b"\x83\x65\x83\x58\x83\x67", "\u30c6\u30b9\u30c8".encode()),
    ("x-sjis", b"\\~", b"\\~"), ("windows-1252", b"\x81A", b"\xc2\x81A"), ("windows-1258", b"A", b"A"),
    ("windows-1258", b"AB\xccC\xff", b"AB\xcc\x80C\xc3\xbf"), ("windows-1255", b"\xe0", b"\xd7\x90"),
    ("windows-1255", b"\xe0\xc8", b"\xd7\x90\xd6\xb8"), ("windows-949", b"\xb0\xa1\x81A", "\uac00\uac02".encode()),
    ("ks_c_5601-1987", b"\xb0\xa1", "\uac00".encode()), ("windows-950", b"\xa4@", "\u4e00".encode()),
    ("windows-936", b"\xb0\xa1", "\u554a".encode())])
def test_transcoding_as_icu_does(encoding, text, expected):
    assert run(tf.strings.unicode_transcode([text], encoding, "UTF-8")).tolist() == [expected]
