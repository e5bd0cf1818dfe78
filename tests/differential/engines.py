"""Worker processes, each of which imports one module once and runs many programs."""

import os
import select
import subprocess
import sys
from pathlib import Path

from . import worker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Engine:
    """`worker.py` of a module under a Python, with settings of the environment; started at the first request."""

    def __init__(self, module, python=sys.executable, timeout=60, **environment):
        self.module, self.python, self.timeout, self.environment = module, python, timeout, environment
        self.process = None

    def run(self, mode, source, runs, initial, settings):
        """The answer to a request: a dict with `values`, or with `error`, `message`, `trace`."""
        try:
            if self.process is None:
                self._start()
            worker.write(
                self.process.stdin,
                {"mode": mode, "source": source, "runs": runs, "initial": initial, "settings": settings},
            )
            return self._answer()
        except (EOFError, BrokenPipeError, TimeoutError) as error:
            code = self.close(kill=True)
            return {"error": "Crash", "message": f"{type(error).__name__}: the process ended with {code}", "trace": ""}

    def _start(self):
        environment = dict(
            os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0", **self.environment
        )
        if self.module == "tensorflow":  # Its own libraries, not those of this process.
            environment.pop("PYTHONPATH", None)
        else:
            environment["PYTHONPATH"] = os.pathsep.join(
                [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
            )
            environment.setdefault("PENSTOCK_NATIVE_DIR", str(ROOT / "build" / "release" / "python"))
        self.process = subprocess.Popen(
            [self.python, HERE / "worker.py", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._answer()

    def _answer(self):
        if not select.select([self.process.stdout], [], [], self.timeout)[0]:
            raise TimeoutError
        return worker.read(self.process.stdout)

    def close(self, kill=False):
        if self.process is None:
            return None
        if kill:
            self.process.kill()
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        self.process = None
        return code


class Engines:
    """The processes that a comparison uses."""

    def __init__(self, tensorflow=None):
        self.v1 = Engine("penstock.v1")
        self.v2 = Engine("penstock.v2")
        self.baseline = Engine("penstock.v1", PENSTOCK_ISA="baseline")
        self.guarded = Engine("penstock.v2", PENSTOCK_GUARD_MEMORY="1")
        self.tensorflow = Engine("tensorflow", python=tensorflow, timeout=240) if tensorflow else None

    def close(self):
        for engine in vars(self).values():
            if engine is not None:
                engine.close()
