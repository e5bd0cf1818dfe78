"""Lets `import tensorflow` find Penstock: see penstock.as_tensorflow and `python -m penstock`."""
from penstock.alias.finder import VERSIONS, install, installed

__all__ = ["VERSIONS", "install", "installed"]
