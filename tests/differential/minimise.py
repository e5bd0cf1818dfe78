"""Makes a failing program small, and prints it as a script that runs by itself."""

import copy
import re
from pathlib import Path

import numpy as np

from .program import NAME, Value


def blocks(block):
    """The block and those in its statements, outer ones first."""
    yield block
    for statement in block.statements:
        for inner in statement.blocks:
            yield from blocks(inner)


def prune(program):
    """Removes statements whose values nothing reads, and inputs and variables without readers."""

    def clean(block, needed):
        kept = []
        for statement in reversed(block.statements):
            if not set(statement.targets) & needed and not any(
                v.name + ".assign" in statement.text for v in program.variables
            ):
                continue
            for inner in statement.blocks:
                clean(inner, {name for text in inner.results for name in NAME.findall(text)})
            needed |= statement.names()
            kept.append(statement)
        block.statements = kept[::-1]

    clean(program.step, {name for text in program.step.results for name in NAME.findall(text)})
    used = (
        program.step.names()
        | {n for s in program.step.statements for n in s.names()}
        | {n for text in program.step.results for n in NAME.findall(text)}
    )
    program.inputs = [v for v in program.inputs if v.name in used] or program.inputs[:1]
    program.variables = [v for v in program.variables if v.name in used]
    program.step.parameters = [v.name for v in program.variables + program.inputs]
    return program


def rename(block, old, new):
    """Makes all that reads the name `old` read `new`."""
    pattern = re.compile(rf"\b{old}\b")
    for inner in blocks(block):
        inner.results = [pattern.sub(new, text) for text in inner.results]
        for statement in inner.statements:
            statement.text = pattern.sub(new, statement.text)
            statement.after = [pattern.sub(new, name) for name in statement.after]


def candidates(program):
    """Smaller programs, the boldest first."""

    def changed():
        return copy.deepcopy(program)

    yield changed()  # It has only been pruned.
    for i in range(len(program.step.results)):
        if len(program.step.results) > 1:
            smaller = changed()
            smaller.step.results = [program.step.results[i]]
            yield smaller
    for count in (1, 2):
        if len(program.runs) > count:
            smaller = changed()
            smaller.runs = program.runs[-count:]
            yield smaller
    all_blocks = list(blocks(program.step))
    for b, block in enumerate(all_blocks):
        for s in reversed(range(len(block.statements))):
            statement = block.statements[s]
            # A value alone, or replaced by one of those that it is computed from.
            smaller = changed()
            if b == 0 and len(statement.targets) == 1 and program.step.results != [statement.targets[0]]:
                smaller.step.results = [statement.targets[0]]
                yield smaller
            for name in sorted(n for n in statement.names() if n[0] in "xta"):
                smaller = changed()
                del list(blocks(smaller.step))[b].statements[s]
                for target in statement.targets:
                    rename(smaller.step, target, name)
                yield smaller
            if statement.after:
                smaller = changed()
                list(blocks(smaller.step))[b].statements[s].after = []
                yield smaller
        for i, text in enumerate(block.results):
            for name in NAME.findall(text):
                if text != name:
                    smaller = changed()
                    list(blocks(smaller.step))[b].results[i] = name
                    yield smaller
        if block.decorator:
            smaller = changed()
            list(blocks(smaller.step))[b].decorator = ""
            yield smaller
    sizes = sorted({d for v in program.inputs + program.variables for d in v.shape if d} - {1}, reverse=True)
    for size in sizes:
        for new in sorted({1, 2, size // 2, size - 1} - {0, size}):
            smaller = changed()
            shrink = lambda v: Value(v.name, v.dtype, tuple(new if d == size else d for d in v.shape))
            smaller.inputs, smaller.variables = list(map(shrink, smaller.inputs)), list(map(shrink, smaller.variables))
            yield smaller
    for n in sorted(set(program.runs) - {1}, reverse=True):
        smaller = changed()
        smaller.runs = [1 if r == n else r for r in program.runs]
        yield smaller
    for v in range(len(program.inputs)):
        if None in program.inputs[v].shape and len(set(program.runs)) == 1:
            smaller = changed()
            smaller.inputs = [
                Value(x.name, x.dtype, tuple(program.runs[0] if d is None else d for d in x.shape))
                for x in program.inputs
            ]
            yield smaller
            break


def size(program):
    return len(program.source()), sum(v.size(n) for v in program.inputs + program.variables for n in program.runs)


def minimise(failure, comparison, most=400):
    """The smallest failure found of the same modes."""
    tries = 0
    improved = True
    only = {*failure.modes, "v1 off"} if "reference" not in failure.modes else None
    seen = set()
    while improved and tries < most:
        improved = False
        for program in candidates(failure.program):
            prune(program)
            key = program.source() + repr((program.inputs, program.runs))
            if key in seen or size(program) >= size(failure.program):
                continue
            seen.add(key)
            tries += 1
            found = comparison.check(program, only)
            if found and found.kind == failure.kind:
                failure, improved = found, True
                break
            if tries >= most:
                break
    return failure


SCRIPT = '''"""{failure}"""
import numpy as np
import {module} as tf

{modes}

SOURCE = """{source}"""
RUNS = {runs}
INITIAL = {initial}
SETTINGS = {settings}

for run in {mode}(tf, SOURCE, RUNS, INITIAL, SETTINGS):
    print(*run, sep="\\n")
# {other} gave:
{expected}
'''


def shown(values):
    """What a mode gave as comments, short."""
    with np.printoptions(precision=9, threshold=40):
        return "\n".join("# " + line for run in values for y in run for line in str(y).splitlines())


def literal(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, np.ndarray):
        if (
            value.size > 200
        ):  # Anything of this kind may show the difference; `run.py --first SEED --count 1` has the same.
            text = f"np.random.RandomState(0).standard_normal({list(value.shape)}).round(3)"
            return text if value.dtype.kind == "f" else f"(9 * {text}).astype({value.dtype.name!r})"
        text = repr(value.tolist()) if value.size else "[]"
        text = re.sub(r"\b(nan|inf)\b", r"np.\1", text)
        return f"np.array({text}, {value.dtype.name!r}).reshape({list(value.shape)})"
    return repr(value)


def script(failure, comparison):
    """A program's text with what it needs: the failing mode, and what the other mode gave."""
    program = failure.program
    runs, initial = program.data()
    from .run import settings_of

    name, engine, mode, more = next(
        (r for r in comparison.requests(program) if r[0] == failure.modes[-1]), next(iter(comparison.requests(program)))
    )
    other = comparison.answers(program, {failure.modes[0]}).get(failure.modes[0], {})
    return SCRIPT.format(
        failure=str(failure).replace('"""', "'''"),
        module=engine.module,
        modes=Path(__file__).with_name("modes.py").read_text().split("import numpy as np\n", 1)[1].strip(),
        source=program.source(),
        runs=literal(runs),
        initial=literal(initial),
        settings=literal({**settings_of(program), **more}),
        mode=mode,
        other=failure.modes[0],
        expected=shown(other.get("values", [])),
    )
