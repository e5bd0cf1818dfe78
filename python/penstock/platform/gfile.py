"""tf.gfile: files on the local file system."""
import glob as _glob
import os
import shutil

from penstock.framework import errors
from penstock.util import compat


def _raise(e, path):
    kinds = ((FileNotFoundError, errors.NotFoundError), (FileExistsError, errors.AlreadyExistsError),
             (PermissionError, errors.PermissionDeniedError), (IsADirectoryError, errors.FailedPreconditionError),
             (NotADirectoryError, errors.FailedPreconditionError))
    for kind, ours in kinds:
        if isinstance(e, kind):
            raise ours(None, None, f"{path}; {e.strerror}") from None
    raise errors.UnknownError(None, None, f"{path}; {e}") from None


def _path(path):
    return compat.path_to_str(compat.as_str_any(path) if isinstance(path, bytes) else path)


def _guarded(function):
    def call(path, *args, **kwargs):
        path = _path(path)
        try:
            return function(path, *args, **kwargs)
        except OSError as e:
            _raise(e, path)
    call.__name__ = function.__name__
    call.__doc__ = function.__doc__
    return call


class GFile:
    """A file, opened when it is first read or written. Modes as in open; text unless "b" is in it."""

    def __init__(self, name, mode="r"):
        self.name = _path(name)
        self.mode = mode
        self._file = None

    def _opened(self):
        if self._file is None:
            try:
                self._file = open(self.name, self.mode)
            except OSError as e:
                _raise(e, self.name)
        return self._file

    def size(self):
        """Bytes in the file."""
        return stat(self.name).length

    def read(self, n=-1):
        """`n` bytes or characters, or all."""
        return self._opened().read(-1 if n is None else n)

    def readline(self):
        """One line."""
        return self._opened().readline()

    def readlines(self):
        """All lines."""
        return self._opened().readlines()

    def write(self, file_content):
        """Appends text, or bytes in binary mode."""
        file = self._opened()
        binary = "b" in self.mode
        file.write(compat.as_bytes(file_content) if binary else compat.as_text(file_content))

    def seek(self, offset=None, whence=0, position=None):
        """Moves to a place."""
        self._opened().seek(position if offset is None else offset, whence)

    def tell(self):
        """The place."""
        return self._opened().tell()

    def seekable(self):
        """Whether one can move: yes."""
        return True

    def flush(self):
        """Writes out what is buffered."""
        if self._file is not None:
            self._file.flush()

    def close(self):
        """Closes it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        return iter(self._opened())

    def __next__(self):
        return next(self._opened())


FastGFile = Open = GFile


class FileStatistics:
    """What Stat tells."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def Exists(filename):  # noqa: N802
    """Whether it exists."""
    return os.path.exists(_path(filename))


def IsDirectory(dirname):  # noqa: N802
    """Whether it is a directory."""
    return os.path.isdir(_path(dirname))


@_guarded
def Remove(filename):  # noqa: N802
    """Deletes a file."""
    os.remove(filename)


@_guarded
def MkDir(dirname):  # noqa: N802
    """Makes a directory in an existing one."""
    os.mkdir(dirname)


@_guarded
def MakeDirs(dirname):  # noqa: N802
    """Makes a directory and those around it; no error if it exists."""
    os.makedirs(dirname, exist_ok=True)


@_guarded
def DeleteRecursively(dirname):  # noqa: N802
    """Deletes a directory with all that is in it, or a file."""
    if os.path.isdir(dirname):
        shutil.rmtree(dirname)
    else:
        os.remove(dirname)


@_guarded
def ListDirectory(dirname):  # noqa: N802
    """The names in a directory."""
    return os.listdir(dirname)


@_guarded
def Copy(oldpath, newpath, overwrite=False):  # noqa: N802
    """Copies a file. AlreadyExistsError unless `overwrite`."""
    _check_free(newpath, overwrite)
    shutil.copyfile(oldpath, _path(newpath))


@_guarded
def Rename(oldname, newname, overwrite=False):  # noqa: N802
    """Moves a file. AlreadyExistsError unless `overwrite`."""
    _check_free(newname, overwrite)
    os.replace(oldname, _path(newname))


def _check_free(path, overwrite):
    if not overwrite and os.path.exists(_path(path)):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {path}")


@_guarded
def stat(filename):
    """FileStatistics of a file."""
    found = os.stat(filename)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(filename))


Stat = stat


def Glob(filename):  # noqa: N802
    """The files that match a pattern, or one of several."""
    patterns = filename if isinstance(filename, (list, tuple)) else [filename]
    return sorted(name for pattern in patterns for name in _glob.glob(_path(pattern)))


def Walk(top, in_order=True):  # noqa: N802
    """(directory, subdirectories, files) of a tree."""
    for place, folders, files in os.walk(_path(top), topdown=in_order):
        yield place, sorted(folders), sorted(files)


exists, isdir, remove, mkdir, makedirs = Exists, IsDirectory, Remove, MkDir, MakeDirs
rmtree, listdir, copy, rename, glob, walk = DeleteRecursively, ListDirectory, Copy, Rename, Glob, Walk
