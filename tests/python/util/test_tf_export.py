"""Marks of exported names."""
import sys
import types

import pytest

import penstock.v2 as version_two
from penstock.alias import tf_export


def test_symbols_are_marked_with_their_names():
    @tf_export.tf_export("new.name", "other", v1=["old"])
    def f():
        pass

    @tf_export.estimator_export("estimator.Base")
    class Base:
        pass

    @tf_export.keras_export(v1=["keras.Derived"])
    class Derived(Base):
        pass

    assert f._tf_api_names == ("new.name", "other") and tf_export.get_v2_names(f) == ["new.name", "other"]
    assert tf_export.get_v1_names(f) == ["old"] and tf_export.get_v1_names(Derived) == ["keras.Derived"]
    assert tf_export.get_canonical_name_for_symbol(f) == "new.name"
    assert tf_export.get_canonical_name_for_symbol(Derived, "keras", True) == "compat.v1.keras.Derived"
    assert tf_export.get_canonical_name_for_symbol(Derived, "estimator") is None
    assert tf_export.get_canonical_name(["old", "new"], ["old"]) == "new"
    with pytest.raises(tf_export.SymbolAlreadyExposedError, match="f is already exposed"):
        tf_export.tf_export("again")(f)
    tf_export.tf_export("again", overrides=[f])(lambda: None)
    assert not tf_export.get_v2_names(f)
    for export, name in ((tf_export.tf_export, "estimator.x"), (tf_export.estimator_export, "x")):
        with pytest.raises(tf_export.InvalidSymbolNameError):
            export(name)


def test_constants_are_marked_in_their_module(monkeypatch):
    module = types.ModuleType("with_constants")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    tf_export.tf_export("consts.a", v1=["a"]).export_constant(module.__name__, "A")
    assert tf_export.get_v2_constants(module) == [(("consts.a",), "A")]
    assert tf_export.get_v1_constants(module) == [(["a"], "A")]


def test_functions_that_take_arguments_by_name_only():
    @tf_export.kwarg_only
    def f(a, b=1):
        return a + b

    assert f(a=1, b=2) == 3
    with pytest.raises(TypeError, match=r"f only takes keyword args \(possible keys: \['a', 'b'\]\)"):
        f(1)


def test_symbols_by_name():
    @tf_export.keras_export("keras.layers.Mine", v1=["keras.layers.MineV1"])
    class Mine:
        pass

    assert tf_export.get_symbol_from_name("keras.layers.Mine") is Mine
    assert tf_export.get_symbol_from_name("compat.v1.keras.layers.MineV1") is Mine
    assert tf_export.get_symbol_from_name("keras.layers.MineV1") is None  # that of a package that exports nothing here
    assert tf_export.get_symbol_from_name("nn.relu") is version_two.nn.relu
    assert tf_export.get_symbol_from_name("compat.v1.nn.relu") is version_two.compat.v1.nn.relu
    assert tf_export.get_symbol_from_name("nn") is None and tf_export.get_symbol_from_name("nothing.like_it") is None
