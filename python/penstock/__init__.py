"""Penstock runs TensorFlow programs without TensorFlow."""
import os as _os

# A build tree keeps the native parts apart from the sources; an installed package has them in this folder.
if _os.environ.get("PENSTOCK_NATIVE_DIR"):
    __path__.append(_os.environ["PENSTOCK_NATIVE_DIR"])

from penstock._core import version as __version__  # noqa: E402
