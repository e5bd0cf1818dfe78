"""docs/environment.md lists every environment variable that the package and the scripts read."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Literal names where they are read, and constants that hold such names.
READ = re.compile(r"""(?:environ(?:\.get|\.setdefault|\.pop)?[\[(]|getenv\()\s*["']([A-Z][A-Z0-9_]*[A-Z0-9])["']""")
CONSTANT = re.compile(r"""^_?[A-Z_]*(?:ENVIRONMENT|DELTA_DAYS|VAR_NAME) = ["']([A-Z_]+)["']""", re.M)
# Of other programs: set for them, or read as the system defines them.
OTHERS = {"TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "CUDA_VISIBLE_DEVICES", "KERAS_BACKEND",
          "PYTHONPATH", "PATH", "HOME", "TERM", "COLUMNS", "PYTHONWARNINGS", "CONDA_PREFIX", "LD_PRELOAD",
          "JPY_SESSION_NAME", "JAX_PLATFORMS", "CC", "CXX"}


def test_every_variable_is_listed():
    text = (ROOT / "docs" / "environment.md").read_text()
    found = {}
    files = [ROOT / "dev", *(ROOT / "src").rglob("*.cc")]
    files += [path for folder in ("python", "tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for path in files:
        source = path.read_text()
        names = {*READ.findall(source), *CONSTANT.findall(source)}
        if path.name == "dev":
            names |= set(re.findall(r"\$\{(PENSTOCK_\w+|PYTHON):?-", source))
        for name in names - OTHERS:
            found.setdefault(name, path)
    families = re.findall(r"`(\w+_)\*`", text)
    missing = {name: str(path.relative_to(ROOT)) for name, path in found.items()
               if f"`{name}`" not in text and not name.startswith(tuple(families))}
    assert not missing
