"""Runs random programs in all modes and compares: `python -m differential.run --first 0 --count 200`.

| mode | what runs |
|---|---|
| v1 off, v1 on | a version 1 session without graph passes, and with all of them |
| v1 one thread | the same with one thread: the same bits |
| v2 session | a version 1 graph in a version 2 process: functional control flow |
| eager, function | version 2 |
| baseline | a session with the instruction set that every processor has |
| guarded | eager, every buffer between inaccessible pages and full of NaN at first |
| TensorFlow eager, function | TensorFlow, if a Python that has it is named |
"""

import argparse
import collections
import dataclasses
import os
import time

from . import compare
from .engines import Engines
from .generate import generate


# What TensorFlow says where it has no kernel for a type or refuses tensors without elements.
REFUSALS = ("No OpKernel was registered", "do not yet support", "params is empty", "for empty", "must not be empty")


def missing(name, answer):
    """Whether TensorFlow has no kernel or no gradient for what the program does."""
    return name.startswith("TensorFlow") and (
        answer.get("error") in ("NotFoundError", "UnimplementedError", "LookupError")
        or any(words in answer.get("message", "") for words in REFUSALS)
    )


@dataclasses.dataclass
class Failure:
    program: object
    modes: tuple
    words: str

    @property
    def kind(self):
        """What has to stay while the program is made smaller: an error's class, or that values differ."""
        head = self.words.split(":")[0]
        return (self.modes, head if head.isidentifier() else "")

    def __str__(self):
        return f"seed {self.program.seed}: {self.modes[0]} and {self.modes[1]}: {self.words}"


class Comparison:
    """Runs programs in the modes and keeps counts."""

    def __init__(self, engines):
        self.engines = engines
        self.counts = collections.Counter()

    def requests(self, program):
        """(name, engine, mode, settings) of each mode that this program runs in."""
        e, seed = self.engines, program.seed
        symbolic = seed % 2 == 0
        yield "v1 off", e.v1, "session", {"optimize": False}
        yield "v1 on", e.v1, "session", {}
        if seed % 4 == 0:
            yield "v1 one thread", e.v1, "session", {"threads": 1}
        yield "eager", e.v2, "eager", {}
        yield "function", e.v2, "function", {"symbolic": symbolic}
        if seed % 3 == 0:
            yield "v2 session", e.v2, "session", {}
        if seed % 7 == 0:
            yield "baseline", e.baseline, "session", {}
        if seed % 8 == 1:
            yield "guarded", e.guarded, "eager", {}
        if e.tensorflow:
            yield "TensorFlow eager", e.tensorflow, "eager", {}
            yield "TensorFlow function", e.tensorflow, "function", {"symbolic": symbolic}

    def answers(self, program, only=None, **changed):
        runs, initial = program.data()
        settings = settings_of(program)
        source = program.source()
        return {
            name: engine.run(mode, source, runs, initial, {**settings, **more, **changed})
            for name, engine, mode, more in self.requests(program)
            if only is None or name in only
        }

    def reference(self, program, samples):
        """Results in double precision, and how far `samples` - 1 runs with shaken values are from them."""
        runs, initial = program.data()
        scale = compare.SHAKE * compare.EPSILON[program.float_type]
        settings = dict(settings_of(program), scale=scale, samples=samples)
        return self.engines.v2.run("reference", program.source(), runs, initial, settings)

    def check(self, program, only=None):
        """The first failure of the program, or None."""
        answers = self.answers(program, only)
        found = [(name, a) for name, a in answers.items() if not missing(name, a)]
        failed = [(name, a) for name, a in found if "error" in a]
        if len(failed) == len(found):
            self.counts["refused by all modes"] += 1
            return None
        if failed:
            name, answer = failed[0]
            other = next(n for n, a in found if "error" not in a)
            return Failure(program, (name, other), f"{answer['error']}: {answer['message']}")
        if "v1 one thread" in answers:
            words = compare.difference(answers["v1 on"]["values"], answers["v1 one thread"]["values"])
            if words:
                return Failure(program, ("v1 on", "v1 one thread"), words)
        for samples in (1, 7):  # Most programs need no allowance for their conditioning.
            reference = self.reference(program, samples)
            if "error" in reference:
                return Failure(program, ("reference", "reference"), f"{reference['error']}: {reference['message']}")
            if not reference["values"][2] < compare.LARGEST[program.float_type]:
                self.counts["too large to compare"] += 1
                return None
            limits = compare.bounds(program.float_type, reference["values"])
            failure, counts = self.compare(program, dict(found), reference["values"][0], limits)
            if failure is None:
                break
        self.counts.update(counts)
        return failure

    def compare(self, program, answers, reference, limits):
        """The first difference beyond the limits, or None; what was compared."""
        (first, answer), *others = answers.items()
        counts = collections.Counter()
        for other, there in others:
            words = compare.difference(answer["values"], there["values"], limits)
            if words and other == "TensorFlow function" and "TensorFlow eager" in answers:
                counts["TensorFlow's modes differ"] += 1  # Its eager mode, compared before, gives what ours give.
                continue
            if words and other.startswith("TensorFlow"):
                plain = self.answers(program, {other}, passes=False)[other]
                if "error" not in plain and not compare.difference(answer["values"], plain["values"], limits):
                    counts["TensorFlow's graph passes differ"] += 1
                    continue
            if words:
                return Failure(program, (first, other), words), counts
            counts[other] += 1
        if not program.special:
            words = compare.difference(answer["values"], reference, limits, exact_nan=False)
            if words:
                return Failure(program, (first, "reference"), words), counts
            counts["double precision"] += 1
        return None, counts


def settings_of(program):
    values = program.inputs + program.variables
    shapes = {v.name: [program.runs[0] if d is None and program.static else d for d in v.shape] for v in values}
    return {
        "float": program.float_type,
        "types": {v.name: v.dtype for v in values},
        "shapes": shapes,
        "static": program.static,
        "reference": program.reference,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--tensorflow", default=os.environ.get("PENSTOCK_TENSORFLOW_PYTHON"))
    parser.add_argument("--show", action="store_true", help="print the programs that fail")
    parser.add_argument("--minimise", action="store_true")
    arguments = parser.parse_args()
    engines = Engines(arguments.tensorflow)
    comparison = Comparison(engines)
    kinds = collections.Counter()
    start, failures = time.time(), 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        program = generate(seed)
        kinds.update(program.kinds)
        failure = comparison.check(program)
        if failure:
            failures += 1
            print(str(failure)[:600], flush=True)
            if arguments.minimise:
                from . import minimise

                print(minimise.script(minimise.minimise(failure, comparison), comparison), flush=True)
            elif arguments.show:
                print(program.source(), flush=True)
    engines.close()
    print(
        f"{arguments.count} programs, {failures} failures, {time.time() - start:.0f} s; compared with:",
        dict(comparison.counts),
    )
    print("kinds:", dict(kinds.most_common()))


if __name__ == "__main__":
    main()
