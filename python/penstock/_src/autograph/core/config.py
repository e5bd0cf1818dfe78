"""Which modules' functions are converted. Programs may set CONVERSION_RULES; the first that speaks of one counts."""
from penstock._src.autograph.core.config_lib import Action as Action
from penstock._src.autograph.core.config_lib import Convert as Convert
from penstock._src.autograph.core.config_lib import DoNotConvert as DoNotConvert

# Their code knows no tensors, or knows them itself.
CONVERSION_RULES = tuple(map(DoNotConvert, (
    __name__.split(".", maxsplit=1)[0], "tensorflow", "numpy", "collections", "copy", "cProfile", "inspect", "ipdb",
    "linecache", "mock", "unittest", "pdb", "pkg_resources", "psutil", "pybind11_abseil", "pytest", "re", "threading",
    "urllib", "six", "absl", "functools", "contextlib", "typing", "logging", "random", "math", "itertools", "operator",
    "json", "os", "sys", "time", "abc", "enum", "weakref", "types", "traceback", "warnings", "keras", "tree", "wrapt",
    "attr", "dataclasses")))
