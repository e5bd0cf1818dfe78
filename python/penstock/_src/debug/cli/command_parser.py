"""Command lines of the debugger, taken apart: words, files behind ">", slices, ranges, intervals, sizes, times."""
import argparse
import ast
import dataclasses
import re
import sys

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


@dataclasses.dataclass
class Interval:
    """From `start` to `end`, with or without them."""
    start: object
    start_included: bool
    end: object
    end_included: bool

    def contains(self, value):
        """Whether a value is in it."""
        if value < self.start or (value == self.start and not self.start_included):
            return False
        return not (value > self.end or (value == self.end and not self.end_included))


def parse_command(command):
    """The words of a line; blanks in brackets and quotes divide nothing, quotes around a word are dropped."""
    command = command.strip()
    if not command:
        return []
    closed = [m.span() for m in re.finditer(r"""\[[^\]]*\]|"[^"]*"|'[^']*'""", command)]
    words, begin = [], 0
    for first, last in [m.span() for m in re.finditer(r"\s+", command)] + [(len(command), None)]:
        if any(a < first < b for a, b in closed):
            continue
        word = command[begin:first]
        if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
            word = word[1:-1]
        words.append(word)
        begin = last
    return words


def extract_output_file_path(args):
    """(the words without "> FILE" at their end, FILE or None). A ">" that compares numbers names no file.

    SyntaxError if no file follows.
    """
    if not args:
        return args, None
    last = args[-1]
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if last.startswith(">"):
        compares = len(args) > 1 and args[-2].startswith("-") and _is_interval(last)
        return (args, None) if compares else (args[:-1], last[1:])
    if len(args) > 1 and args[-2] == ">":
        return args[:-2], last
    if last.count(">") == 1:
        word, _, path = last.partition(">")
        return (args, None) if word.endswith("=") else (args[:-1] + [word], path)
    if len(args) > 1 and args[-2].endswith(">"):
        return args[:-2] + [args[-2][:-1]], last
    return args, None


def _is_interval(text):
    try:
        _parse_interval(text)
    except ValueError:
        return False
    return True


def parse_tensor_name_with_slicing(in_str):
    """("name:0", "[1, :]") of "name:0[1, :]"; without brackets the second is empty."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        begin = in_str.index("[")
        return in_str[:begin], in_str[begin:]
    return in_str, ""


def validate_slicing_string(slicing_string):
    """Whether a text holds numbers, colons and commas in brackets."""
    return bool(re.search(r"^\[(\d|,|\s|:)+\]$", slicing_string))


def _parse_slices(slicing_string):
    slices = []
    for part in slicing_string[1:-1].split(","):
        numbers = [int(number) if number.strip() else None for number in part.split(":")]
        if len(numbers) > 3:
            raise ValueError("Invalid tensor-slicing string.")
        slices.append(slice(*numbers) if len(numbers) > 1 else int(part))
    return tuple(slices)


def evaluate_tensor_slice(tensor, tensor_slicing):
    """A part of an array; ValueError if the text is no slice."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[_parse_slices(tensor_slicing)]


def parse_indices(indices_string):
    """[1, 2] of "1, 2" or "[1, 2]"."""
    text = re.sub(r"\s+", "", indices_string)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [int(element) for element in text.split(",")]


def parse_ranges(range_string):
    """Pairs of numbers: of "[0, 1]" or "[[-inf, 0], [1, inf]]". ValueError if they are none."""
    text = range_string.strip()
    if not text:
        return []
    ranges = ast.literal_eval(text.replace("inf", repr(sys.float_info.max)))
    if isinstance(ranges, list) and not isinstance(ranges[0], list):
        ranges = [ranges]
    for item in ranges:
        if len(item) != 2:
            raise ValueError("Incorrect number of elements in range")
        for number, place in zip(item, ("1st", "2nd")):
            if not isinstance(number, (int, float)):
                raise ValueError("Incorrect type in the %s element of range: %s" % (place, type(number)))
    return ranges


def _measured_interval(interval_str, measure, message):
    text = _parse_interval(interval_str)
    start = measure(text.start) if text.start else 0
    end = measure(text.end) if text.end else float("inf")
    if start > end:
        raise ValueError(message)
    return Interval(start, text.start_included, end, text.end_included)


def parse_memory_interval(interval_str):
    """An Interval of bytes: of "[1k, 2M)", "<1G", ">=100", ..."""
    return _measured_interval(interval_str, parse_readable_size_str,
                              "Invalid interval %s. Start of interval must be less than or equal to end of interval."
                              % interval_str)


def parse_time_interval(interval_str):
    """An Interval of microseconds: of "(1ms, 2s]", "<1s", ..."""
    return _measured_interval(interval_str, parse_readable_time_str,
                              "Invalid interval %s. Start must be before end of interval." % interval_str)


def _parse_interval(interval_str):
    """An Interval of texts, or of None where it is open."""
    text = interval_str.strip()
    for sign in ("<=", "<", ">=", ">"):
        if text.startswith(sign):
            number = text[len(sign):].strip()
            if not _NUMBER.match(number):
                raise ValueError("Invalid value string after %s in '%s'" % (sign, text))
            included = sign.endswith("=")
            return Interval(None, False, number, included) if sign[0] == "<" else Interval(number, included, None,
                                                                                           False)
    if text[:1] not in ("[", "(") or text[-1:] not in ("]", ")"):
        raise ValueError("Invalid interval format: %s. Valid formats are: [min, max], (min, max), <max, >min" % text)
    items = [item.strip() for item in text[1:-1].split(",")]
    if len(items) != 2:
        raise ValueError("Incorrect interval format: %s. Interval should specify two values: [min, max] or "
                         "(min, max)." % text)
    for item, place in zip(items, ("first", "second")):
        if not _NUMBER.match(item):
            raise ValueError("Invalid %s item in interval: '%s'" % (place, item))
    return Interval(items[0], text[0] == "[", items[1], text[-1] == "]")


def parse_readable_size_str(size_str):
    """Bytes of "12", "1k", "2.5MB", "1G". ValueError for others."""
    number = size_str.strip().removesuffix("B")
    if number.isdigit():
        return int(number)
    power = "kMG".find(number[-1:]) if number else -1
    if power < 0:
        raise ValueError('Failed to parsed human-readable byte size str: "%s"' % number)
    return int(float(number[:-1]) * 1024 ** (power + 1))


def parse_readable_time_str(time_str):
    """Microseconds of "12", "12us", "1.5ms", "2s". ValueError for others, and if negative."""
    text = time_str.strip()
    number, factor = next(((text[:-len(unit)], factor) for unit, factor in (("us", 1), ("ms", 1e3), ("s", 1e6))
                           if text.endswith(unit)), (text, 1))
    if float(number) < 0:
        raise ValueError("Invalid time %s. Time value must be positive." % number)
    return int(float(number) * factor)


def get_print_tensor_argparser(description):
    """The parser of what prints a value."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    parser.add_argument("tensor_name", help="the tensor, with a slice behind it or not: layer/MatMul:0[1, :]")
    parser.add_argument("-n", "--number", type=int, default=-1,
                        help="which dump, from 0, of a tensor that was dumped several times")
    parser.add_argument("-r", "--ranges", default="",
                        help='highlights elements in ranges: -r [-0.1,0.1], -r "[[-inf, -0.1], [0.1, inf]]"')
    parser.add_argument("-a", "--all", dest="print_all", action="store_true", help="prints all elements")
    parser.add_argument("-s", "--numeric_summary", action="store_true", help="counts kinds of numbers first")
    parser.add_argument("-w", "--write_path", default="", help="writes the value into a .npy file")
    return parser
