"""What a freshly installed Penstock must be able to do; run with the interpreter of a clean environment."""
import importlib.metadata
import importlib.resources
import sys

import numpy as np

import penstock

assert penstock.__version__ == importlib.metadata.version("penstock")
assert (importlib.resources.files("penstock") / "descriptors.pb").is_file()
print(f"  Penstock {penstock.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}: works")
