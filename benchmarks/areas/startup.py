"""Import time, memory after import, size on disk: for every engine, in fresh processes."""

import importlib.metadata
import pathlib
import re
import subprocess
import sys

from harness import Case, base, bench

IMPORTS = {"tensorflow": "import tensorflow", "penstock": "import penstock.compat.v1", "torch": "import torch",
           "jax": "import jax.numpy", "onnxruntime": "import onnxruntime"}
DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow_cpu"), "penstock": ("penstock",), "torch": ("torch",),
                 "jax": ("jax",), "onnxruntime": ("onnxruntime",)}


def _in_fresh_process(engine: str, code: str) -> float:
    code = code.replace("IMPORT", IMPORTS[base(engine)])
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


@bench("startup/import_time", "any")
def import_time(engine):
    code = "import time; t = time.perf_counter()\nIMPORT\nprint(time.perf_counter() - t)"
    _in_fresh_process(engine, code)     # fill the page cache and write the .pyc files
    return Case(value=lambda: min(_in_fresh_process(engine, code) for _ in range(2)))


@bench("startup/import_time_after_numpy", "any")
def import_time_after_numpy(engine):
    code = "import numpy, time; t = time.perf_counter()\nIMPORT\nprint(time.perf_counter() - t)"
    _in_fresh_process(engine, code)
    return Case(value=lambda: min(_in_fresh_process(engine, code) for _ in range(2)))


@bench("startup/import_rss", "any")
def import_rss(engine):
    code = "IMPORT\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    return Case(value=lambda: _in_fresh_process(engine, code), unit="MB")


@bench("startup/modules_imported", "any")
def modules_imported(engine):
    return Case(value=lambda: _in_fresh_process(engine, "IMPORT\nimport sys; print(len(sys.modules))"), unit="modules")


def _distribution(names):
    for n in names:
        try:
            return importlib.metadata.distribution(n)
        except importlib.metadata.PackageNotFoundError:
            pass
    raise importlib.metadata.PackageNotFoundError(names)


def _requirements(dist) -> list:
    wanted = [r for r in dist.requires or () if "extra ==" not in r]
    return [re.match(r"[A-Za-z0-9._-]+", r).group() for r in wanted]


def _size_mb(dists) -> float:
    files = {f.locate() for d in dists for f in d.files or ()}
    return sum(p.stat().st_size for p in map(pathlib.Path, files) if p.exists()) / 1e6


@bench("startup/package_size", "any")
def package_size(engine):
    return Case(value=lambda: _size_mb([_distribution(DISTRIBUTIONS[base(engine)])]), unit="MB")


@bench("startup/installed_size", "any")
def installed_size(engine):
    """The package and everything it requires that is installed, NumPy aside."""
    root = _distribution(DISTRIBUTIONS[base(engine)])
    found, queue = {"": root}, _requirements(root)
    while queue:
        name = queue.pop().lower()
        if name in found or name == "numpy":
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:     # needed elsewhere only
            continue
        queue += _requirements(found[name])
    return Case(value=lambda: _size_mb(found.values()), unit="MB")
