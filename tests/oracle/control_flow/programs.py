"""Random programs of nested loops and conditionals; the same for the same number under every TensorFlow."""
import random

COUNT = 320


class _Maker:
    """Builds one program. Values are float64 vectors of two elements that stay small."""

    def __init__(self, tf, seed):
        self.tf = tf
        self.rng = random.Random(seed)

    def pick(self, n):
        """A number below n; random() is the same in every version of Python."""
        return int(self.rng.random() * n)

    def number(self):
        return round(self.rng.random() * 2.0 - 1.0, 3)

    def of(self, env):
        return env[self.pick(len(env))]

    def pred(self, env):
        return self.tf.reduce_sum(self.of(env)) > self.number()

    def expression(self, env, depth):
        """A value made of those in `env`, with up to `depth` levels of loops and conditionals."""
        kinds = [self.plain, self.plain, self.gathered]
        if depth > 0:
            kinds += [self.conditional, self.conditional, self.loop, self.loop, self.growing, self.array]
        value = kinds[self.pick(len(kinds))](env, depth)
        for _ in range(self.pick(2)):
            value = self.plain(env + [value], 0)
        return value

    def plain(self, env, depth):
        tf = self.tf
        a, b = self.of(env), self.of(env)
        choices = [lambda: tf.sin(a) * b, lambda: tf.tanh(a + b), lambda: a * self.number() + b * self.number(),
                   lambda: tf.sin(a) * tf.cos(b), lambda: tf.reverse(a, [0]) * tf.sigmoid(b),
                   lambda: a * tf.tanh(tf.reduce_sum(b)), lambda: tf.maximum(a, b),
                   lambda: tf.stack([tf.tanh(b[1]), a[0] * self.number()])]
        return choices[self.pick(len(choices))]()

    def gathered(self, env, depth):
        tf = self.tf
        rows = tf.stack([self.of(env), self.of(env), self.of(env)])
        return tf.reduce_sum(tf.gather(rows, [self.pick(3), self.pick(3)]), 0) * 0.5

    def conditional(self, env, depth):
        tf = self.tf
        pred = self.pred(env)
        if self.pick(3) == 0:  # several results, one of them made outside
            outside = self.of(env)
            pair = tf.cond(pred, lambda: [self.expression(env, depth - 1), outside],
                           lambda: [outside, self.expression(env, depth - 1)])
            return pair[0] * 0.5 + tf.tanh(pair[1])
        return tf.cond(pred, lambda: self.expression(env, depth - 1), lambda: self.expression(env, depth - 1))

    def loop(self, env, depth):
        tf = self.tf
        limit, threshold, by_data = self.pick(4), self.number(), self.pick(3) == 0
        first, second = self.of(env), self.of(env)

        def condition(i, a, b):
            if by_data:
                return tf.logical_and(i < limit + 1, tf.reduce_sum(a) < threshold + 1.0)
            return i < limit

        def body(i, a, b):
            inner = env + [a, b, a * tf.cast(i, tf.float64) * 0.3]
            new = self.expression(inner, depth - 1)
            return i + 1, tf.tanh(new), (b if self.pick(3) == 0 else self.plain(inner, 0))

        parallel = 1 if self.pick(3) == 0 else 10
        _, a, b = tf.while_loop(condition, body, (0, first, second), parallel_iterations=parallel)
        return a + tf.sin(b)

    def growing(self, env, depth):
        tf = self.tf
        limit = self.pick(3)

        def head(a):
            two = a[:2]
            two.set_shape([2])
            return two

        def body(i, a):
            return i + 1, tf.tanh(tf.concat([a, self.expression(env + [head(a)], depth - 1)], 0))

        _, a = tf.while_loop(lambda i, a: i < limit, body, (0, self.of(env)),
                             shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))
        return head(a) * tf.reduce_mean(a)

    def array(self, env, depth):
        tf = self.tf
        size = 1 + self.pick(3)
        source = tf.TensorArray(tf.float64, size=2, clear_after_read=False).unstack(self.of(env))
        target = tf.TensorArray(tf.float64, size=0, dynamic_size=True, element_shape=[2])

        def body(i, a, target):
            new = self.expression(env + [a * source.read(i % 2)], depth - 1)
            return i + 1, tf.tanh(new), target.write(i, new)

        _, a, target = tf.while_loop(lambda i, a, target: i < size, body, (0, self.of(env), target))
        return tf.tanh(a) + tf.reduce_sum(target.stack(), 0) * 0.25


def build(tf, number):
    """(x, y, [dy/dx, dy/dw]) of a program in the default graph; gradients may be None."""
    maker = _Maker(tf, number)
    x = tf.placeholder(tf.float64, [2], name="x")
    w = tf.constant([0.7, -0.4], tf.float64)
    y = tf.reduce_sum(maker.expression([x, w], 1 + number % 3))
    return x, y, tf.gradients(y, [x, w])


FED = [[0.5, -0.8], [-1.2, 0.3]]


def results(tf, number):
    """[[y, dx, dw] for each fed value]."""
    with tf.Graph().as_default():
        x, y, gradients = build(tf, number)
        fetches = [y] + [g for g in gradients if g is not None]
        with tf.Session() as session:
            rows = []
            for fed in FED:
                values = iter([v.tolist() for v in session.run(fetches, {x: fed})])
                rows.append([next(values)] + [None if g is None else next(values) for g in gradients])
            return rows
