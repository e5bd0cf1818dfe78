"""Functions of strings whose results are ragged."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.strings import string_ops
from penstock._src.core_ops.arguments import pick
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged

__all__ = ["ngrams", "ragged_tensor_to_string", "string_bytes_split", "string_format", "string_split",
           "string_split_v2", "strings_split_v1", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode",
           "unicode_split", "unicode_split_with_offsets"]


def _rows(indices, values, shape):
    return RaggedTensor.from_value_rowids(values=values, value_rowids=indices[:, 0], nrows=shape[0], validate=False)


def string_bytes_split(input, name=None):
    """The bytes of each string."""
    with ops.name_scope(name, "StringsByteSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(string_bytes_split(input.flat_values))
        rank = input.shape.ndims
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return string_bytes_split(array_ops.stack([input]))[0]
        if rank == 1:
            return _rows(*gen.string_split(input, delimiter="", skip_empty=False))
        return string_bytes_split(RaggedTensor.from_tensor(input))


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Strings of the code points along the last dimension."""
    how = (output_encoding, errors, replacement_char)
    with ops.name_scope(name, "UnicodeEncode", [input]):
        points = convert_to_tensor_or_ragged_tensor(input)
        ndims = points.shape.ndims
        if ndims is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if is_ragged(points):
            if points.flat_values.shape.ndims > 1:
                return points.with_flat_values(unicode_encode(points.flat_values, *how))
            if points.ragged_rank > 1:
                return points.with_values(unicode_encode(points.values, *how))
            return gen.unicode_encode(input_values=points.values, input_splits=points.row_splits,
                                      output_encoding=output_encoding, errors=errors, replacement_char=replacement_char)
        if ndims == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if ndims == 2:
            return unicode_encode(RaggedTensor.from_tensor(points), *how)
        if ndims > 2:
            flat = array_ops.reshape(points, array_ops.stack([-1, array_ops.shape(points)[-1]]))
            return array_ops.reshape(unicode_encode(flat, *how), points.shape[:-1])
        splits = array_ops.stack([0, array_ops.shape(points, out_type=dtypes.int32)[0]])
        row = RaggedTensor.from_row_splits(points, splits, validate=False)
        return array_ops.reshape(unicode_encode(row, *how), [])


def _decode(input, encoding, errors, replacement_char, replace_control_characters, with_offsets):
    """Code points, and where each begins, as a list."""
    input = convert_to_tensor_or_ragged_tensor(input, name="input")
    ndims = input.shape.ndims
    if ndims is None:
        raise ValueError("Rank of `input` must be statically known.")
    if ndims > 1:
        if not is_ragged(input):
            input = RaggedTensor.from_tensor(input, ragged_rank=ndims - 1)
        elif input.ragged_rank < ndims - 1:
            flat = RaggedTensor.from_tensor(input.flat_values, ragged_rank=ndims - input.ragged_rank - 1)
            input = input.with_flat_values(flat)
    strings = array_ops.reshape(input.flat_values if is_ragged(input) else input, [-1])
    op = gen.unicode_decode_with_offsets if with_offsets else gen.unicode_decode
    found = op(input=strings, input_encoding=encoding, errors=errors, replacement_char=replacement_char,
               replace_control_characters=replace_control_characters)
    results = []
    for values in found[1:]:
        if ndims > 0:
            values = RaggedTensor.from_row_splits(values, found[0], validate=False)
            if ndims > 1:
                values = input.with_flat_values(values)
        results.append(values)
    return results


def unicode_decode(input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False,
                   name=None):
    """The code points of each string."""
    with ops.name_scope(name, "UnicodeDecode", [input]):
        return _decode(input, input_encoding, errors, replacement_char, replace_control_characters, False)[0]


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD,
                                replace_control_characters=False, name=None):
    """The code points of each string, and the byte at which each begins."""
    with ops.name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return tuple(_decode(input, input_encoding, errors, replacement_char, replace_control_characters, True))


def _characters(points, encoding, errors, replacement_char):
    """Each code point as a string."""
    if is_ragged(points):
        points = points.with_flat_values(array_ops.expand_dims(points.flat_values, -1))
    else:
        points = array_ops.expand_dims(points, -1)
    return unicode_encode(points, output_encoding=encoding, errors=errors, replacement_char=replacement_char)


def unicode_split(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """The characters of each string."""
    with ops.name_scope(name, "UnicodeSplit", [input]):
        points, = _decode(input, input_encoding, errors, replacement_char, False, False)
        return _characters(points, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """The characters of each string, and the byte at which each begins."""
    with ops.name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, offsets = _decode(input, input_encoding, errors, replacement_char, False, True)
        return _characters(points, input_encoding, errors, replacement_char), offsets


def string_split_v2(input, sep=None, maxsplit=-1, name=None):
    """The parts of each string."""
    with ops.name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtype=dtypes.string, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(string_split_v2(input.flat_values, sep, maxsplit))
        rank = input.shape.ndims
        if rank == 0:
            return string_split_v2(array_ops.stack([input]), sep, maxsplit)[0]
        if rank in (1, None):
            found = string_ops.string_split_v2(input, sep=sep, maxsplit=maxsplit)
            return _rows(found.indices, found.values, found.dense_shape)
        return string_split_v2(RaggedTensor.from_tensor(input), sep, maxsplit)


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """The parts of each string, cut at any of the characters."""
    with ops.name_scope(name, "StringSplit", [source]):
        found = string_ops.string_split(source, sep=sep, skip_empty=skip_empty, delimiter=delimiter)
        if result_type == "SparseTensor":
            return found
        if result_type == "RaggedTensor":
            return _rows(found.indices, found.values, found.dense_shape)
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def strings_split_v1(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The parts of each string, in a row for each. A scalar counts as a vector of one, except in version 1 for a result
    that is not sparse: there 1.15.5 makes a tensor of its parts."""
    input = pick("input", input, "source", source)
    with ops.name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtype=dtypes.string, name="input")
        if input.shape.ndims == 0 and (tf2.enabled() or result_type == "SparseTensor"):
            input = array_ops.stack([input])
        if result_type == "SparseTensor" and input.shape.ndims == 1:
            return string_ops.string_split_v2(input, sep=sep, maxsplit=maxsplit)
        found = string_split_v2(input, sep=sep, maxsplit=maxsplit)
        if result_type == "SparseTensor":
            return found.to_sparse()
        if result_type == "RaggedTensor":
            return found
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _pads(pad_values):
    if pad_values is None:
        return "", ""
    pads = tuple(pad_values[:2]) if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if not all(isinstance(pad, (str, bytes)) for pad in pads):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pads


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False,
           name=None):
    """Neighbouring strings along the last dimension, joined."""
    with ops.name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        data = convert_to_tensor_or_ragged_tensor(data, name="data", dtype=dtypes.string)
        shape = None
        again = (ngram_width, separator, pad_values, padding_width, preserve_short_sequences, name)
        if not isinstance(data, RaggedTensor):
            if data.shape.ndims is None:
                raise ValueError("Rank of data must be known.")
            if data.shape.ndims == 0:
                raise ValueError("Data must have rank>0")
            if data.shape.ndims == 1:
                return ngrams(RaggedTensor.from_row_starts(data, [0], validate=False), *again)[0]
            shape = array_ops.concat([array_ops.shape(data)[:-1], [-1]], axis=0)
            data = RaggedTensor.from_tensor(data, ragged_rank=data.shape.ndims - 1)
        if data.ragged_rank > 1:
            output = data.with_values(ngrams(data.values, *again))
        else:
            width = 0 if pad_values is None else -1 if padding_width is None else padding_width
            widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
            if any(w < 1 for w in widths):
                raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
            values, splits = gen.string_n_grams(
                data=data.flat_values, data_splits=data.row_splits, separator=separator, ngram_widths=widths,
                left_pad=left, right_pad=right, pad_width=width, preserve_short_sequences=preserve_short_sequences)
            output = RaggedTensor.from_row_splits(values=values, row_splits=splits, validate=False)
        return output if shape is None else array_ops.reshape(output.flat_values, shape)


def ragged_tensor_to_string(rt, summarize=None):
    """The nested lists of a ragged tensor as a string.

    summarize: of longer rows only so many elements at the beginning and at the end; all of them if it is -1 or None.
    ValueError for other values that are not positive, or if the rank is not known.
    """
    if summarize is not None and summarize != -1 and not (isinstance(summarize, int) and summarize > 0):
        raise ValueError(f"Expected summarize to be -1 or a positive int, got {summarize!r}")
    with ops.name_scope(None, "AsString", [rt]):
        rt = convert_to_tensor_or_ragged_tensor(rt)
        if rt.shape.rank is None:
            raise ValueError("RaggedTensor to_string requires that rt.shape.rank is not None")
        flat = rt.flat_values
        if flat.dtype == dtypes.string:
            flat = gen.string_join(["'", string_ops.regex_replace(flat, r"(['\\])", r"\\\1"), "'"])
        else:
            flat = gen.as_string(flat)
        rt = rt.with_flat_values(flat)
        return _bracketed(RaggedTensor.from_row_splits(
            rt, ops.convert_to_tensor([0, 1], rt.row_splits.dtype) * rt.nrows(), validate=False), summarize)[0]


def _bracketed(rows, summarize):
    """For each row of strings, or of rows of them, its text."""
    values = rows.values
    if isinstance(values, RaggedTensor):
        values = _bracketed(values, summarize)
    elif values.shape.rank > 1:
        values = _bracketed(RaggedTensor.from_tensor(values, row_splits_dtype=rows.row_splits.dtype), summarize)
    rows = rows.with_values(values)
    if summarize is not None and summarize > 0:
        ids = rows.value_rowids()
        places = math_ops.range(rows.row_splits[-1]) - array_ops.gather(rows.row_splits, ids)
        lengths = array_ops.gather(rows.row_lengths(), ids)
        cut = lengths > 2 * summarize
        kept = (places <= summarize) | (places >= lengths - summarize) | ~cut
        values = array_ops.where_v2(cut & math_ops.equal(places, summarize), "...", values)
        rows = RaggedTensor.from_value_rowids(array_ops.boolean_mask(values, kept), array_ops.boolean_mask(ids, kept),
                                              rows.nrows(), validate=False)
    joined = gen.unsorted_segment_join(rows.values, rows.value_rowids(), rows.nrows(), separator=", ")
    return gen.string_join(["[", joined, "]"])


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """`tf.strings.format` of ragged tensors among others."""
    inputs = [inputs] if not isinstance(inputs, (list, tuple)) else inputs
    first, *parts = template.split(placeholder)
    if len(parts) != len(inputs):
        raise ValueError(f"{len(parts)} placeholder(s) in template does not match {len(inputs)} tensor(s) provided as "
                         "input")
    pieces = [first]
    for x, part in zip(inputs, parts):
        pieces += [ragged_tensor_to_string(x, summarize) if is_ragged(x)
                   else string_ops.string_format("{}", [x], summarize=summarize), part]
    return gen.string_join(pieces, name=name)
