"""tf.gfile: files, on the local file system or on that which a path's scheme names."""
import io
import os

from penstock import _core
from penstock._src.graph import core as _errors  # noqa: F401  (connects the errors)
from penstock._src.graph import errors
from penstock._src.base import tf2
from penstock._src.base import tf_logging as logging
from penstock._src.base import compat


def _path(path):
    return compat.path_to_str(compat.as_str_any(path) if isinstance(path, bytes) else path)


class _Raw(io.RawIOBase):
    """A file as Python's buffers read it."""

    def __init__(self, path):
        self._path = path
        self._file = _core.InputFile(path)
        self._at = 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def readinto(self, buffer):
        if self._at >= self._file.size():
            self._file = _core.InputFile(self._path)  # it may have grown
        n = max(0, min(len(buffer), self._file.size() - self._at))
        buffer[:n] = self._file.read(self._at, n)
        self._at += n
        return n

    def seek(self, offset, whence=os.SEEK_SET):
        self._at = offset + (0, self._at, self._file.size())[whence]
        return self._at

    def tell(self):
        return self._at


class GFile:
    """A file, opened when it is first read or written. Modes as in open; text (UTF-8) unless "b" is in it."""

    _encoding = "utf-8"

    def __init__(self, name, mode="r"):
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(None, None,
                                              "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._may_read = plain not in ("w", "a")
        self._write_mode = {"r": None, "a": "a", "a+": "a"}.get(plain, "w")
        self._reader = self._writer = None

    @property
    def name(self):
        """The path."""
        return self._name

    @property
    def mode(self):
        """The mode that was asked for."""
        return self._mode

    def _reading(self):
        if not self._may_read:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._writer is not None:
            self._writer.flush()
        if self._reader is None:
            self._reader = io.BufferedReader(_Raw(_path(self._name)), 1 << 18)
        return self._reader

    def _value(self, content):
        return content if self._binary else compat.as_str_any(content, self._encoding)

    def size(self):
        """Bytes in the file."""
        return stat(self._name).length

    def read(self, n=-1):
        """`n` bytes, or all that is left."""
        if n is not None and n < -1:
            raise errors.InvalidArgumentError(None, None, f"Can't read a negative number of bytes: {n}")
        return self._value(self._reading().read(-1 if n is None else n))

    def readline(self):
        """One line with its end; empty at the end of the file."""
        return self._value(self._reading().readline())

    def readlines(self):
        """All lines."""
        return [self._value(line) for line in self._reading().readlines()]

    def write(self, file_content):
        """Appends text or bytes."""
        if self._write_mode is None:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            self._writer = _core.OutputFile(_path(self._name), self._write_mode)
        self._writer.append(compat.as_bytes(file_content, self._encoding))

    def seek(self, offset=None, whence=0, position=None):
        """Moves to a place; `position` is an older name of `offset`."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        reader = self._reading()
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, "Invalid whence argument: {}. Valid values are 0, 1, or 2."
                                              .format(whence))
        target = (position if offset is None else offset) + (0, reader.tell(), self.size())[whence]
        if target < 0:
            raise errors.InvalidArgumentError(None, None, "Seeking to a negative position: %d" % target)
        if target > self.size():
            raise errors.OutOfRangeError(None, None, "%s ends before %d" % (self._name, target))
        reader.seek(target)

    def tell(self):
        """The place."""
        if self._may_read:
            return self._reading().tell()
        return 0 if self._writer is None else self._writer.size()

    def seekable(self):
        """Whether one can move: yes."""
        return True

    def flush(self):
        """Writes out what is buffered."""
        if self._writer is not None:
            self._writer.flush()

    def close(self):
        """Closes it."""
        self._reader = None
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.commit()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


FastGFile = Open = GFile


class FileStatistics:
    """What Stat tells."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def Exists(filename):  # noqa: N802
    """Whether it exists."""
    return _core.file_stat(_path(filename)) is not None


def IsDirectory(dirname):  # noqa: N802
    """Whether it is a directory."""
    found = _core.file_stat(_path(dirname))
    return found is not None and found[2]


def Remove(filename):  # noqa: N802
    """Deletes a file."""
    _core.file_remove(_path(filename))


def MkDir(dirname):  # noqa: N802
    """Makes a directory in an existing one; no error if there is something of that name."""
    try:
        _core.make_directory(_path(dirname))
    except errors.AlreadyExistsError:
        pass


def MakeDirs(dirname):  # noqa: N802
    """Makes a directory and those around it; no error if it exists."""
    _core.make_directories(_path(dirname))


def DeleteRecursively(dirname):  # noqa: N802
    """Deletes a directory with all that is in it, or a file. NotFoundError if it is not there."""
    if not Exists(dirname):
        raise errors.NotFoundError(None, None, f"{_path(dirname)} not found")
    _core.remove_tree(_path(dirname))


def ListDirectory(dirname):  # noqa: N802
    """The names in a directory."""
    if not IsDirectory(dirname):
        raise errors.NotFoundError(None, None, "Could not find directory %s" % (dirname,))
    return [name for name, _ in _core.file_list(_path(dirname))]


def Copy(oldpath, newpath, overwrite=False):  # noqa: N802
    """Copies a file. AlreadyExistsError unless `overwrite`."""
    _check_free(newpath, overwrite)
    _core.file_copy(_path(oldpath), _path(newpath))


def Rename(oldname, newname, overwrite=False):  # noqa: N802
    """Moves a file. AlreadyExistsError unless `overwrite`."""
    _check_free(newname, overwrite)
    _core.file_rename(_path(oldname), _path(newname))


def _check_free(path, overwrite):
    if not overwrite and Exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def stat(filename):
    """FileStatistics of a file."""
    path = _path(filename)
    found = _core.file_stat(path)
    if found is None:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory")
    return FileStatistics(*found)


Stat = stat


def Glob(filename):  # noqa: N802
    """The files that match a pattern, or one of several, which may come from an iterator."""
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [path for pattern in patterns for path in _matching(_path(pattern))]


def _matching(pattern):
    """1.15 says where a file of the current directory is, also if its whole name is given."""
    here = "/" not in pattern and not set(pattern) & set("*?[\\") and not tf2.enabled()
    return [("./" if here else "") + path for path in _core.matching_paths(pattern)]


def Walk(top, in_order=True, onerror=None):  # noqa: N802
    """(directory, subdirectories, files) of a tree, a directory before what is in it if `in_order`."""
    top = _path(top)
    try:
        entries = sorted(_core.file_list(top)) if IsDirectory(top) or not Exists(top) else None
    except errors.OpError as e:
        if onerror is not None:
            onerror(e)
        elif not isinstance(e, errors.NotFoundError):
            logging.warning("%s: %s", top, e)
        return
    if entries is None:
        return
    folders = [name for name, is_directory in entries if is_directory]
    here = (top, folders, [name for name, is_directory in entries if not is_directory])
    if in_order:
        yield here
    for name in folders:
        yield from Walk(join(top, name), in_order, onerror)
    if not in_order:
        yield here


def join(path, *paths):
    """The parts as one path."""
    return os.path.join(_path(path), *[_path(p) for p in paths])


def write_atomically(path, content):
    """Writes a file that appears whole or not at all, in the place of what was there."""
    file = _core.OutputFile(_path(path), "x")
    file.append(compat.as_bytes(content))
    file.commit()


# tf.io.gfile: the same functions, whose parameters have other names.


def exists(path):
    """Whether it exists."""
    return Exists(path)


def isdir(path):
    """Whether it is a directory."""
    return IsDirectory(path)


def remove(path):
    """Deletes a file."""
    Remove(path)


def mkdir(path):
    """Makes a directory in an existing one."""
    MkDir(path)


def makedirs(path):
    """Makes a directory and those around it; no error if it exists."""
    MakeDirs(path)


def rmtree(path):
    """Deletes a directory with all that is in it, or a file."""
    DeleteRecursively(path)


def listdir(path):
    """The names in a directory."""
    return ListDirectory(path)


def copy(src, dst, overwrite=False):
    """Copies a file. AlreadyExistsError unless `overwrite`."""
    Copy(src, dst, overwrite)


def rename(src, dst, overwrite=False):
    """Moves a file. AlreadyExistsError unless `overwrite`."""
    Rename(src, dst, overwrite)


def glob(pattern):
    """The files that match a pattern, or one of several."""
    return Glob(pattern)


def walk(top, topdown=True, onerror=None):
    """(directory, subdirectories, files) of a tree; `onerror` is called with what cannot be listed."""
    return Walk(top, topdown, onerror)


def stat_v2(path):
    """FileStatistics of a file."""
    return stat(path)


def get_registered_schemes():
    """The schemes of paths that are known: none, file, ram, and those that fsspec opens."""
    try:
        from fsspec import available_protocols
        others = [scheme for scheme in available_protocols() if scheme not in ("file", "local")]
    except ImportError:
        others = []
    return ["", "file", "ram", *others]
