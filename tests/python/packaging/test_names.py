"""Names that programs import are not lost: `names.json.gz` records the names of every public namespace and of every
internal module of both versions, as `names.py` prints them. It may only grow."""
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_no_name_is_lost(version):
    recorded = json.loads(gzip.decompress((HERE / "names.json.gz").read_bytes()))[version]
    modules = [name.removeprefix("tensorflow.") for name in recorded]
    done = subprocess.run([sys.executable, HERE / "names.py", version, "-"], capture_output=True, text=True,
                          input=json.dumps(modules), timeout=280,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert done.returncode == 0, done.stderr
    now = json.loads(done.stdout)
    lost = {module: missing for module, names in recorded.items()
            if (missing := sorted(set(names.split()) - set(now.get(module, ()))))}
    assert not lost
