"""Finds descriptors.pb and reads from it the parts that lookups need, without protobuf's library.

The file is a FileDescriptorSet. Only the few fields that matter here are decoded; a whole parse would cost more than
everything else that importing Penstock does.
"""
import os

# FileDescriptorSet.file, then FileDescriptorProto's fields, then the `name` of messages, enums and services.
_FILE = 1
_NAME, _PACKAGE, _DEPENDENCY, _MESSAGE, _ENUM, _SERVICE, _PUBLIC = 1, 2, 3, 4, 5, 6, 10


class File:
    """One .proto file: its serialized descriptor and the names that it defines."""
    __slots__ = ("path", "package", "dependencies", "public", "symbols", "serialized")

    def __init__(self, serialized):
        self.serialized = serialized
        self.path = self.package = ""
        self.dependencies = []
        public = []
        symbols = []
        for number, value in _fields(serialized):
            if number == _NAME:
                self.path = value.decode()
            elif number == _PACKAGE:
                self.package = value.decode()
            elif number == _DEPENDENCY:
                self.dependencies.append(value.decode())
            elif number == _PUBLIC:
                public.append(value)
            elif number in (_MESSAGE, _ENUM, _SERVICE):
                symbols.append(next(text for field, text in _fields(value) if field == _NAME).decode())
        self.public = [self.dependencies[i] for i in public]
        prefix = self.package + "." if self.package else ""
        self.symbols = [prefix + name for name in symbols]


def locate():
    """Path of descriptors.pb, which is beside the native module. Raises ImportError if there is none."""
    import penstock
    for directory in reversed(penstock.__path__):  # a build tree's directory comes last and counts first
        path = os.path.join(directory, "descriptors.pb")
        if os.path.isfile(path):
            return path
    raise ImportError("Penstock's message descriptors (descriptors.pb) are not in " + ", ".join(penstock.__path__))


def read(path):
    """All files of the FileDescriptorSet at `path`, by their .proto path."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        files = [File(value) for number, value in _fields(content) if number == _FILE]
    except (IndexError, StopIteration, UnicodeDecodeError, ValueError) as error:
        raise ImportError(f"{path} is damaged: {error!r}") from error
    return {file.path: file for file in files}


def _fields(data):
    """(number, value) of each field of a message: bytes for fields with a length, int for a varint."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        if tag & 7 == 2:
            if at + value > end:
                raise ValueError("a field is longer than the data")
            yield tag >> 3, data[at:at + value]
            at += value
        elif tag & 7 == 0:
            yield tag >> 3, value
        else:
            raise ValueError(f"unexpected wire type {tag & 7}")


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
