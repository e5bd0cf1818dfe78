"""TFRecord files."""
import os

from penstock import _core
from penstock._src.graph import core as _errors  # noqa: F401  (connects the errors)
from penstock._src.graph import errors
from penstock._src.base import compat


class TFRecordCompressionType:
    """Numbers of the kinds of compression."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a file is compressed."""

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """ "", "ZLIB" or "GZIP" for options, a number or such a text."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


def _path(path):
    return compat.as_str_any(os.fspath(path) if hasattr(path, "__fspath__") else path)


class _Records:
    """The records of a file, one after the other. A file without compression that grows can be read on after its end,
    as TensorBoard does."""

    def __init__(self, path, compression):
        self._path, self._compression = path, compression
        self._file = _core.RecordStream(path, compression)
        self._offset, self._at_end = 0, False

    def __iter__(self):
        return self

    def __next__(self):
        if self._at_end and not self._compression:
            self.reopen()  # the stream, which is faster, ends for good
        try:
            record = self._file.next()
        except errors.DataLossError:
            self._at_end = isinstance(self._file, _core.RecordStream)
            raise
        if record is None:
            self._at_end = isinstance(self._file, _core.RecordStream)
            raise StopIteration
        self._offset += len(record) + 16  # the length, and two check sums
        return record

    def reopen(self):
        """Opens the file anew, which may be another one of the same name, and reads on where it was. NotFoundError."""
        if self._compression:
            raise errors.UnimplementedError(None, None, "A compressed file cannot be opened again.")
        self._file, self._at_end = _core.RecordReader(self._path), False
        while self._file.offset() < self._offset and self._file.next() is not None:
            pass


def tf_record_iterator(path, options=None):
    """An iterator over the records of a file, bytes. DataLossError: it is damaged."""
    return _Records(_path(path), TFRecordOptions.get_compression_type_string(options))


class TFRecordWriter(_core.RecordFile):
    """Writes records, which are bytes, to a file.

    `write(record)` adds one (TypeError: it is neither bytes nor text), `flush()` writes out what was added, `close()`
    ends the file, as leaving a `with` block does. They are the native class's own: a record costs one call.
    """

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        level = -1 if options.compression_level is None else options.compression_level
        super().__init__(_path(path), TFRecordOptions.get_compression_type_string(options), level)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
