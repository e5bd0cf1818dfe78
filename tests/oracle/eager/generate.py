"""Random functions for AutoGraph: nested conditionals and loops with jumps, over tensors, datasets and plain values."""
import random

_DATASET = "tf.data.Dataset.range({}).map(lambda q: tf.cast(q, tf.int32))"
_CALLS = """traces = []
{}
g = tf.function(f)
v = tf.constant([0.5, -1.0, 2.0])
attempt("graph", g, tf.constant(0.3), tf.constant(3), v)
attempt("again", g, tf.constant(-1.2), tf.constant(2), v)
attempt("at once", f, tf.constant(0.3), tf.constant(3), v)
attempt("Python's numbers", g, tf.constant(0.3), 2, v, False)
"""
_GRADIENT = """def slopes():
    x, v = tf.constant(0.7), tf.constant([0.1, 0.4, -0.6])
    with tf.GradientTape() as tape:
        tape.watch([x, v])
        y = g(x, tf.constant(2), v)
        y = y[0] if isinstance(y, tuple) else y
    return tape.gradient(y, [x, v])
attempt("gradient", slopes)
show(len(traces))
"""


class Maker:
    """Writes one function f(x, n, v, flag). Names have types: f a float, i an integer, v a vector of three floats."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.count = [], 0
        self.fixed = {"n", "flag"}  # names that are not assigned to
        self.result_type = self.r.choice("ffvvt")

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def new(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def named(self, env, kind):
        return [name for name, k in env.items() if k == kind]

    # Expressions

    def floating(self, env, depth=2):
        r, chance, names = self.r, self.r.random(), self.named(env, "f")
        if depth == 0 or chance < .35:
            return r.choice(names[-4:]) if names and r.random() < .85 else repr(round(r.uniform(-2, 2), 2))
        less = depth - 1
        if chance < .6:
            return f"({self.floating(env, less)} {r.choice('+-*')} {self.floating(env, less)})"
        if chance < .7:
            return f"tf.{r.choice(['sin', 'tanh', 'cos', 'sigmoid', 'abs'])}({self.floating(env, less)})"
        if chance < .8:
            return f"tf.reduce_sum({self.vector(env, less)})"
        if chance < .86:
            return f"({self.floating(env, 0)} if {self.condition(env, 0)} else {self.floating(env, 0)})"
        if chance < .93:
            return f"{r.choice(['tf.cast(%s, tf.float32)', 'float(%s)'])}" % self.integer(env, less)
        if chance < .96:
            return f"{self.vector(env, 0)}[{r.choice(['0', '1', '-1'])}]"
        return f"len({self.vector(env, less)}) * {self.floating(env, less)}" if chance < .98 else \
            f"abs({self.floating(env, less)})"

    def integer(self, env, depth=2):
        r, chance, names = self.r, self.r.random(), self.named(env, "i")
        if depth == 0 or chance < .5:
            return r.choice(names) if names and r.random() < .8 else str(r.randint(-2, 5))
        less = depth - 1
        if chance < .8:
            return f"({self.integer(env, less)} {r.choice('+-*')} {self.integer(env, less)})"
        if chance < .9:
            return f"({self.integer(env, less)} {r.choice(['%', '//'])} {r.randint(2, 4)})"
        if chance < .95:
            return f"({self.integer(env, 0)} if {self.condition(env, 0)} else {self.integer(env, 0)})"
        return f"tf.cast({self.floating(env, less)}, tf.int32)"

    def vector(self, env, depth=2):
        r, chance = self.r, self.r.random()
        if depth == 0 or chance < .4:
            return r.choice(self.named(env, "v"))
        less = depth - 1
        if chance < .7:
            other = r.choice([self.vector, self.floating])
            return f"({self.vector(env, less)} {r.choice('+-*')} {other(env, less)})"
        if chance < .9:
            return f"tf.{r.choice(['sin(%s)', 'tanh(%s)', 'reverse(%s, [0])'])}" % self.vector(env, less)
        return "tf.stack([%s])" % ", ".join(self.floating(env, less) for _ in range(3))

    def condition(self, env, depth=2):
        r, chance = self.r, self.r.random()
        if depth <= 0 or chance < .5:
            if r.random() < .5:
                return f"{self.floating(env, 0)} {r.choice('<>')} {self.floating(env, max(depth - 1, 0))}"
            operator = r.choice(["<", ">", "<=", ">=", "==", "!="])
            return f"{self.integer(env, max(depth - 1, 0))} {operator} {self.integer(env, 0)}"
        if chance < .8:
            return f"({self.condition(env, depth - 1)} {r.choice(['and', 'or'])} {self.condition(env, depth - 1)})"
        if chance < .9:
            return f"not ({self.condition(env, depth - 1)})"
        if chance < .95:
            return f"({self.floating(env, 0)} < {self.floating(env, 0)} < {self.floating(env, 0)})"
        return r.choice(["True", "flag", "not flag", f"tf.reduce_any({self.vector(env, 0)} > 0.0)"])

    # Statements

    def assignment(self, env, depth):
        r = self.r
        kind = r.choice("ffffiivv")
        make = {"f": self.floating, "i": self.integer, "v": self.vector}
        own = [name for name in self.named(env, kind) if name not in self.fixed]
        name = r.choice(own) if own and r.random() < .75 else self.new(kind)
        if name in own and r.random() < .2:
            self.emit(depth, f"{name} {r.choice(['+=', '-=', '*='])} {make[kind](env, 1)}")
        else:
            wrong = {"f": "i", "i": "f", "v": "f"}[kind] if r.random() < .015 else kind  # now and then another type
            self.emit(depth, f"{name} = {make[wrong](env)}")
        env[name] = kind

    def block(self, env, depth, levels, in_loop, most):
        env = dict(env)
        for _ in range(self.r.randint(1, most)):
            if self.statement(env, depth, levels, in_loop):
                break
        return env

    def statement(self, env, depth, levels, in_loop):
        """Writes a statement; whether nothing may follow it."""
        r, chance = self.r, self.r.random()
        if levels == 0 or chance < .42:
            self.assignment(env, depth)
        elif chance < .62:
            self.conditional(env, depth, levels, in_loop)
        elif chance < .72:
            self.for_loop(env, depth, levels)
        elif chance < .82:
            self.while_loop(env, depth, levels)
        elif chance < .88 and in_loop:
            self.emit(depth, f"if {self.condition(env, 1)}:")
            if r.random() < .4:
                self.assignment(dict(env), depth + 1)
            self.emit(depth + 1, r.choice(["break", "continue"]))
        elif chance < .91:
            self.emit(depth, f"if {self.condition(env, 1)}:")
            self.emit(depth + 1, "return " + self.result(env))
        elif chance < .92 and in_loop:
            self.emit(depth, "return " + self.result(env))
            return True
        elif chance < .94:
            self.inner_function(env, depth)
        elif chance < .95:
            name = self.new("f")
            self.emit(depth, f"{name} = (lambda q: {self.floating({**env, 'q': 'f'}, 1)})({self.floating(env, 1)})")
            env[name] = "f"
        elif chance < .985:
            self.collected(env, depth)
        elif chance < .992:
            for part in ("try", "finally"):
                self.emit(depth, part + ":")
                self.assignment(env, depth + 1)
        else:
            self.emit(depth, "with tf.name_scope('s'):")
            self.assignment(env, depth + 1)
        return False

    def conditional(self, env, depth, levels, in_loop):
        r = self.r
        self.emit(depth, f"if {self.condition(env)}:")
        ends = [self.block(env, depth + 1, levels - 1, in_loop, 3)]
        chance = r.random()
        if chance < .25:
            self.emit(depth, f"elif {self.condition(env)}:")
            ends.append(self.block(env, depth + 1, levels - 1, in_loop, 2))
        if chance < .65:
            self.emit(depth, "else:")
            ends.append(self.block(env, depth + 1, levels - 1, in_loop, 3))
            if r.random() < .05:  # names that not all branches define
                for end in ends:
                    env.update(end)
            env.update({name: ends[0][name] for name in ends[0] if all(name in end for end in ends)})

    def for_loop(self, env, depth, levels):
        r, item, inner = self.r, self.new("j"), dict(env)
        sources = [("i", f"tf.range({r.choice(['n', 'n + 1', str(r.randint(1, 4))])})"),
                   ("i", f"range({r.choice(['n', str(r.randint(1, 4))])})"), ("f", self.vector(env, 1)),
                   ("i", _DATASET.format(r.randint(1, 4))),
                   ("f", f"[{self.floating(env, 1)}, {self.floating(env, 1)}]"),
                   ("f", "zip(range(3), [0.5, 1.5, -1.0])")]
        inner[item], source = r.choice(sources)
        target = item
        if source.startswith("zip"):
            number = self.new("e")
            target, inner[number] = f"{number}, {item}", "i"
        self.emit(depth, f"for {target} in {source}:")
        end = self.block(inner, depth + 1, levels - 1, True, 3)
        if r.random() < .06:  # names that no iteration may have defined
            env.update(end)

    def while_loop(self, env, depth, levels):
        r, number = self.r, self.new("w")
        self.emit(depth, f"{number} = {r.choice(['0', '0', 'tf.constant(0)', 'n - n'])}")
        self.fixed.add(number)
        env[number] = "i"
        test = r.choice([f"{number} < {r.randint(1, 5)}", f"{number} < n",
                         f"{number} < n and {self.floating(env, 0)} < 50.0",
                         f"{number} < {r.randint(2, 5)} and {self.condition(env, 1)}"])
        self.emit(depth, f"while {test}:")
        self.emit(depth + 1, f"{number} += 1")
        self.block(env, depth + 1, levels - 1, True, 3)

    def inner_function(self, env, depth):
        function, argument, name = self.new("g"), self.new("a"), self.new("f")
        self.emit(depth, f"def {function}({argument}):")
        fixed = set(self.fixed)
        self.fixed |= set(env)
        inner = {**env, argument: "f"}
        self.block(inner, depth + 1, 1, False, 2)
        self.fixed = fixed
        self.emit(depth + 1, f"return {self.floating(inner, 1)}")
        self.emit(depth, f"{name} = {function}({self.floating(env, 1)})")
        env[name] = "f"

    def collected(self, env, depth):
        """Values of a loop in a list or an array, as a vector."""
        values, item, name = self.new("l"), self.new("j"), self.new("v")
        value = self.floating({**env, item: "i"}, 1)
        if self.r.random() < .5:
            self.emit(depth, f"{values} = []")
            self.emit(depth, f"for {item} in range(3):")
            self.emit(depth + 1, f"{values}.append({value})")
            self.emit(depth, f"{name} = tf.stack({values})")
        else:
            self.emit(depth, f"{values} = tf.TensorArray(tf.float32, size=3)")
            self.emit(depth, f"for {item} in tf.range(3):")
            self.emit(depth + 1, f"{values} = {values}.write({item}, {value})")
            self.emit(depth, f"{name} = {values}.stack()")
        env[name] = "v"

    def result(self, env):
        if self.result_type == "v":
            return self.vector(env)
        value = " + ".join([self.floating(env), *self.named(env, "f")[-3:]])
        return value if self.result_type == "f" else f"{value}, {self.integer(env)} + {self.named(env, 'i')[-1]}"

    def program(self):
        """A function, calls of it, and its gradient."""
        env = {"x": "f", "n": "i", "v": "v"}
        self.emit(0, "def f(x, n, v, flag=True):")
        self.emit(1, "traces.append(1)")
        for _ in range(self.r.randint(2, 5)):
            if self.statement(env, 1, 3, False):
                break
        self.emit(1, "return " + self.result(env))
        text = "\n".join(self.lines)
        # TensorFlow's loops over datasets have no gradients.
        return _CALLS.format(text) + ("" if "Dataset" in text else _GRADIENT)
