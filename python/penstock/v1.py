"""TensorFlow 1.15's module: `import penstock.v1 as tf`. The names are in penstock/api/v1."""
import sys

from penstock.api import lazy
from penstock.api.keras_packages import VersionOne

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any

_root = lazy.build("v1", ["penstock.v1", "penstock.compat.v1"])
_root.keras = VersionOne(_root.keras)
for _name in ("penstock.v1.keras", "penstock.compat.v1.keras"):
    sys.modules[_name] = _root.keras

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
