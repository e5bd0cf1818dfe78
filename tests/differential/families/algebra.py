"""Linear algebra, diagonals, Fourier transforms."""

from . import family


def matrices(g, square=False):
    return g.pick(
        lambda v: (
            v.rank > 1
            and None not in v.shape[-2:]
            and 0 not in v.shape[-2:]
            and v.shape[-1] <= 17
            and (not square or v.shape[-1] == v.shape[-2])
        ),
        dtype="F",
    )


@family(3)
def diagonal(g):
    a = matrices(g)
    if a is None:
        return None
    m, n = a.shape[-2:]
    way = g.random.random()
    if way < 0.3:
        low, high = g.random.choice([(0, -1), (-1, 0), (1, 1), (0, 0), (1, 0)])
        return g.emit(f"tf.linalg.band_part({a.name}, {min(low, m)}, {min(high, n)})", "F", a.shape)
    if way < 0.55:
        return g.emit(f"tf.linalg.diag_part({a.name})", "F", a.shape[:-2] + (min(m, n),))
    if way < 0.75:
        return g.emit(f"tf.linalg.set_diag({a.name}, tf.linalg.diag_part({a.name}) * 2)", "F", a.shape)
    if way < 0.85:
        return g.emit(f"tf.linalg.trace({a.name})", "F", a.shape[:-2])
    if way < 0.95 and g.fits(a.shape):
        k = g.random.randint(1 - m, n - 1)
        size = min(m + min(k, 0), n - max(k, 0))
        return g.emit(f"tf.linalg.diag_part({a.name}, k={k})", "F", a.shape[:-2] + (size,))
    out = a.shape + (n,)
    return g.emit(f"tf.linalg.diag({a.name})", "F", out) if g.fits(out) else None


@family(2)
def solve(g):
    a = matrices(g)
    if a is None or g.coarse or g.special or a.shape[-1] > 9:
        return None
    n = a.shape[-1]
    how = g.random.choice(["cholesky", "inv", "det", "solve", "triangular_solve", "logdet"])
    square = a.shape[:-2] + (n, n)
    if not g.fits(square):
        return None
    # A statement, so that its rounding is known.
    made = g.emit(f"tf.matmul({a.name}, {a.name}, transpose_a=True) + tf.eye({n}, dtype=F)", "F", square)
    positive = made.name
    if how == "logdet":
        return g.emit(f"tf.linalg.logdet({positive})", "F", a.shape[:-2])
    if how == "det":
        return g.emit(f"tf.linalg.det({positive})", "F", a.shape[:-2])
    if how in ("solve", "triangular_solve"):
        return g.emit(
            f"tf.linalg.{how}({positive}, tf.linalg.matrix_transpose({a.name}))", "F", a.shape[:-2] + (n, a.shape[-2])
        )
    return g.emit(f"tf.linalg.{how}({positive})", "F", square)


@family(2)
def fourier(g):
    a = g.pick(lambda v: v.rank > 0 and v.shape[-1] not in (None, 0), dtype="C")
    if a is not None and g.random.random() < 0.6:
        return g.emit(f"tf.signal.{g.random.choice(['fft', 'ifft'])}({a.name})", "C", a.shape)
    a = g.pick(lambda v: v.rank > 0 and v.shape[-1] not in (None, 0), dtype="F")
    if a is None or g.special:
        return None
    return g.emit(f"tf.signal.rfft(tf.cast({a.name}, R))", "C", a.shape[:-1] + (a.shape[-1] // 2 + 1,))
