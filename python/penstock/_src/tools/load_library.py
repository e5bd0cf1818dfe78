"""Libraries of ops and kernels made for TensorFlow: they are asked for by name, and refused."""
import os

from penstock._src.graph import errors


def _refuse(path):
    if not os.path.exists(path):
        raise errors.NotFoundError(None, None, f"{path}: cannot open shared object file: No such file or directory")
    raise errors.UnimplementedError(None, None, f"{path}: libraries made for TensorFlow cannot be loaded")


def load_op_library(library_filename):
    """The functions of a library's ops. NotFoundError if there is no such file, UnimplementedError if there is."""
    _refuse(library_filename)


def load_file_system_library(library_filename):
    """Registers a library's file systems. NotFoundError if there is no such file, UnimplementedError if there is."""
    _refuse(library_filename)


def load_library(library_location):
    """Registers the ops of a library, or of all in a folder. NotFoundError if there is none there, UnimplementedError
    if there is."""
    _refuse(library_location)
