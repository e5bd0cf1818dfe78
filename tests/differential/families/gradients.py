"""Gradients of functions; the function's statements may have gradients inside of them, so there are second ones."""

from . import FAMILIES, family
from ..program import Value


@family(9, leaf=False)
def gradient(g):
    inputs = []
    for _ in range(g.random.choice([1, 2, 2, 3])):
        a = g.pick(dtype="F")
        if a is not None and a not in inputs:
            inputs.append(a)
    if not inputs:
        return None

    def write(parameters):
        g.scope.values += parameters * 3  # Most of what follows should depend on them.
        # Graphs multiply the zero gradients of unread results of branches and loops with values that may be infinite.
        leaves = {n for n in FAMILIES if FAMILIES[n].leaf}
        g.statements(1, 6, leaves if g.special else None)
        g.scope.values = [v for v in g.scope.own]
        target = g.pick(dtype="F")
        if g.random.random() < 0.3:
            return [f"tf.sin({target.name})"]
        return [f"tf.reduce_sum(tf.square({target.name}))" if g.random.random() < 0.3 else target.name]

    block = g.block(inputs, write, single=True)
    values = [Value(g.name("t"), "F", v.shape) for v in inputs]
    weighted = ", weighted=True" if g.random.random() < 0.3 else ""
    return g.emit_many(f"gradients({block.name}, [{', '.join(v.name for v in inputs)}]{weighted})", values, [block])


@family(2, leaf=False)
def custom_gradient(g):
    a = g.pick(dtype="F")
    if a is None:
        return None

    made = []

    def write(parameters):
        g.statements(1, 3)
        value = g.pick(dtype="F")
        made.append(value)
        scale = g.random.choice(["tf.cos({0})", "tf.sin({0}) * {0}", "0.5", "tf.ones_like({0})"])
        grad = f"lambda d: tf.reduce_sum(d) * {scale.format(parameters[0].name)} + tf.zeros_like({parameters[0].name})"
        return [f"tf.sin({value.name})", grad]

    block = g.block([a], write, decorator="@tf.custom_gradient", closed=True)
    return g.emit(f"{block.name}({a.name})", "F", made[0].shape, [block])
