"""Matrix exponentials, and what is made of LU decompositions."""
from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import while_loop as while_lib

__all__ = ["lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matrix_exponential"]

# Coefficients of Padé approximants of e^x by degree; the highest is 1.
PADE = {
    3: [120.0, 60.0, 12.0],
    5: [30240.0, 15120.0, 3360.0, 420.0, 30.0],
    7: [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0],
    9: [17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0],
    13: [64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0],
}


def _pade(matrix, degree):
    """The odd and the even part of the approximant's numerator."""
    b = [constant_op.constant(c, matrix.dtype) for c in PADE[degree]]
    identity = linalg_ops.eye(array_ops.shape(matrix)[-2], batch_shape=array_ops.shape(matrix)[:-2],
                              dtype=matrix.dtype)
    second = math_ops.matmul(matrix, matrix)
    powers = [identity, second]  # of the square
    for _ in range(2 if degree == 13 else degree // 2 - 1):
        powers.append(math_ops.matmul(powers[-1], second))
    if degree == 13:
        sixth = powers[3]
        odd = math_ops.matmul(sixth, sixth + b[11] * powers[2] + b[9] * powers[1])
        even = math_ops.matmul(sixth, b[12] * sixth + b[10] * powers[2] + b[8] * powers[1])
        known = 4
    else:
        odd = powers[-1]
        even = b[degree - 1] * powers[-1]
        known = degree // 2
    for i in reversed(range(known)):
        odd += b[2 * i + 1] * powers[i]
        even += b[2 * i] * powers[i]
    return math_ops.matmul(matrix, odd), even


# Up to which norm each approximant will do, and the norm to which larger matrices are halved first.
SINGLE = ((3, 5, 7), (4.258730016922831e-001, 1.880152677804762e+000), 3.925724783138660)
DOUBLE = ((3, 5, 7, 9, 13), (1.495585217958292e-002, 2.539398330063230e-001, 9.504178996162932e-001,
                             2.097847961257068e+000), 5.371920351148152)


def matrix_exponential(input, name=None):
    """The sum of A^k / k!: a Padé approximant of A / 2^s, squared s times."""
    with ops.name_scope(name, "matrix_exponential", [input]):
        matrix = ops.convert_to_tensor(input, name="input")
        if matrix.shape[-2:] == [0, 0]:
            return matrix
        single = matrix.dtype in (dtypes.float16, dtypes.float32, dtypes.complex64)
        if not single and matrix.dtype not in (dtypes.float64, dtypes.complex128):
            raise ValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
        degrees, limits, greatest = SINGLE if single else DOUBLE
        batch_shape = matrix.shape[:-2]
        if not batch_shape.is_fully_defined():
            batch_shape = array_ops.shape(matrix)[:-2]
        matrix = array_ops.reshape(matrix, array_ops.concat(([-1], array_ops.shape(matrix)[-2:]), axis=0))
        norm = math_ops.reduce_max(math_ops.reduce_sum(math_ops.abs(matrix), axis=1), axis=-1)

        def const(x):
            return constant_op.constant(x, norm.dtype)

        halvings = gen.maximum(
            gen.floor(gen.log(norm / const(greatest)) / gen.log(const(2.0))), 0)
        power = math_ops.pow(constant_op.constant(2.0, dtype=matrix.dtype), math_ops.cast(halvings, matrix.dtype))
        halved = matrix / power[..., array_ops.newaxis, array_ops.newaxis]
        parts = [_pade(halved if degree == degrees[-1] else matrix, degree) for degree in degrees]
        odd, even = parts[-1]
        for limit, (u, v) in zip(reversed(limits), reversed(parts[:-1])):
            small = gen.less(norm, const(limit))
            odd, even = array_ops.where(small, u, odd), array_ops.where(small, v, even)
        most = math_ops.reduce_max(halvings)

        def solved():
            return gen.matrix_solve(-odd + even, odd + even)

        if tf2.enabled():  # version 1 refuses what is not finite
            finite = gen.is_finite(math_ops.reduce_max(norm))
            nan = constant_op.constant(float("nan"), matrix.dtype)
            result = cond_lib.cond(finite, solved, lambda: array_ops.fill(array_ops.shape(matrix), nan))
            most = array_ops.where(finite, most, const(0.0))
        else:
            result = solved()

        def squared(i, r):
            return i + 1, array_ops.where(gen.less(i, halvings), math_ops.matmul(r, r), r)

        _, result = while_lib.while_loop(lambda i, r: gen.less(i, most), squared, [const(0.0), result])
        if not matrix.shape.is_fully_defined():
            return array_ops.reshape(result, array_ops.concat((batch_shape, array_ops.shape(result)[-2:]), axis=0))
        return array_ops.reshape(result, batch_shape.concatenate(result.shape[-2:]))


def _lower(lower_upper):
    """The factor with ones on the diagonal."""
    lower = gen.matrix_band_part(lower_upper, -1, 0)
    return array_ops.matrix_set_diag(lower, array_ops.ones(array_ops.shape(lower_upper)[:-1], lower_upper.dtype))


def _permutation(perm, dtype):
    """The matrix whose row i picks row perm[i]."""
    return array_ops.one_hot(perm, array_ops.shape(perm)[-1], dtype=dtype)


def _arguments(lower_upper, perm):
    return (ops.convert_to_tensor(lower_upper, preferred_dtype=dtypes.float32, name="lower_upper"),
            ops.convert_to_tensor(perm, preferred_dtype=dtypes.int32, name="perm"))


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrix of which `lower_upper` and `perm` are the LU decomposition."""
    with ops.name_scope(name or "lu_reconstruct"):
        lower_upper, perm = _arguments(lower_upper, perm)
        product = math_ops.matmul(_lower(lower_upper), gen.matrix_band_part(lower_upper, 0, -1))
        result = math_ops.matmul(_permutation(perm, product.dtype), product, transpose_a=True)
        result.set_shape(lower_upper.shape)
        return result


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves A x = rhs, given the LU decomposition of A."""
    with ops.name_scope(name or "lu_solve"):
        lower_upper, perm = _arguments(lower_upper, perm)
        rhs = ops.convert_to_tensor(rhs, dtype=lower_upper.dtype, name="rhs")
        permuted = math_ops.matmul(_permutation(perm, rhs.dtype), rhs)
        return gen.matrix_triangular_solve(lower_upper, gen.matrix_triangular_solve(_lower(lower_upper), permuted),
                                           lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of A, given its LU decomposition."""
    with ops.name_scope(name or "lu_matrix_inverse"):
        lower_upper, perm = _arguments(lower_upper, perm)
        n = array_ops.shape(lower_upper)[-1]
        identity = linalg_ops.eye(n, batch_shape=array_ops.shape(lower_upper)[:-2], dtype=lower_upper.dtype)
        return lu_solve(lower_upper, perm, identity)
