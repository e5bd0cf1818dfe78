"""`python -m penstock doctor`: what a report of a problem should say."""
import argparse
import importlib.metadata
import os
import platform
import sys

import numpy
import penstock
from penstock import _core


def main(arguments):
    """The command line; the exit status."""
    argparse.ArgumentParser(prog="penstock doctor", description="Prints versions, processor, devices and "
                            "environment, for reports of problems.").parse_args(arguments)
    doctor()
    return 0


def doctor(out=None):
    """Prints what a report of a problem should say: versions, processor, devices, environment."""
    from penstock import alias
    out = out or sys.stdout

    def line(what, value):
        print("%-12s %s" % (what, value), file=out)

    line("penstock", "%s (%s)" % (penstock.__version__, os.path.dirname(os.path.abspath(penstock.__file__))))
    line("native", getattr(_core, "__file__", "built in"))
    line("python", "%s (%s)" % (platform.python_version(), sys.executable))
    line("numpy", numpy.__version__)
    try:
        import google.protobuf
        line("protobuf", google.protobuf.__version__)
    except ImportError:
        line("protobuf", "missing")
    line("system", platform.platform())
    line("processor", _processor())
    line("cores", "%s of %s" % (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
                                os.cpu_count()))
    line("features", " ".join(_features()) or "unknown")
    line("ops", "%d" % len(_core.op_names()))
    for device in _core.list_local_devices():
        line("device", "%s (%s)" % (device.name, device.device_type))
    for name, cache in _core.cache_statistics().items():
        line("cache", "%s: %d of %d entries, %d hits, %d misses, %d evictions" % (
            name, cache["size"], cache["capacity"], cache["hits"], cache["misses"], cache["evictions"]))
    line("tensorflow", "stands for %s" % alias.VERSIONS[alias.installed()] if alias.installed() else
         "installed %s" % _installed_tensorflow())
    line("mode", "version 1 or 2, by script")
    for name in sorted(os.environ):
        if name.startswith(("TF_", "PENSTOCK_", "CUDA_VISIBLE", "OMP_")):
            line("environment", "%s=%s" % (name, os.environ[name]))


def _cpuinfo(key):
    try:
        with open("/proc/cpuinfo") as f:
            for text in f:
                name, _, value = text.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def _processor():
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _features():
    have = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    telling = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "amx_bf16",
               "asimd", "sve")
    return [name for name in telling if name in have]


def _installed_tensorflow():
    try:
        return importlib.metadata.version("tensorflow")
    except importlib.metadata.PackageNotFoundError:
        return "nowhere"
