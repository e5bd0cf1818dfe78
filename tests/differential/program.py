"""Random programs as data: statements that print as Python.

A program is a function `step` of inputs and variables. Names are a letter and a number: x (inputs), v (variables),
t (values), f (functions), a (their parameters). Texts use the short names of `modes.py`: F is the program's float type,
C and R a complex type and its real part.
"""

import dataclasses
import re

import numpy as np

NAME = re.compile(r"(?<![.\w])[xvtfa]\d+\b")


@dataclasses.dataclass(frozen=True)
class Value:
    """A name in a program with its type (F, C, R, or a type's name) and shape; None is the dimension that changes."""

    name: str
    dtype: str
    shape: tuple

    @property
    def rank(self):
        return len(self.shape)

    def size(self, n):
        return int(np.prod([n if d is None else d for d in self.shape], dtype=np.int64))


@dataclasses.dataclass
class Statement:
    """Assigns `text`, which may call the functions `blocks`, to `targets`, of a list if `many`; `after` are names
    that must be computed before."""

    targets: list
    text: str
    blocks: list = dataclasses.field(default_factory=list)
    after: list = dataclasses.field(default_factory=list)
    many: bool = False

    def names(self):
        """Names of the enclosing scope that the statement reads."""
        used = set(NAME.findall(self.text)) | set(self.after)
        for block in self.blocks:
            used |= block.names()
        return used - {block.name for block in self.blocks}

    def lines(self):
        out = [line for block in self.blocks for line in block.lines()]
        targets = ", ".join(self.targets)
        line = f"{'[' + targets + ']' if self.many else targets} = noise({self.text})"
        if self.after:
            return out + [f"with tf.control_dependencies([{', '.join(self.after)}]):", "    " + line]
        return out + [line]


@dataclasses.dataclass
class Block:
    """A function of `parameters`. `results` are expressions; with `single` the first is returned, not a list."""

    name: str
    parameters: list
    statements: list = dataclasses.field(default_factory=list)
    results: list = dataclasses.field(default_factory=list)
    decorator: str = ""
    single: bool = False

    def names(self):
        made = set(self.parameters)
        used = set()
        for statement in self.statements:
            used |= statement.names() - made
            made |= set(statement.targets)
        for result in self.results:
            used |= set(NAME.findall(result)) - made
        return used

    def lines(self):
        body = [line for statement in self.statements for line in statement.lines()]
        returned = self.results[0] if self.single else f"[{', '.join(self.results)}]"
        return ([self.decorator] if self.decorator else []) + [
            f"def {self.name}({', '.join(self.parameters)}):",
            *("    " + line for line in [*body, f"return {returned}"]),
        ]


@dataclasses.dataclass
class Program:
    """`step` with its inputs, variables, the float type and the sizes that None has in the runs."""

    seed: int
    float_type: str
    inputs: list
    variables: list
    step: Block
    runs: list
    special: bool = False  # Some inputs are NaN or infinite.
    reference: bool = False  # Version 1 uses reference variables.
    static: bool = False  # The shapes of the first run are declared.
    kinds: list = dataclasses.field(default_factory=list)

    def source(self):
        return "\n".join(self.step.lines()) + "\n"

    def dtype(self, name):
        complex_type, real = ("complex128", "float64") if self.float_type == "float64" else ("complex64", "float32")
        return {"F": self.float_type, "C": complex_type, "R": real}.get(name, name)

    def data(self):
        """Values of the inputs, a dict for each run, and of the variables, in the widest type of each kind."""
        runs = []
        for index, n in enumerate(self.runs):
            runs.append({v.name: self._draw(v, n, index) for v in self.inputs})
        return runs, {v.name: self._draw(v, 1, 0) for v in self.variables}

    def _draw(self, value, n, run):
        random = np.random.RandomState([self.seed % 2**32, run, int(value.name[1:]), ord(value.name[0])])
        shape = [n if d is None else d for d in value.shape]
        if value.dtype[0] in "iu":
            return random.randint(0 if value.dtype[0] == "u" else -9, 10, shape).astype(value.dtype)
        if value.dtype == "bool":
            return random.randint(0, 2, shape).astype(bool)
        x = np.round(random.standard_normal(shape), 3)
        if value.dtype == "C":
            return x + 1j * np.round(random.standard_normal(shape), 3)
        if self.special and value.name[0] == "x":
            where = random.uniform(size=shape) < 0.06
            x = np.where(where, random.choice([np.nan, np.inf, -np.inf, -0.0], size=shape), x)
        return np.asarray(x)
