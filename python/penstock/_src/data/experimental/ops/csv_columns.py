"""What the columns of CSV files are called, and of which types they are."""
import csv
import gzip

import numpy as np

from penstock._src.graph import constant_op, dtypes
from penstock._src.files import file_io

ACCEPTABLE_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _is_int(text, least, most):
    try:
        return least <= int(text) <= most
    except ValueError:
        return False


def _is_float(text, dtype):
    try:
        return bool(dtype(text) < np.inf)
    except ValueError:
        return False


# Types from the least permissive to the most, and whether a text is a value.
_TESTS = ((dtypes.int32, lambda text: _is_int(text, -2**31, 2**31 - 1)),
          (dtypes.int64, lambda text: _is_int(text, -2**63, 2**63 - 1)),
          (dtypes.float32, lambda text: _is_float(text, np.float32)),
          (dtypes.float64, lambda text: _is_float(text, np.float64)),
          (dtypes.string, lambda text: True))
_ORDER = [dtype for dtype, _ in _TESTS]


def _wider_type(text, na_value, known):
    """The type of a column that holds `text` besides values of a known type."""
    if text in ("", na_value):
        return known
    for i, (dtype, test) in enumerate(_TESTS):
        if test(text) and (known is None or known in _ORDER[:i + 1]):
            return dtype
    return known


class CsvFiles:
    """Files to look into. ValueError: they are compressed in a way that is not read here."""

    def __init__(self, filenames, field_delim, use_quote_delim, header, compression_type, encoding="utf-8"):
        self.filenames, self.header = filenames, header
        self._format = {"delimiter": field_delim,
                        "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE}
        if compression_type == "ZLIB":
            raise ValueError(f"`compression_type` {compression_type} is not supported for probing columns.")
        if compression_type not in (None, "", "GZIP"):
            raise ValueError(f"Received unknown `compression_type` {compression_type}.")
        self._open = (lambda name: gzip.open(name, "rt", encoding=encoding)) if compression_type == "GZIP" else (
            lambda name: file_io.FileIO(name, "r", encoding))

    def names(self):
        """The columns' names: the files' first lines, which must be the same (ValueError)."""
        known = None
        for filename in self.filenames:
            with self._open(filename) as f:
                row = next(csv.reader(f, **self._format), None)
            if row is None:
                raise ValueError(f"Received StopIteration when reading the header line of {filename}.  Empty file?")
            if known is not None and row != known:
                raise ValueError("Files have different column names in the header row.")
            known = row
        return known

    def _rows(self, count):
        for filename in self.filenames:
            with self._open(filename) as f:
                reader = csv.reader(f, **self._format)
                if self.header:
                    next(reader, None)
                for row in reader:
                    if len(row) != count:
                        raise ValueError("Problem inferring types: CSV row has different number of fields than "
                                         "expected.")
                    yield row

    def defaults(self, count, na_value, num_rows, select_columns):
        """A default for each column, 0 or "", of the type that the first rows show."""
        columns = range(count) if select_columns is None else select_columns
        types = [None] * len(columns)
        for i, row in enumerate(self._rows(count)):
            if num_rows is not None and i >= num_rows:
                break
            types = [_wider_type(row[column], na_value, known) for column, known in zip(columns, types)]
        return [constant_op.constant(["" if t in (None, dtypes.string) else 0], dtype=t or dtypes.string)
                for t in types]


def column_indices(select_columns, column_names):
    """The sorted indices of columns given by index or name. ValueError: there is none, or one occurs twice."""
    found = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(f"Column index {column} specified in select_columns out of valid range.")
            found.append(column)
        elif column in column_names:
            found.append(column_names.index(column))
        else:
            raise ValueError(f"Value '{column}' specified in select_columns not a valid column index or name.")
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)
