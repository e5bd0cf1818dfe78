"""File systems that fsspec opens (S3, GCS, HDFS, HTTP, ...), for paths of schemes that Penstock does not have.

fsspec and what it wants for a scheme (s3fs, gcsfs, aiohttp, ...) are optional; their own environment variables and
configuration files say how to log in. S3_ENDPOINT names another server than Amazon's, as it does for TensorFlow.
"""
import contextlib
import os
import uuid

from penstock._src.graph import errors

_KINDS = ((FileNotFoundError, errors.NotFoundError), (FileExistsError, errors.AlreadyExistsError),
          (PermissionError, errors.PermissionDeniedError), (IsADirectoryError, errors.FailedPreconditionError),
          (NotADirectoryError, errors.FailedPreconditionError), (NotImplementedError, errors.UnimplementedError),
          (TimeoutError, errors.DeadlineExceededError), (ConnectionError, errors.UnavailableError),
          (EOFError, errors.OutOfRangeError), (ValueError, errors.InvalidArgumentError))


@contextlib.contextmanager
def _translated(path):
    """Python's exceptions as TensorFlow's, which name the path."""
    try:
        yield
    except errors.OpError:
        raise
    except Exception as e:
        cls = next((ours for kind, ours in _KINDS if isinstance(e, kind)), errors.UnknownError)
        raise cls(None, None, "%s; %s" % (path, getattr(e, "strerror", None) or e or type(e).__name__)) from e


def _options(scheme):
    options = {"use_listings_cache": False}  # others change directories too
    if scheme in ("s3", "s3a") and os.environ.get("S3_ENDPOINT"):
        endpoint = os.environ["S3_ENDPOINT"]
        if "://" not in endpoint:
            endpoint = ("http://" if os.environ.get("S3_USE_HTTPS", "1") == "0" else "https://") + endpoint
        options["client_kwargs"] = {"endpoint_url": endpoint}
    return options


def _modified_ns(info):
    for key in ("mtime", "LastModified", "last_modified", "updated", "created", "modified"):
        when = info.get(key)
        if hasattr(when, "timestamp"):
            return int(when.timestamp() * 1e9)
        if isinstance(when, (int, float)):
            return int(when * 1e9)
    return 0


class _Source:
    """A file that is read at any place."""

    def __init__(self, fs, path, size):
        self._fs, self._path, self._whole = fs, path, None
        if size is None:  # a server that does not say
            self._whole = fs.cat_file(path)
            size = len(self._whole)
        self.size = size

    def read(self, offset, n):
        """`n` bytes from `offset`, or fewer."""
        with _translated(self._path):
            if self._whole is None:
                piece = self._fs.cat_file(self._path, start=offset, end=offset + n)
                if len(piece) <= n:
                    return piece
                self._whole = piece  # a server that knows no ranges sends all
            return self._whole[offset:offset + n]


class _WholeSink:
    """A file that appears when it is closed."""

    def __init__(self, fs, path):
        self._fs, self._path, self._temporary = fs, path, None
        self._file = fs.open(path, "wb", autocommit=False)
        if not hasattr(self._file, "commit"):
            self._file.close()
            self._temporary = "%s.tempstate%s" % (path, uuid.uuid4().hex)
            self._file = fs.open(self._temporary, "wb")

    def append(self, content):
        """Adds bytes."""
        with _translated(self._path):
            self._file.write(content)

    def close(self):
        """Puts it under its name."""
        with _translated(self._path):
            self._file.close()
            if self._temporary is None:
                self._file.commit()
            else:
                self._fs.mv(self._temporary, self._path)

    def discard(self):
        """Forgets it."""
        with _translated(self._path):
            if self._temporary is None:
                self._file.discard()
            else:
                self._file.close()
                self._fs.rm_file(self._temporary)


class _StreamSink:
    """A file that others see grow: each piece is appended, or the file written anew where a store cannot append."""

    def __init__(self, fs, path):
        self._fs, self._path = fs, path

    def append(self, content):
        """Adds bytes."""
        with _translated(self._path):
            try:
                file = self._fs.open(self._path, "ab")
            except (NotImplementedError, ValueError):
                self._fs.pipe_file(self._path, self._fs.cat_file(self._path) + content)
                return
            with file:
                file.write(content)

    def close(self):
        """Nothing is left to do."""

    discard = close


class RemoteFileSystem:
    """The file system of a scheme, as the native module calls it. Paths are whole URLs."""

    def __init__(self, scheme):
        import fsspec
        fsspec.get_filesystem_class(scheme)
        self._open_url = fsspec.core.url_to_fs
        self._options = _options(scheme)

    def _at(self, path):
        fs, inner = self._open_url(path, **self._options)
        fs.invalidate_cache()
        return fs, inner

    def find(self, path):
        """(bytes, nanoseconds, whether it is a directory), or None."""
        with _translated(path):
            fs, inner = self._at(path)
            try:
                info = fs.info(inner)
            except FileNotFoundError:
                return None
            return info.get("size") or 0, _modified_ns(info), info.get("type") == "directory"

    def open(self, path):
        """A source of bytes."""
        with _translated(path):
            fs, inner = self._at(path)
            info = fs.info(inner)
            if info.get("type") == "directory":
                raise IsADirectoryError("Is a directory")
            return _Source(fs, inner, info.get("size"))

    def create(self, path, mode):
        """A sink of bytes; "whole", "new", "replace" or "append"."""
        with _translated(path):
            fs, inner = self._at(path)
            if mode == "whole":
                return _WholeSink(fs, inner)
            there = fs.exists(inner)
            if there and mode == "new":
                raise FileExistsError("File exists")
            if not there or mode == "replace":
                fs.pipe_file(inner, b"")
            return _StreamSink(fs, inner)

    def list(self, directory):
        """[(name, whether it is a directory)]."""
        with _translated(directory):
            fs, inner = self._at(directory)
            own = inner.rstrip("/")
            entries = [(entry["name"].rstrip("/"), entry.get("type") == "directory") for entry in fs.ls(inner, True)]
            return [(name.rsplit("/", 1)[-1], is_directory) for name, is_directory in entries if name != own]

    def rename(self, source, target):
        """Replaces what is at the target."""
        with _translated(source):
            fs, inner = self._at(source)
            fs.mv(inner, self._at(target)[1], recursive=fs.isdir(inner))

    def remove(self, path):
        """Deletes a file."""
        with _translated(path):
            fs, inner = self._at(path)
            if not fs.exists(inner):
                raise FileNotFoundError("No such file or directory")
            fs.rm_file(inner)

    def make_directory(self, path):
        """Makes a directory."""
        with _translated(path):
            fs, inner = self._at(path)
            if fs.exists(inner):
                raise FileExistsError("File exists")
            fs.mkdir(inner, create_parents=False)

    def make_directories(self, path):
        """Makes a directory and those around it."""
        with _translated(path):
            fs, inner = self._at(path)
            fs.makedirs(inner, exist_ok=True)

    def remove_directory(self, path):
        """Deletes a directory, which must be empty."""
        with _translated(path):
            fs, inner = self._at(path)
            fs.rmdir(inner)

    def remove_tree(self, path):
        """Deletes a directory with all that is in it, or a file."""
        with _translated(path):
            fs, inner = self._at(path)
            fs.rm(inner, recursive=True)


def file_system(scheme):
    """The file system of a scheme; None if fsspec has none of that name. UnimplementedError: a package is missing."""
    try:
        return RemoteFileSystem(scheme)
    except ValueError:
        return None
    except ImportError as e:
        raise errors.UnimplementedError(None, None, "File system scheme '%s' not implemented: fsspec would open it; %s"
                                        % (scheme, e)) from e
