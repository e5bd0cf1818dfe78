"""Products of matrices, batches of them, and contractions."""

from . import family


def weights(g, *shape):
    return f"weights({g.random.randrange(1000)}, {', '.join(map(str, shape))})"


@family(7)
def matmul(g):
    a = g.pick(lambda v: v.rank == 2, dtype="F")
    if a is None:
        return None
    left = g.random.random() < 0.5  # Whether a is transposed.
    rows, inner = (a.shape[1], a.shape[0]) if left else a.shape
    columns = g.random.choice([1, 1, 2, 3, 4, 8, 16, 17])
    way = g.random.random()
    b = g.pick(lambda v: v.rank == 2 and v.shape[0] == inner, dtype="F") if way < 0.6 else None
    flags = ", transpose_a=True" if left else ""
    if b is not None:
        other, columns = b.name, b.shape[1]
    elif inner is None:
        return None
    elif g.random.random() < 0.4:
        other, flags = weights(g, columns, inner), flags + ", transpose_b=True"
    else:
        other = weights(g, inner, columns)
    if not g.fits((rows, columns)) or (rows is None and columns is None and g.random.random() < 0.5):
        return None
    text = f"tf.matmul({a.name}, {other}{flags})"
    # TensorFlow 2.21 leaves the bias out where it joins it with a product of empty rows.
    empty = 0 in g.runs if inner is None else inner == 0
    if columns is not None and not empty and g.random.random() < 0.4:
        text = f"tf.nn.bias_add({text}, {weights(g, columns)})"
        if g.random.random() < 0.6:
            text = f"{g.random.choice(['tf.nn.relu', 'tf.tanh', 'tf.sigmoid', 'tf.nn.elu'])}({text})"
    return g.emit(text, "F", (rows, columns))


@family(3)
def batch_matmul(g):
    a = g.pick(lambda v: v.rank in (3, 4) and v.shape[-1] is not None and v.shape[-2] is not None, dtype="F")
    if a is None:
        return None
    way = g.random.random()
    if way < 0.15:
        return broadcast_matmul(g, a)
    if way < 0.3:
        out = a.shape[:-1] + (a.shape[-2],)
        return g.emit(f"tf.matmul({a.name}, {a.name}, transpose_b=True)", "F", out) if g.fits(out) else None
    if way < 0.5:
        out = a.shape[:-2] + (a.shape[-1], a.shape[-1])
        return g.emit(f"tf.matmul({a.name}, {a.name}, transpose_a=True)", "F", out) if g.fits(out) else None
    columns = g.random.choice([1, 2, 3, 8])
    out = a.shape[:-1] + (columns,)
    if not g.fits(out):
        return None
    if way < 0.75:
        return g.emit(f"tf.matmul({a.name}, {weights(g, 1, a.shape[-1], columns)})", "F", out)
    return g.emit(f"tf.tensordot({a.name}, {weights(g, a.shape[-1], columns)}, [[{a.rank - 1}], [0]])", "F", out)


def broadcast_matmul(g, a):
    """A product with a batch of another size, either operand transposed or conjugated."""
    inner, flags = a.shape[-1], []
    rows = a.shape[-2]
    if g.random.random() < 0.5:
        inner, rows = rows, inner
        flags.append(g.random.choice(["transpose_a", "adjoint_a"]))
    columns = g.random.choice([1, 2, 5, 8])
    shape = [g.random.choice([1, d or 1]) for d in a.shape[:-2]][g.random.randint(0, a.rank - 2) :]
    if g.random.random() < 0.5:
        flags.append(g.random.choice(["transpose_b", "adjoint_b"]))
        shape += [columns, inner]
    else:
        shape += [inner, columns]
    out = a.shape[:-2] + (rows, columns)
    if not g.fits(out):
        return None
    more = "".join(f", {flag}=True" for flag in flags)
    return g.emit(f"tf.matmul({a.name}, {weights(g, *shape)}{more})", "F", out)


@family(2)
def other_products(g):
    """Products of complex numbers and of integers; of matrices with vectors; of three operands."""
    way = g.random.random()
    kind = "C" if way < 0.35 else "int32" if way < 0.55 else "F"
    a = g.pick(lambda v: v.rank in (2, 3) and None not in v.shape[1:] and 0 not in v.shape, dtype=kind)
    if a is None:
        return None
    if kind != "F":
        if a.rank == 2 and a.shape[0] is None:
            return g.emit(f"tf.matmul({a.name}, {a.name}, transpose_a=True)", kind, (a.shape[1],) * 2)
        flag = g.random.choice(["transpose_b", "adjoint_b"])
        out = a.shape[:-1] + (a.shape[-2],)
        return g.emit(f"tf.matmul({a.name}, {a.name}, {flag}=True)", kind, out) if g.fits(out) else None
    if way < 0.7:
        return g.emit(f"tf.linalg.matvec({a.name}, {weights(g, a.shape[-1])})", "F", a.shape[:-1])
    n, k = a.shape[-1], g.random.choice([1, 2, 4])
    out = a.shape[:-1] + (k,)
    if not g.fits(out):
        return None
    if way < 0.85:  # Of finite values: the versions multiply in different orders.
        return g.emit(
            f"tf.einsum('...i,ij,jk->...k', tf.tanh({a.name}), {weights(g, n, 3)}, {weights(g, 3, k)})", "F", out
        )
    if a.rank == 2:
        return g.emit(f"tf.einsum('ij,jk,ij->ik', {a.name}, {weights(g, n, k)}, {a.name})", "F", out)
    filter = weights(g, *a.shape[1:], k)
    return g.emit(f"tf.tensordot({a.name}, {filter}, [[1, 2], [0, 1]])", "F", (a.shape[0], k))


@family(3)
def einsum(g):
    a = g.pick(lambda v: v.rank in (1, 2, 3), dtype="F")
    if a is None:
        return None
    letters = "ijk"[: a.rank]
    b = g.pick(lambda v: v.rank in (1, 2, 3) and set(v.shape) & set(a.shape), dtype="F")
    names = {}
    for letter, d in zip(letters, a.shape):
        names.setdefault(d, letter)
    others, used = "", set()
    for d in b.shape:
        letter = names.get(d)
        if letter is None or letter in used:
            letter = "lmn"[len([o for o in others if o in "lmn"])]
        used.add(letter)
        others += letter
    size = {**dict(zip(letters, a.shape)), **dict(zip(others, b.shape))}
    kept = [c for c in size if g.random.random() < 0.6 or c not in letters or c not in others]
    # A letter of one operand only is sometimes summed.
    kept = [c for c in kept if c in letters and c in others or g.random.random() < 0.85]
    g.random.shuffle(kept)
    out = [size[c] for c in kept]
    if not g.fits(out) or not g.fits(size.values()):
        return None
    return g.emit(f"tf.einsum('{letters},{others}->{''.join(kept)}', {a.name}, {b.name})", "F", out)
