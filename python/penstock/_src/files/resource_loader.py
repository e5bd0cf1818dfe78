"""tf.resource_loader: files that lie beside the program's source."""
import os
import sys


def load_resource(path):
    """The bytes of a file, by its path from the calling file's folder."""
    with open(os.path.join(_caller_folder(), path), "rb") as file:
        return file.read()


def get_data_files_path():
    """The folder of the calling file."""
    return _caller_folder()


def get_path_to_datafile(path):
    """The path of a file in the calling file's folder."""
    return os.path.join(_caller_folder(), path)


def get_root_dir_with_all_resources():
    """The folder of the calling file."""
    return _caller_folder()


def readahead_file_path(path, readahead="128M"):
    """The path itself."""
    return path


def _caller_folder():
    return os.path.dirname(os.path.abspath(sys._getframe(2).f_code.co_filename))
