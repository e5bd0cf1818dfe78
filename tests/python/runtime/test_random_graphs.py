"""Random graphs give the same values however they are run: optimised or not, on one device or cut over several."""

import random

import numpy as np
import pytest

import penstock.v1 as tf


class Maker:
    """A graph of a few dozen nodes made from a seed: constants, feeds, variables, branches, loops, updates in order."""

    def __init__(self, seed, devices=1):
        self.chance, self.devices = random.Random(seed), devices
        self.feeds, self.updates = {}, []
        self.values = []
        shapes = [[], [3], [2, 3], [3, 3], [1, 3], [2, 1]]
        for i in range(self.chance.randint(3, 6)):
            self.values.append(self.placed(self.source, shapes[i % len(shapes)]))
        for _ in range(self.chance.randint(15, 40)):
            made = self.placed(self.step)
            if made is not None:
                self.values.append(made)
        self.fetches = self.chance.sample(self.values, min(len(self.values), 6)) + self.values[-2:]

    def placed(self, make, *args):
        if self.devices == 1:
            return make(*args)
        with tf.device(f"/cpu:{self.chance.randrange(self.devices)}"):
            return make(*args)

    def numbers(self, shape):
        return np.asarray(
            [self.chance.choice((-2, -1, -0.5, 0, 0.25, 1, 1, 3)) for _ in range(int(np.prod(shape)))], "f"
        ).reshape(shape)

    def source(self, shape):
        kind = self.chance.randrange(4)
        if kind == 0:
            fed = tf.placeholder(tf.float32, self.chance.choice((shape, [None] * len(shape), None)))
            self.feeds[fed] = self.numbers(shape)
            return fed
        if kind == 1:
            variable = tf.get_variable(
                f"v{len(self.values)}", initializer=self.numbers(shape), use_resource=self.chance.random() < 0.5
            )
            if self.chance.random() < 0.5:
                # Read before and after an update.
                before = tf.identity(variable.read_value())
                with tf.control_dependencies([before]):
                    update = tf.assign_add(variable, tf.ones(shape))
                with tf.control_dependencies([update]):
                    return before + variable.read_value()
            return variable.read_value()
        if kind == 2:
            return tf.fill(shape, self.chance.choice((0.0, 1.0, 2.0))) if shape else tf.constant(1.0)
        return tf.constant(self.numbers(shape))

    def pick(self):
        return self.chance.choice(self.values[-12:])

    def step(self):
        chance, x = self.chance, self.pick()
        same = [
            y
            for y in self.values
            if x.shape.is_fully_defined() and y.shape.is_fully_defined() and y.shape.as_list() == x.shape.as_list()
        ]
        other = chance.choice(same or [x])
        how = chance.randrange(24)
        if how < 4:
            return chance.choice((tf.add, tf.subtract, tf.multiply, tf.maximum))(x, other)
        if how == 4:
            return chance.choice((tf.nn.relu, tf.tanh, tf.square, tf.negative, tf.abs, tf.sign))(x)
        if how == 5:  # what the arithmetic pass knows
            zero, one = tf.zeros_like(x), tf.ones_like(x)
            return chance.choice(
                (lambda: x + zero, lambda: one * x, lambda: x - zero, lambda: x / one, lambda: x * zero, lambda: -(-x))
            )()
        if how == 6:
            return x + chance.choice((0.0, 1.0, -0.5))
        if how == 7:
            return x * chance.choice((0.0, 1.0, 2.0))
        if how == 8:  # the same twice
            return tf.square(x) + tf.square(x)
        if how == 9:
            return tf.identity(tf.stop_gradient(tf.identity(x)))
        if how == 10:
            with tf.control_dependencies([self.pick().op]):
                return tf.identity(x)
        rank = x.shape.rank
        if rank is None:
            return None
        known = x.shape.is_fully_defined()
        if how == 11:
            return tf.reshape(tf.reshape(x, [-1]), tf.shape(x))
        if how == 12 and rank == 2:
            return tf.transpose(tf.transpose(x)) if chance.random() < 0.5 else tf.transpose(x)
        if how == 13:
            return tf.reduce_sum(x, chance.choice((None, 0 if rank else None)), keepdims=chance.random() < 0.5)
        if how == 14:
            return tf.reduce_max(x)
        if how == 15 and rank:
            return tf.concat([x, x], 0)
        if how == 16 and rank:
            return tf.cast(tf.shape(x), tf.float32)
        if how == 17 and rank == 2 and known:
            w = tf.constant(self.numbers([x.shape[1], 3]))
            return chance.choice((lambda y: y, tf.nn.relu, tf.tanh))(
                tf.nn.bias_add(tf.matmul(x, w), tf.constant(self.numbers([3])))
            )
        if how == 18 and rank == 2 and known:
            return tf.matmul(x, x, transpose_b=True)
        if how == 19:
            return tf.where(tf.greater(x, 0.0), x, tf.zeros_like(x))
        if how == 20:
            return tf.cond(tf.reduce_sum(x) > chance.choice((-1e9, 0.0, 1e9)), lambda: x * 2.0, lambda: x - 1.0)
        if how == 21:
            parts = tf.unstack(tf.stack([x, other]))
            return parts[0] + parts[1]
        if how == 22 and rank and known and x.shape[0] > 1:
            return x[1:]
        if how == 23 and hasattr(tf, "while_loop"):
            return tf.while_loop(
                lambda i, _: i < 3,
                lambda i, y: (i + 1, y * 0.5 + x),
                [tf.constant(0), x],
                shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
            )[1]
        return None

    def run(self, config):
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            return [session.run(self.fetches, self.feeds) for _ in range(2)]


def _config(optimised=True, devices=1):
    config = tf.ConfigProto(
        device_count={"CPU": devices}, inter_op_parallelism_threads=2, intra_op_parallelism_threads=1
    )
    if not optimised:
        config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return config


def _compare(seed, ours, wanted, exact):
    for run, (a, b) in enumerate(zip(ours, wanted)):
        for i, (x, y) in enumerate(zip(a, b)):
            assert x.shape == y.shape, (seed, run, i)
            if exact:
                np.testing.assert_array_equal(x, y, err_msg=f"seed {seed}, run {run}, fetch {i}")
            else:
                np.testing.assert_allclose(x, y, 1e-5, 1e-5, err_msg=f"seed {seed}, run {run}, fetch {i}")


def _seeds(request, ordinary):
    return range(ordinary * 10 if request.config.getoption("--all") else ordinary)


@pytest.mark.filterwarnings("ignore")
def test_optimised_or_not(request):
    for seed in _seeds(request, 60):
        with tf.Graph().as_default():
            graph = Maker(seed)
            _compare(seed, graph.run(_config()), graph.run(_config(optimised=False)), exact=False)


@pytest.mark.filterwarnings("ignore")
def test_one_device_or_several(request):
    for seed in _seeds(request, 60):
        results = []
        devices = 2 + seed % 3
        for count in (devices, 1):
            with tf.Graph().as_default():
                graph = Maker(seed, devices)
                config = _config(optimised=False, devices=count)
                config.allow_soft_placement = True
                results.append(graph.run(config))
        _compare(seed, *results, exact=True)
