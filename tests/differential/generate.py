"""Makes a random program from a seed: inputs, variables, and statements of the families in `families/`."""

import random

from .families import FAMILIES
from .families.elementwise import NARROW_TYPES
from .families.state import read
from .program import Block, Program, Statement, Value

DIMENSIONS = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33]
LARGE = [1, 2, 3, 16, 31, 64, 100, 128, 257]
LARGEST = 6000  # Elements of a value.


class Scope:
    """A block that is being written; `values` are what its statements may read, outer ones included."""

    def __init__(self, block, values):
        self.block, self.values, self.own = block, list(values), []


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = {}
        self.kinds = []
        r = self.random
        self.float_type = r.choices(["float32", "float64", "half", "bfloat16"], [70, 14, 9, 7])[0]
        self.coarse = self.float_type in ("half", "bfloat16")  # Rounding crosses kinks: few of them.
        self.special = r.random() < 0.06
        first = r.choice([1, 2, 3, 4, 5, 8, 16, 20])
        self.largest = r.choice([LARGEST] * 9 + [20 * LARGEST])
        self.runs = [first, first, r.choice([0, 1, 1, 2, 3, 6, 7, 11, 17, first])]
        self.largest_run = max(self.runs)
        self.program = Program(seed, self.float_type, [], [], Block("step", []), self.runs, self.special)
        self.program.reference = r.random() < 0.5
        self.program.static = r.random() < 0.35
        if self.program.static:
            self.runs[:] = [first] * 3
        self.shapes = self._base_shapes()
        self.depth = 0
        self.scope = Scope(self.program.step, [])

    # What families use.

    def name(self, letter):
        self.counts[letter] = self.counts.get(letter, 0) + 1
        return f"{letter}{self.counts[letter]}"

    def pick(self, test=lambda v: True, **wanted):
        """A value that a statement may read, later ones more often; None if there is none."""
        fits = [v for v in self.scope.values if all(getattr(v, k) == w for k, w in wanted.items()) and test(v)]
        if not fits:
            return None
        return self.random.choices(fits, [1 + 3 * i / len(fits) for i in range(len(fits))])[0]

    def emit(self, text, dtype, shape, blocks=(), after=()):
        """Adds a statement that gives one value."""
        value = Value(self.name("t"), dtype, tuple(shape))
        self.add(Statement([value.name], text, list(blocks), list(after)), [value])
        return value

    def emit_many(self, text, values, blocks):
        """Adds a statement that gives a list of values."""
        self.add(Statement([v.name for v in values], text, blocks, many=True), values)
        return values[0]

    def add(self, statement, values):
        self.scope.block.statements.append(statement)
        self.scope.values += values
        self.scope.own += values

    def fits(self, shape):
        return Value("", "F", tuple(shape)).size(self.largest_run) <= self.largest

    def block(self, parameters, write, decorator="", closed=False, single=False):
        """A function with parameters of these types and shapes; `write` adds its statements, given the parameters, and
        returns its results."""
        names = [Value(self.name("a"), v.dtype, v.shape) for v in parameters]
        block = Block(self.name("f"), [v.name for v in names], decorator=decorator, single=single)
        outer, self.scope = self.scope, Scope(block, names if closed else self.scope.values + names)
        self.scope.own = list(names)
        self.depth += 1
        try:
            block.results = list(write(names))
        finally:
            self.scope = outer
            self.depth -= 1
        return block

    def result(self, shape):
        """An expression of the shape, which depends on the current block's statements if it can."""
        own = [v for v in self.scope.own if v.dtype == "F"]
        fits = [v for v in own if v.shape == shape]
        value = fits[-1] if fits and self.random.random() < 0.8 else self.pick(dtype="F", shape=shape)
        others = [v for v in own[-3:] if v is not value]
        if not others or self.random.random() < 0.4:
            return value.name if self.random.random() < 0.5 else f"tf.sin({value.name})"
        return f"{value.name} + 0.1 * tf.reduce_sum(tf.sin({self.random.choice(others).name}))"

    def statements(self, least, most, kinds=None):
        """Adds some statements of random families."""
        wanted = self.random.randint(least, most)
        names = [n for n in FAMILIES if (kinds is None or n in kinds) and (self.depth < 3 or FAMILIES[n].leaf)]
        weights = [FAMILIES[n].weight for n in names]
        tries = 0
        while wanted > 0 and tries < 60:
            tries += 1
            family = self.random.choices(names, weights)[0]
            if FAMILIES[family].make(self):
                self.kinds.append(family)
                wanted -= 1

    def new_variable(self, shape):
        v = Value(self.name("v"), "F", tuple(shape))
        self.program.variables.append(v)
        return self.emit(read(v), "F", v.shape)

    # The program.

    def _base_shapes(self):
        r = self.random
        d = lambda: r.choice(DIMENSIONS if self.largest == LARGEST else LARGE)
        a, b, c = d(), d(), d()
        zero = 0 if r.random() < 0.05 else a
        return r.sample(
            [
                (None, a),
                (None, a),
                (a,),
                (None, 1),
                (None, a, b),
                (b,),
                (a, b),
                (b, a),
                (None, r.choice([5, 7, 8]), c),
                (None, r.choice([4, 5, 7, 8]), r.choice([3, 5, 6]), r.choice([1, 2, 3, 4, 8])),
                (),
                (None, b),
                (zero, b),
                (1, a),
                (a, 1),
                (None, r.choice([32, 40, 64, 100])),
            ],
            4,
        )

    def make(self):
        r, p = self.random, self.program
        for i in range(r.randint(2, 4)):
            dtype = r.choices(["F", "int32", "bool", "int64", "C", *NARROW_TYPES], [76, 6, 4, 4, 4, 1, 2, 2, 1])[0]
            dtype = dtype if i else "F"
            shape = self.shapes[i % len(self.shapes)] if r.random() < 0.7 else self.shapes[0]
            p.inputs.append(Value(self.name("x"), dtype, shape))
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            shape = tuple(1 if d is None else d for d in r.choice(self.shapes))
            self.new_variable(shape)
        self.scope.values += p.inputs
        focus = r.random()
        kinds = None
        if focus < 0.25:  # Chains that passes join.
            kinds = {"unary", "binary", "select", "reduce", "normalize", "cast", "compare", "shape", "gradient"}
        self.statements(4, 14, kinds)
        made = [v for v in self.scope.own]
        read_later = {name for s in p.step.statements for name in s.names()}
        chosen = {i for i, v in enumerate(made) if r.random() < (0.12 if v.name in read_later else 0.6)} | {
            len(made) - 1
        }
        for v in p.variables:  # A session runs no update that nothing fetched depends on.
            last = [s.targets[0] for s in p.step.statements if s.text == read(v)][-1]
            chosen.add(next(i for i, value in enumerate(made) if value.name == last))
        p.step.parameters = [v.name for v in p.variables + p.inputs]
        p.step.results = [made[i].name for i in sorted(chosen)]
        p.kinds = sorted(set(self.kinds))
        return p


def generate(seed):
    return Generator(seed).make()
