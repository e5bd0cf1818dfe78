"""tf.sysconfig: where the parts of the package lie."""
import os


def get_include():
    """The folder of the C++ headers."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "include")


def get_lib():
    """The folder of the shared libraries."""
    from penstock import _core
    return os.path.dirname(os.path.abspath(_core.__file__))
