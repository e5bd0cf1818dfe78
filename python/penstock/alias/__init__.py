"""Lets `import tensorflow` find Penstock: see penstock.as_tensorflow and `python -m penstock`."""
from penstock.alias.finder import INSTALLS_TF_KERAS, VERSIONS, install, installed

__all__ = ["INSTALLS_TF_KERAS", "VERSIONS", "install", "installed"]
