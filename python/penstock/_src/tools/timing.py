"""penstock time: how long the steps of a model take, and how much memory."""
import argparse
import os
import sys
import time

import numpy as np

from penstock._src.graph import errors
from penstock._src.tools import models


def main(arguments):
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(prog="penstock time", description="Runs a model with random numbers and prints "
                                     "the milliseconds of its steps and the memory of the process.")
    parser.add_argument("model", metavar="MODEL", help="a SavedModel, a GraphDef, or a checkpoint with its .meta file")
    parser.add_argument("--signature", default="serving_default", help="the signature of a SavedModel")
    parser.add_argument("--tags", help="the tags of a SavedModel, as tag1,tag2")
    parser.add_argument("--outputs", default="", help="names with commas; default: the signature's, or the ends")
    parser.add_argument("--batch", type=int, default=1, help="the size of unknown dimensions")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy", help="an input from a file")
    parser.add_argument("--seconds", type=float, default=3.0, help="for how long")
    parser.add_argument("--runs", type=int, help="how often, instead of --seconds")
    options = parser.parse_args(arguments)
    try:
        print(measure(options))
    except (errors.OpError, ValueError, OSError, KeyError) as error:
        print("penstock time: %s" % (getattr(error, "message", None) or error), file=sys.stderr)
        return 1
    return 0


def measure(options):
    """The text for the options of the command line."""
    began = time.perf_counter()
    outputs = [name for name in options.outputs.split(",") if name]
    model = models.load(options.model, outputs, options.signature, options.tags)
    if not model.outputs:
        raise ValueError("the model has no outputs: --outputs names them")
    loaded = time.perf_counter() - began
    given = dict(pair.split("=", 1) for pair in options.input)
    feeds = {tensor: np.load(given.pop(name)) if name in given else models.sample(tensor, options.batch)
             for name, tensor in model.inputs.items()}
    if given:
        raise ValueError("the model has no input %s; it has: %s" % (", ".join(given), ", ".join(model.inputs)))
    fetches = list(model.outputs.values())
    began = time.perf_counter()
    model.session.run(fetches, feeds)
    first = time.perf_counter() - began
    for _ in range(2):
        model.session.run(fetches, feeds)
    steps, end = [], time.perf_counter() + options.seconds
    while len(steps) < (options.runs or sys.maxsize) and (options.runs or time.perf_counter() < end or not steps):
        began = time.perf_counter()
        model.session.run(fetches, feeds)
        steps.append((time.perf_counter() - began) * 1e3)
    return report(steps, loaded, first)


def report(steps, loaded, first):
    """The text about times in milliseconds."""
    low, middle, p90, p99, most = np.percentile(steps, [0, 50, 90, 99, 100])
    return ("%d steps, %.1f per second\nms/step  min %.3f  median %.3f  p90 %.3f  p99 %.3f  max %.3f  mean %.3f\n"
            "load     %.0f ms, first step %.1f ms\nmemory   %s" % (
                len(steps), 1e3 / np.mean(steps), low, middle, p90, p99, most, np.mean(steps), loaded * 1e3,
                first * 1e3, _memory()))


def _memory():
    """Of this process: now, and the most so far."""
    import resource
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    try:
        with open("/proc/self/statm") as f:
            return "%.0f MiB, at most %.0f MiB" % (int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20, most)
    except OSError:
        return "at most %.0f MiB" % most
