"""Makes the package of this tree and the native parts of its build importable, and adds the option --all."""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("PENSTOCK_NATIVE_DIR", str(ROOT / "build" / "release" / "python"))
# Whichever module comes first decides for the process: tests are programs of version 1 unless they ask for eager mode.
import penstock.v1  # noqa: E402, F401


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; ./dev test --all runs it"))


@pytest.fixture
def version_two(monkeypatch):
    """Version 2's behaviour, executing eagerly."""
    from penstock._src.graph import context
    from penstock._src.base.mode import mode
    monkeypatch.setattr(mode, "v2_behavior", True)
    with context.eager_mode():
        yield
