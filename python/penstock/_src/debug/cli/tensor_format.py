"""Values as lines that know which elements they show."""
import re

import numpy as np

from penstock._src.debug.cli import debugger_cli_common
from penstock._src.debug.lib import debug_data

_OMISSION = "...,"
_EDGE_ITEMS = 3  # NumPy's default
_NUMBER = re.compile(r"[-+]?([0-9][-+0-9eE\.]+|nan|inf)(\s|,|\])")

# Keys of a line's annotation: the indices of its first element, or of the first one that it leaves out.
BEGIN_INDICES_KEY, OMITTED_INDICES_KEY = "i0", "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"


class HighlightOptions:
    """Which elements are highlighted: criterion(array) is an array of booleans."""

    def __init__(self, criterion, description=None, font_attr=DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR):
        self.criterion, self.description, self.font_attr = criterion, description, font_attr


def format_tensor(tensor, tensor_label, include_metadata=False, auxiliary_message=None, include_numeric_summary=False,
                  np_printoptions=None, highlight_options=None):
    """RichTextLines of an array, or of another value; lines of an array are annotated with indices."""
    lines, segs = [], {}
    if tensor_label is not None:
        lines.append('Tensor "%s":' % tensor_label)
        suffix = tensor_label.split(":")[-1]
        end = 8 + len(tensor_label)
        if suffix.isdigit():
            segs[0] = [(8, end, "bold")]
        else:  # a debug op
            segs[0] = [(8, end - len(suffix) - 1, "bold"), (end - len(suffix), end, "yellow")]
    if not isinstance(tensor, np.ndarray):
        text = str(tensor) if isinstance(tensor, debug_data.InconvertibleTensorProto) else repr(tensor)
        return debugger_cli_common.RichTextLines(lines + ([""] if lines else []) + text.split("\n"))
    if include_metadata:
        lines += ["  dtype: %s" % tensor.dtype, "  shape: %s" % (tensor.shape,)]
    if lines:
        lines.append("")
    formatted = debugger_cli_common.RichTextLines(lines, font_attr_segs=segs)
    if auxiliary_message:
        formatted.extend(auxiliary_message)
    if include_numeric_summary:
        formatted.append("Numeric summary:")
        formatted.extend(numeric_summary(tensor))
        formatted.append("")
    if np_printoptions is not None:
        np.set_printoptions(**np_printoptions)
    array_lines = repr(tensor).split("\n")
    annotations = None if tensor.dtype.kind == "S" else _annotated(array_lines, tensor, np_printoptions)
    formatted.extend(debugger_cli_common.RichTextLines(array_lines, annotations=annotations))
    if highlight_options is not None:
        _highlight(formatted, tensor, highlight_options)
    return formatted


def _highlight(formatted, tensor, options):
    found = [list(indices) for indices in np.argwhere(options.criterion(tensor))]
    formatted.lines[0] += " Highlighted%s: %d of %d element(s) (%.2f%%)" % (
        "(%s)" % options.description if options.description else "", len(found), np.size(tensor),
        len(found) / float(np.size(tensor)) * 100.0)
    if not found:
        return
    for omitted, row, begin, end in zip(*locate_tensor_element(formatted, found)):
        if not omitted and begin is not None and end is not None:
            formatted.font_attr_segs.setdefault(row, []).append((begin, end, options.font_attr))


def _annotated(array_lines, tensor, np_printoptions):
    """{line: {BEGIN_INDICES_KEY or OMITTED_INDICES_KEY: indices}}, with the array's type and shape."""
    edge_items = (np_printoptions or {}).get("edgeitems", _EDGE_ITEMS)
    annotations = {"tensor_metadata": {"dtype": tensor.dtype, "shape": tensor.shape}}
    indices, depth = [0] * tensor.ndim, 0
    for number, line in enumerate(array_lines if tensor.ndim else ()):
        line = line.strip()
        if not line:
            continue
        if line == _OMISSION:
            annotations[number] = {OMITTED_INDICES_KEY: list(indices)}
            indices[depth - 1] = tensor.shape[depth - 1] - edge_items
            continue
        depth += line.count("[") - line.count("]")
        annotations[number] = {BEGIN_INDICES_KEY: list(indices)}
        if "]" not in line:  # goes on in the next line
            indices[depth - 1] += line[line.rfind("[") + 1:].count(",")
        elif depth > 0:
            indices[depth - 1] += 1
            indices[depth:] = [0] * (tensor.ndim - depth)
    return annotations


def locate_tensor_element(formatted, indices):
    """Where an element (or a list of them, in order) stands in what format_tensor gave.

    Returns (whether it is left out, line, first column, column behind it; None where it cannot be told), or lists of
    them. AttributeError if the lines are those of no array, ValueError for bad indices.
    """
    if "tensor_metadata" not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    several = isinstance(indices[0], list)
    wanted = indices if several else [indices]
    _check_indices(wanted, formatted.annotations["tensor_metadata"]["shape"])
    rows = sorted(key for key in formatted.annotations if isinstance(key, int))
    places = []
    for row, following in zip(rows, rows[1:] + [None]):
        annotation = formatted.annotations[row]
        omitted = OMITTED_INDICES_KEY in annotation
        first = annotation[OMITTED_INDICES_KEY if omitted else BEGIN_INDICES_KEY]
        rest = wanted[len(places):]
        if following is None:
            here = rest
        else:
            end = next(iter(formatted.annotations[following].values()))
            here = [element for element in rest if first <= element < end]
        if here:
            columns = _columns(formatted.lines[row], [element[-1] - first[-1] for element in here])
            places += [(omitted, row, *column) for column in columns]
    return tuple(list(values) for values in zip(*places)) if several else places[0]


def _check_indices(wanted, shape):
    previous = None
    for element in wanted:
        if len(element) != len(shape):
            raise ValueError("Dimensions mismatch: requested: %d; actual: %d" % (len(element), len(shape)))
        if any(index >= size for index, size in zip(element, shape)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(index < 0 for index in element):
            raise ValueError("Indices contain negative value(s).")
        if previous and element < previous:
            raise ValueError("Input indices sets are not in ascending order.")
        previous = element


def _columns(line, offsets):
    """(begin, end) of the numbers at `offsets` of a line; what stands behind dots is not found."""
    end = line.find(_OMISSION) if _OMISSION in line else len(line)
    numbers = [(m.start(), m.end() - 1) for m in _NUMBER.finditer(line) if m.start() <= end]
    return [numbers[offset] if offset < len(numbers) else (None, None) for offset in offsets]


def _table(counts, total=None):
    """Two lines: names and values, below one another."""
    texts = [(name, str(value)) for name, value in counts]
    width = max([len(text) + 1 for pair in texts for text in pair], default=0)
    rows = ["|" + "".join(pair[row].rjust(width) for pair in texts) + " |" for row in (0, 1)]
    if total is not None:
        width = max(len("total") + 1, len(str(total)))
        rows = [row + text.rjust(width) + " |" for row, text in zip(rows, ("total", str(total)))]
    return debugger_cli_common.RichTextLines(rows)


def numeric_summary(tensor):
    """RichTextLines that count NaN, infinities, signs and zeros, and have minimum, maximum, mean and deviation."""
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return debugger_cli_common.RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == np.bool_:
        counts = [("False", np.sum(tensor == 0)), ("True", np.sum(tensor > 0))]
        return _table([count for count in counts if count[1]], tensor.size)
    if not (np.issubdtype(tensor.dtype, np.number)):
        return debugger_cli_common.RichTextLines(["No numeric summary available due to tensor dtype: %s." %
                                                  tensor.dtype])
    finite = np.isfinite(tensor)
    counts = [("nan", np.sum(np.isnan(tensor))), ("-inf", np.sum(np.isneginf(tensor))),
              ("-", np.sum((tensor < 0) & finite)), ("0", np.sum(tensor == 0)),
              ("+", np.sum((tensor > 0) & finite)), ("+inf", np.sum(np.isposinf(tensor)))]
    output = _table([count for count in counts if count[1]], tensor.size)
    valid = tensor[finite]
    if valid.size:
        output.extend(_table([("min", np.min(valid)), ("max", np.max(valid)), ("mean", np.mean(valid)),
                              ("std", np.std(valid))]))
    return output
