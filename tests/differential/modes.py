"""The ways in which a program runs; part of every script that a failure prints, so it needs nothing but NumPy.

Each takes the module `tf`, the source of `step`, the inputs of each run, initial variables, and a dict of settings, and
returns the fetched arrays of each run.
"""

import numpy as np


# The arguments of the ops that optimizers use.
RULES = {
    "GradientDescent": "var alpha delta",
    "Momentum": "var accum lr grad momentum",
    "Adagrad": "var accum lr grad",
    "Adam": "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad",
    "RMSProp": "var ms mom lr rho momentum epsilon grad",
    "Ftrl": "var accum linear grad lr l1 l2 lr_power",
    "Adadelta": "var accum accum_update lr rho epsilon grad",
    "ProximalAdagrad": "var accum lr l1 l2 grad",
    "AddSign": "var m lr alpha sign_decay beta grad",
}


class Helpers:
    """The names that a program's source uses beside `tf`."""

    def __init__(self, tf, float_type, symbolic=False, noise=None):
        self.tf, self.symbolic = tf, symbolic
        self.noise = noise or (lambda x, times=1: x)
        self.F = getattr(tf, float_type)
        wide = float_type == "float64"
        self.C, self.R = (tf.complex128, tf.float64) if wide else (tf.complex64, tf.float32)

    def names(self):
        return {
            "tf": self.tf,
            "np": np,
            "F": self.F,
            "C": self.C,
            "R": self.R,
            "noise": self.noise,
            "gradients": self.gradients,
            "weights": self.weights,
            "function": self.function,
            "batch_norm": self.batch_norm,
            "single": self.single,
            "apply": self.apply,
        }

    def weights(self, seed, *shape):
        values = np.random.RandomState(seed).standard_normal(shape).round(2)
        return self.tf.cast(self.tf.constant(values, self.tf.float32), self.F)

    def single(self, f, x):
        """f(x) of an op that has no double precision."""
        tf = self.tf
        return f(x) if self.F != tf.float64 else tf.cast(f(tf.cast(x, tf.float32)), self.F)

    def batch_norm(self, x, scale, offset, mean=None, variance=None):
        tf = self.tf
        if self.F != tf.float64:
            return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=mean is None)[0]
        if mean is None:
            mean, variance = tf.nn.moments(x, [0, 1, 2])
            mean = self.noise(mean, 1 + (x.shape.num_elements() or 0) / x.shape[-1] / 256)  # A sum of few parts.
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    def function(self, f):
        return self.tf.function(f)

    def gradients(self, f, xs, weighted=False):
        """The gradients of the sum of f(*xs) by xs, of which only the calls' arguments count; weighted by cos(f)."""
        tf = self.tf
        xs = [tf.identity(x) for x in xs]
        weight = lambda y: tf.cos(y) if weighted else None
        if self.symbolic:
            y = f(*xs)
            return [tf.convert_to_tensor(d) for d in tf.gradients(y, xs, weight(y), unconnected_gradients="zero")]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        found = tape.gradient(y, xs, output_gradients=weight(y), unconnected_gradients="zero")
        return [tf.convert_to_tensor(d) for d in found]

    def apply(self, rule, variables, gradient, indices, *numbers, **options):
        """Runs an optimizer's op on variables of either kind; its output, or operation, to wait for."""
        tf, names = self.tf, RULES[rule].split()
        resource, sparse = hasattr(variables[0], "handle"), indices is not None
        op = getattr(tf.raw_ops, f"{'Resource' * resource}{'Sparse' * sparse}Apply{rule}")
        given = dict(zip(names, [v.handle if resource else v._ref() for v in variables]))
        given["delta" if "delta" in names else "grad"] = gradient
        given.update(zip([n for n in names if n not in given], [tf.cast(n, self.F) for n in numbers]))
        if sparse:
            given["indices"] = indices
        done = op(**given, **options)
        return done if done is not None else variables[0].read_value()


def load(source, helpers):
    names = helpers.names()
    exec(compile(source, "<program>", "exec"), names)
    return names["step"]


def make_variables(tf, helpers, initial, types, **options):
    return {
        name: tf.Variable(tf.cast(tf.constant(value), types(name, helpers)), name=name, **options)
        for name, value in initial.items()
    }


def types_of(settings):
    short = lambda helpers: {"F": helpers.F, "C": helpers.C, "R": helpers.R}
    return lambda name, helpers: (
        short(helpers).get(settings["types"][name]) or getattr(helpers.tf, settings["types"][name])
    )


def eager(tf, source, runs, initial, settings):
    helpers = Helpers(tf, settings["float"], noise=settings.get("noise"))
    if settings.get("plain"):
        helpers.function = lambda f: f
    step, type_of = load(source, helpers), types_of(settings)
    variables = make_variables(tf, helpers, initial, type_of)
    return [
        [
            y.numpy()
            for y in step(
                **variables, **{name: tf.cast(tf.constant(x), type_of(name, helpers)) for name, x in inputs.items()}
            )
        ]
        for inputs in runs
    ]


def function(tf, source, runs, initial, settings):
    helpers = Helpers(tf, settings["float"], symbolic=settings.get("symbolic", False))
    step, type_of = load(source, helpers), types_of(settings)
    variables = make_variables(tf, helpers, initial, type_of)
    signature = [tf.TensorSpec(settings["shapes"][name], type_of(name, helpers), name=name) for name in runs[0]]
    names = list(runs[0])
    traced = lambda *inputs: step(**variables, **dict(zip(names, inputs)))
    traced = tf.function(traced, autograph=False, input_signature=None if settings["static"] else signature)
    return [
        [y.numpy() for y in traced(*(tf.cast(tf.constant(x), type_of(name, helpers)) for name, x in inputs.items()))]
        for inputs in runs
    ]


def session(tf, source, runs, initial, settings):
    v1 = tf.compat.v1
    config = v1.ConfigProto(intra_op_parallelism_threads=settings.get("threads", 2), use_per_session_threads=True)
    if not settings.get("optimize", True):
        config.graph_options.optimizer_options.opt_level = -1
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default():
        helpers = Helpers(tf, settings["float"], symbolic=True)
        step, type_of = load(source, helpers), types_of(settings)
        variables = make_variables(v1, helpers, initial, type_of, use_resource=not settings.get("reference", False))
        placeholders = {
            name: v1.placeholder(type_of(name, helpers), settings["shapes"][name], name=name) for name in runs[0]
        }
        fetches = step(**variables, **placeholders)
        with v1.Session(config=config) as sess:
            sess.run(v1.global_variables_initializer())
            out = []
            for inputs in runs:
                feeds = {
                    placeholders[name]: x.astype(placeholders[name].dtype.as_numpy_dtype) for name, x in inputs.items()
                }
                out.append(sess.run(fetches, feeds))
            return out


MODES = {"eager": eager, "function": function, "session": session}
