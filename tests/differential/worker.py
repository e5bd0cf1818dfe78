"""Runs programs in one process: `worker.py MODULE` reads requests from standard input and answers on standard output.

A message is a length and a pickle of plain data; arrays travel as type, shape and bytes, since the two ends may have
different releases of NumPy.
"""

import importlib
import os
import pickle
import resource
import struct
import sys
import traceback

import numpy as np


def pack(value):
    if isinstance(value, (list, tuple)):
        return [pack(v) for v in value]
    if isinstance(value, dict):
        return {k: pack(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        return ("array", str(value.dtype), value.shape, value.tobytes())
    return value


def unpack(value):
    if isinstance(value, tuple) and value and value[0] == "array":
        _, dtype, shape, data = value
        if dtype == "bfloat16":
            import ml_dtypes

            dtype = ml_dtypes.bfloat16
        return np.frombuffer(data, dtype).reshape(shape)
    if isinstance(value, list):
        return [unpack(v) for v in value]
    if isinstance(value, dict):
        return {k: unpack(v) for k, v in value.items()}
    return value


def write(stream, message):
    data = pickle.dumps(pack(message), 4)
    stream.write(struct.pack("<q", len(data)) + data)
    stream.flush()


def read(stream):
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    data = stream.read(struct.unpack("<q", header)[0])
    return unpack(pickle.loads(data))


class Noise:
    """Multiplies what each statement gives with 1 + `times` * `scale` * u, |u| <= 1, as rounding might.

    There is one u for each element, or with `together` one for all: equal elements are rounded alike."""

    def __init__(self, tf, scale, seed, together=False):
        self.tf, self.scale, self.largest, self.together = tf, scale, 0.0, together
        self.random = np.random.RandomState(seed)

    def __call__(self, value, times=1):
        if isinstance(value, (list, tuple)):
            return [self(v, times) for v in value]
        if not hasattr(value, "dtype") or not hasattr(value, "numpy") or hasattr(value, "assign_add"):
            return value
        if not (value.dtype.is_floating or value.dtype.is_complex):
            return value
        size = np.abs(value.numpy())
        size = size[np.isfinite(size)]
        self.largest = max(self.largest, float(size.max()) if size.size else 0.0)
        if not self.scale:
            return value
        factor = 1 + times * self.scale * self.random.uniform(-1, 1, [] if self.together else value.shape)
        return value * self.tf.constant(factor, value.dtype)


def reference(tf, source, runs, initial, settings, eager):
    """Results in double precision and their largest deviations under noise; the largest value of any statement."""
    exact, spread, largest = None, None, 0.0
    for seed in range(settings["samples"]):
        noise = Noise(tf, settings["scale"] if seed else 0, seed, together=seed % 3 == 0)
        shaken = lambda x: noise(tf.constant(np.asarray(x))).numpy()
        out = eager(
            tf,
            source,
            [{k: shaken(x) for k, x in run.items()} for run in runs],
            {k: shaken(x) for k, x in initial.items()},
            dict(settings, float="float64", plain=True, noise=noise),
        )
        largest = max(largest, noise.largest)
        if exact is None:
            exact, spread = out, [[np.zeros(y.shape) for y in run] for run in out]
            continue
        for run, (first, there) in enumerate(zip(exact, out)):
            for k, (a, b) in enumerate(zip(first, there)):
                if a.shape != b.shape:  # A shape that depends on rounding cannot be compared.
                    spread[run][k] = np.full(a.shape, np.inf)
                    continue
                with np.errstate(all="ignore"):
                    if a.dtype.kind in "fc":
                        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
                    else:
                        apart = np.where(a == b, 0, np.inf)
                apart = np.where(np.isnan(apart), np.inf, apart)
                spread[run][k] = np.maximum(spread[run][k], apart)
    return [exact, spread, largest]


def main(module):
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import modes  # Beside this file, which runs as a script.

    tf = importlib.import_module(module)
    write(answers, {"version": tf.__version__})
    while True:
        try:
            request = read(requests)
        except EOFError:
            return
        arguments = [request[k] for k in ("source", "runs", "initial", "settings")]
        if module == "tensorflow":
            without = not request["settings"].get("passes", True)
            tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": without})
        try:
            if request["mode"] == "reference":
                values = reference(tf, *arguments, modes.eager)
            else:
                values = modes.MODES[request["mode"]](tf, *arguments)
            answer = {"values": values}
        except Exception as error:
            answer = {
                "error": type(error).__name__,
                "message": str(error)[:2000],
                "trace": traceback.format_exc()[-3000:],
            }
        write(answers, answer)


if __name__ == "__main__":
    if sys.argv[1] != "tensorflow":  # A program that was cut down may have an endless loop, which keeps all its values.
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    main(sys.argv[1])
