"""The models of tests/oracle/saved_models/record.py, made by Penstock."""
import importlib.util
import sys
import types

import penstock as tf
from tensorflow_files import RECORD


def maker(name):
    """A function of record.py, with Penstock as its TensorFlow."""
    before = sys.modules.get("tensorflow")
    sys.modules["tensorflow"] = types.ModuleType("tensorflow")
    try:
        spec = importlib.util.spec_from_file_location("record_with_penstock", RECORD / "record.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        del sys.modules["tensorflow"]
        if before is not None:
            sys.modules["tensorflow"] = before
    module.tf = tf
    return getattr(module, name)
