"""The same module as penstock.v1. Importing it alone leaves version 2's behaviour to programs that use both."""
import sys

from penstock.api import version_two

if "penstock.v1" not in sys.modules:
    version_two.beside_version_one = True
import penstock.v1  # noqa: E402,F401  (enters itself in sys.modules under this name too)
