"""Lazily imported modules, documented names, signatures of public functions."""
import inspect
import subprocess
import sys
import types

import pytest

import penstock.v1 as tf
from penstock._src.base import tf2
from penstock._src.base import all_util, lazy_loader, tf_inspect


def test_a_module_is_loaded_on_first_use():
    names = {}
    names["wave"] = lazy_loader.LazyLoader("wave", names, "wave")
    lazy = names["wave"]
    assert isinstance(lazy, types.ModuleType) and lazy.Error is sys.modules["wave"].Error
    assert names["wave"] is sys.modules["wave"] and "open" in dir(lazy)


def test_undocumented_names_are_hidden_and_revealed():
    module = types.ModuleType("listed", "What it has.\n\n@@shown\n@@absent\n")
    module.shown, module.hidden, module.allowed, module._private = 1, 2, 3, 4
    sys.modules["listed"] = module
    try:
        assert all_util.make_all("listed") == ["shown"]
        all_util.remove_undocumented("listed", ["allowed"])
        names = ("shown", "hidden", "allowed", "_private")
        assert [hasattr(module, name) for name in names] == [True, False, True, True]
        all_util.reveal_undocumented("listed.hidden")
        assert module.hidden == 2
        with pytest.raises(LookupError):
            all_util.reveal_undocumented("listed.never")
    finally:
        del sys.modules["listed"]


def test_public_functions_have_their_signatures():
    for spec in (inspect.getfullargspec, tf_inspect.getfullargspec):
        assert spec(tf.cast).args == ["x", "dtype", "name"] and spec(tf.concat).args == ["values", "axis", "name"]
    assert not tf2.enabled()


def test_the_package_is_imported_at_once():
    program = "import penstock, penstock.v1, sys; assert not {'numpy', 'inspect', 'ast'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
