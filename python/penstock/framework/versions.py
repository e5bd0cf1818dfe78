"""Version numbers, those of the TensorFlow that version-1 programs see and of the graphs that they write."""
VERSION = __version__ = "1.15.5"
GIT_VERSION = __git_version__ = "penstock"
COMPILER_VERSION = __compiler_version__ = "g++"
CXX11_ABI_FLAG = __cxx11_abi_flag__ = 1
MONOLITHIC_BUILD = __monolithic_build__ = 0
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

# What version 2 of the API stands for.
VERSION_2 = "2.21.0"
