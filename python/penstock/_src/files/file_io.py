"""Functions on files and directories, under the names of tensorflow.python.lib.io.file_io."""
import zlib

from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock._src.files.gfile import (  # noqa: F401
    Copy as copy, DeleteRecursively as delete_recursively, Exists as file_exists, FileStatistics,
    Glob as get_matching_files, IsDirectory as is_directory, ListDirectory as list_directory,
    MakeDirs as recursive_create_dir, MkDir as create_dir, Remove as delete_file, Rename as rename, Walk as walk,
    copy as copy_v2, exists as file_exists_v2, get_registered_schemes, glob as get_matching_files_v2,
    isdir as is_directory_v2, join, listdir as list_directory_v2, makedirs as recursive_create_dir_v2,
    mkdir as create_dir_v2, remove as delete_file_v2, rename as rename_v2, rmtree as delete_recursively_v2, stat,
    stat_v2, walk as walk_v2)

_BLOCK_SIZE = 16 * 1024 * 1024


class FileIO(gfile.GFile):
    """A file, opened when it is first read or written; its text is in an encoding."""

    def __init__(self, name, mode, encoding="utf-8"):
        super().__init__(name, mode)
        self._encoding = encoding


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
    if not overwrite and file_exists(filename):
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % (filename,))
    gfile.write_atomically(filename, contents)


def _blocks(filename, block_size=_BLOCK_SIZE):
    with FileIO(filename, "rb") as f:
        while block := f.read(block_size):
            yield block


def filecmp(filename_a, filename_b):
    """Whether two files have the same contents."""
    return stat(filename_a).length == stat(filename_b).length and all(
        a == b for a, b in zip(_blocks(filename_a), _blocks(filename_b)))


def has_atomic_move(path):
    """Whether moving a file replaces another one at once: not where files are other machines' (s3://, http://...)."""
    scheme = str(path).partition("://")[0] if "://" in str(path) else ""
    return scheme in ("", "file", "ram")


def file_crc32(filename, block_size=_BLOCK_SIZE):
    """The CRC-32 of a file as hexadecimal digits."""
    crc = 0
    for block in _blocks(filename, block_size):
        crc = zlib.crc32(block, crc)
    return hex(crc & 0xFFFFFFFF)
