"""Functions on files and directories, under the names of tensorflow.python.lib.io.file_io."""
import os
import uuid

from penstock.platform import gfile
from penstock.platform.gfile import (  # noqa: F401
    FileStatistics, copy, exists as file_exists, glob as get_matching_files, isdir as is_directory,
    listdir as list_directory, makedirs as recursive_create_dir, mkdir as create_dir, remove as delete_file, rename,
    rmtree as delete_recursively, stat, walk)
from penstock.util import compat


class FileIO(gfile.GFile):
    """A file, opened when it is first read or written."""


def read_file_to_string(filename, binary_mode=False):
    """The contents of a file: text, or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as f:
        return f.read()


def write_string_to_file(filename, file_content):
    """Writes a file."""
    with FileIO(filename, "w") as f:
        f.write(file_content)


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes a file so that it appears whole or not at all."""
    temporary = compat.as_str_any(filename) + ".tmp" + uuid.uuid4().hex
    with open(temporary, "wb") as f:
        f.write(compat.as_bytes(contents))
        f.flush()
        os.fsync(f.fileno())
    try:
        rename(temporary, filename, overwrite)
    except BaseException:
        os.remove(temporary)
        raise
