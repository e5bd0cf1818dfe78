"""Version numbers: those of the TensorFlow that a program is written for, and of the graphs that it writes."""
from penstock._src.base.mode import mode

VERSION_1 = "1.15.5"
VERSION_2 = "2.21.0"
GIT_VERSION = __git_version__ = "penstock"
COMPILER_VERSION = __compiler_version__ = "g++"
CXX11_ABI_FLAG = __cxx11_abi_flag__ = 1
MONOLITHIC_BUILD = __monolithic_build__ = 0
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


def __getattr__(name):
    if name in ("VERSION", "__version__"):
        return VERSION_2 if mode.program_of_version_two else VERSION_1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
