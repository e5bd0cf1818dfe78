"""tf.sysconfig: where the parts of the package lie."""
import os


def get_include():
    """The folder of the C++ headers."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "include")


def get_lib():
    """The folder of the shared libraries."""
    from penstock import _core
    return os.path.dirname(os.path.abspath(_core.__file__))


def get_build_info():
    """What the package was built for, as a dict: for which accelerators' libraries."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
