"""Elementwise operations, with broadcasting; their domains are kept so that values stay of middle size."""

from . import family

UNARY = [
    "-{0}",
    "tf.abs({0})",
    "tf.square({0})",
    "tf.sqrt(tf.abs({0}) + 0.1)",
    "tf.math.rsqrt(tf.square({0}) + 0.1)",
    "tf.exp(tf.sin({0}))",
    "tf.exp(-tf.abs({0}))",
    "tf.math.expm1(tf.sin({0}))",
    "tf.math.log1p(tf.abs({0}))",
    "tf.math.log(tf.square({0}) + 0.5)",
    "tf.sin({0})",
    "tf.cos({0})",
    "tf.atan({0})",
    "tf.asin(tf.sin({0}) * 0.5)",
    "tf.sinh(tf.sin({0}))",
    "tf.cosh(tf.sin({0}))",
    "tf.tanh({0})",
    "tf.sigmoid({0})",
    "tf.nn.softplus({0})",
    "tf.nn.softsign({0})",
    "tf.nn.elu({0})",
    "tf.nn.selu({0})",
    "tf.nn.relu({0})",
    "tf.nn.relu6({0})",
    "tf.nn.leaky_relu({0})",
    "tf.math.erf({0})",
    "tf.math.lgamma(tf.abs({0}) + 0.5)",
    "tf.math.digamma(tf.abs({0}) + 0.5)",
    "tf.math.reciprocal(tf.square({0}) + 1)",
    "{0} * 2",
    "{0} + 1",
    "1 - {0}",
    "{0} / 3",
    "0.5 * {0} - 1",
    "2 / (tf.square({0}) + 1)",
    "tf.pow(tf.sin({0}), 2)",
    "{0} * {0}",
    "{0} + {0}",
    "tf.identity({0})",
    "tf.stop_gradient({0})",
    "tf.clip_by_value({0}, -1., 1.5)",
    "tf.math.sign({0})",
    "tf.floor({0} * 1.7)",
    "tf.math.rint({0} * 1.3)",
    "tf.maximum({0}, 0.3)",
    "tf.minimum({0}, 0.2)",
    "tf.zeros_like({0})",
    "tf.ones_like({0})",
    "{0} * 0.25 + 0.125",
    "-(-{0})",
    "tf.math.erfc({0})",
    "tf.acosh(tf.square({0}) + 1.5)",
    "tf.atanh(tf.sin({0}) * 0.7)",
    "tf.asinh({0})",
]
SMOOTH = [text for text in UNARY if not text.startswith(("tf.floor", "tf.math.rint"))]
BINARY = [
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} + {1}",
    "{0} * {1}",
    "tf.maximum({0}, {1})",
    "tf.minimum({0}, {1})",
    "{0} / (tf.square({1}) + 0.5)",
    "tf.math.squared_difference({0}, {1})",
    "tf.math.atan2({0}, {1} + 0.01)",
    "tf.pow(tf.abs({0}) + 0.5, tf.sin({1}))",
    "tf.math.divide_no_nan({0}, {1})",
    "tf.math.xlogy(tf.abs({0}), tf.square({1}) + 0.5)",
    "tf.math.xdivy({0}, tf.square({1}) + 0.5)",
    "{0} * {1} + {0}",
    "({0} - {1}) * {0}",
    "tf.math.floormod({0}, tf.abs({1}) + 0.7)",
    "tf.sin({0}) * {1}",
    "tf.tanh({0} + {1})",
    "tf.nn.relu({0} + {1})",
    "tf.nn.relu({0} * {1})",
]
COMPARE = [
    "{0} < {1}",
    "{0} >= {1}",
    "{0} > {1}",
    "tf.less_equal({0}, {1})",
    "tf.not_equal({0}, {1})",
    "tf.equal({0}, {1})",
]
LOGICAL = ["tf.logical_and({0}, {1})", "tf.logical_or({0}, {1})", "tf.math.logical_xor({0}, {1})", "tf.equal({0}, {1})"]
INTEGER = [
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} // (tf.abs({1}) + 1)",
    "{0} % (tf.abs({1}) + 2)",
    "tf.maximum({0}, {1})",
    "tf.minimum({0}, {1})",
    "tf.bitwise.bitwise_and({0}, {1})",
    "tf.bitwise.bitwise_xor({0}, {1})",
    "tf.truncatediv({0}, tf.abs({1}) + 1)",
    "tf.math.squared_difference({0} % 50, {1} % 50)",
]
NARROW = [  # What each integer type has.
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "tf.maximum({0}, {1})",
    "tf.minimum({0}, {1})",
    "tf.bitwise.bitwise_or({0}, {1})",
    "tf.bitwise.bitwise_xor({0}, {1})",
    "{0} // ({1} * 0 + 3)",
    "{0} % ({1} * 0 + 5)",
]
NARROW_TYPES = ["int8", "uint8", "int16", "uint16"]
COMPLEX_UNARY = [
    "tf.math.conj({0})",
    "-{0}",
    "tf.square({0})",
    "tf.exp(tf.sin({0}))",
    "{0} * {0}",
    "tf.tanh({0})",
    "tf.cos({0})",
]
COMPLEX_TO_REAL = ["tf.math.real({0})", "tf.math.imag({0})", "tf.abs({0})"]


def broadcast(a, b):
    """The shape of a result of the two shapes; None if they do not fit."""
    out = []
    for i in range(1, max(len(a), len(b)) + 1):
        d = a[-i] if i <= len(a) else 1
        e = b[-i] if i <= len(b) else 1
        if d != e and 1 not in (d, e):
            return None
        out.append(e if d == 1 else d)
    return tuple(reversed(out))


def pair(g, dtype, same=False):
    """Two values that can be broadcast, and the shape of the result."""
    a = g.pick(dtype=dtype)
    if a is None:
        return None
    if g.random.random() < 0.6 or same:
        b = g.pick(dtype=dtype, shape=a.shape)
    else:
        b = g.pick(lambda v: broadcast(a.shape, v.shape) is not None, dtype=dtype)
    if g.random.random() < 0.5:
        a, b = b, a
    shape = broadcast(a.shape, b.shape)
    return (a, b, shape) if g.fits(shape) else None


@family(22)
def unary(g):
    a = g.pick(dtype="F")
    return a and g.emit(g.random.choice(SMOOTH if g.coarse else UNARY).format(a.name), "F", a.shape)


@family(20)
def binary(g):
    found = pair(g, "F")
    if found is None:
        return None
    text = g.random.choice(BINARY)
    if found[0] is found[1] and any(word in text for word in ("/", "div", "atan2", "mod")):
        return None  # The parts of the gradient cancel, and rounding is all that is left.
    return g.emit(text.format(found[0].name, found[1].name), "F", found[2])


@family(6)
def integer(g):
    dtype = g.random.choice(["int32", "int32", "int64", "int64", *NARROW_TYPES])
    found = pair(g, dtype)
    ways = NARROW if dtype in NARROW_TYPES else INTEGER
    return found and g.emit(g.random.choice(ways).format(found[0].name, found[1].name), dtype, found[2])


@family(5)
def compare(g):
    found = pair(g, g.random.choices(["F", "int32", "int64", "uint8", "int16"], [6, 1, 1, 1, 1])[0])
    ways = COMPARE[:4] if g.coarse else COMPARE  # Coarse numbers are equal by chance.
    return found and g.emit(g.random.choice(ways).format(found[0].name, found[1].name), "bool", found[2])


@family(4)
def logical(g):
    found = pair(g, "bool")
    if found is None:
        return None
    if g.random.random() < 0.2:
        return g.emit(f"tf.logical_not({found[0].name})", "bool", found[0].shape)
    return g.emit(g.random.choice(LOGICAL).format(found[0].name, found[1].name), "bool", found[2])


@family(5)
def select(g):
    found = pair(g, "F", same=g.random.random() < 0.5)
    if found is None:
        return None
    a, b, shape = found
    if g.random.random() < 0.5:
        c, d, _ = pair(g, "F", same=True) or (a, a, 0)
        if c.shape == shape and a.shape == b.shape == shape:
            how = g.random.choice(["{0} < {1}", "{0} > {1}", "{0} >= 0", "0.1 < {1}", "tf.not_equal({0}, {1})"])
            return g.emit(f"tf.where({how.format(c.name, d.name)}, {a.name}, {b.name})", "F", shape)
    c = g.pick(dtype="bool", shape=shape) if a.shape == b.shape else None
    return c and g.emit(f"tf.where({c.name}, {a.name}, {b.name})", "F", shape)


@family(3)
def add_n(g):
    found = pair(g, "F", same=True)
    if found is None or found[0].shape != found[1].shape:
        return None
    names = [v.name for v in found[:2]] * g.random.choice([1, 1, 2])
    return g.emit(f"tf.add_n([{', '.join(names)}])", "F", found[2])


@family(6)
def cast(g):
    a = g.pick()
    if a is None:
        return None
    to = g.random.choice(
        ["F", "F", "int32", "int64", "bool", g.random.choice(NARROW_TYPES)]
        if a.dtype != "F"
        else ["int32", "int64", "bool", "F", "int8", "int16"]
    )
    if a.dtype == "C" or ((g.special or g.coarse) and a.dtype == "F" and to != "F"):
        return None
    if a.dtype == "F" and to == "F":
        if g.coarse:
            return g.emit(f"tf.cast(tf.tanh(tf.cast({a.name}, R)), F)", "F", a.shape)
        return g.emit(f"tf.cast(tf.cast({a.name}, C), F)", "F", a.shape)
    if a.dtype == "F" and to.startswith("int"):
        return g.emit(f"tf.cast(tf.clip_by_value({a.name}, -40, 40), tf.{to})", to, a.shape)
    if a.dtype == "F":
        return g.emit(f"tf.cast({a.name}, tf.bool)", to, a.shape)
    if to == "F":
        return g.emit(f"tf.cast({a.name} % 7, F)" if a.dtype != "bool" else f"tf.cast({a.name}, F)", "F", a.shape)
    return g.emit(f"tf.cast({a.name}, tf.{to})", to, a.shape)


@family(3)
def complex_numbers(g):
    way = g.random.random()
    a = g.pick(dtype="C")
    if a is None or way < 0.25:
        found = pair(g, "F", same=True)
        if found is None or found[0].shape != found[1].shape:
            return None
        return g.emit(f"tf.complex(tf.cast({found[0].name}, R), tf.cast({found[1].name}, R))", "C", found[2])
    if way < 0.5:
        return g.emit(f"tf.cast({g.random.choice(COMPLEX_TO_REAL).format(a.name)}, F)", "F", a.shape)
    if way < 0.75:
        return g.emit(g.random.choice(COMPLEX_UNARY).format(a.name), "C", a.shape)
    found = pair(g, "C")
    how = g.random.choice(["{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} / ({1} * tf.math.conj({1}) + 1)"])
    return found and g.emit(how.format(found[0].name, found[1].name), "C", found[2])
