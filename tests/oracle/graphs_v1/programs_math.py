"""Programs made of arithmetic, for the comparison of graphs."""


def operators(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    k = tf.placeholder(tf.int32, [2], name="k")
    s = tf.placeholder(tf.string, [2], name="s")
    p = x > 1
    for a in (x, k):
        a + a
        a + 1
        1 + a
        a - 2
        2 - a
        a * 3
        3 * a
        a / 4
        4 / a
        a // 2
        5 // a
        a % 3
        7 % a
        a ** 2
        2 ** a
        -a
        abs(a)
        a < 1
        a <= a
        a > 2
        a >= 3
        a == a
    p & p
    p | True
    p ^ p
    ~p
    s + "suffix"
    [1.0, 2.0] * x
    m = tf.ones([2, 2])
    m @ m
    sp = tf.SparseTensor([[0], [1]], [1.0, 2.0], [2])
    sp * x
    sp / x
    x * sp
    tf.cast(sp, tf.int32)


def elementwise(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    k = tf.placeholder(tf.int32, [2], name="k")
    c = tf.placeholder(tf.complex64, [2], name="c")
    for name in ("abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor is_finite is_inf "
                 "is_nan lgamma log log1p log_sigmoid negative reciprocal rint round rsqrt sigmoid sign sin sinh sqrt "
                 "square "
                 "tan tanh").split():
        getattr(tf, name)(x)
        getattr(tf, name)(x, name="my_" + name)
    tf.round(k)
    tf.abs(c)
    for name in ("add atan2 div divide equal floor_div floordiv floormod greater greater_equal less less_equal maximum "
                 "minimum mod multiply not_equal pow realdiv squared_difference subtract truediv div_no_nan").split():
        getattr(tf, name)(x, 2.0)
        getattr(tf, name)(x, x, name="my_" + name)
    tf.div(k, 2)
    tf.truediv(k, 2)
    tf.truncatediv(k, 2)
    tf.truncatemod(k, 2)
    tf.logical_and(x > 1, True)
    tf.logical_or(x > 1, True)
    tf.logical_not(x > 1)
    tf.logical_xor(x > 1, x < 1)
    tf.math.xlogy(x, x)
    tf.math.xdivy(x, x)
    tf.math.multiply_no_nan(x, x)
    tf.math.reciprocal_no_nan(x)
    tf.math.nextafter(tf.cast(x, tf.float64), 1.0)
    tf.math.softplus(x)
    tf.math.bessel_i0(x)
    tf.math.bessel_i1e(x)
    tf.lbeta([1.0, 2.0])
    tf.complex(x, x)
    tf.real(c)
    tf.imag(c)
    tf.real(x)
    tf.imag(x)
    tf.angle(c)
    tf.conj(c)
    tf.conj(x)
    tf.cast(x, tf.int32)
    tf.cast(x, tf.float32)
    tf.cast([1, 2], tf.float32, name="cast_here")
    tf.saturate_cast(x, tf.uint8)
    tf.saturate_cast(k, tf.int64)
    tf.to_float(k)
    tf.to_double(k)
    tf.to_int32(x)
    tf.to_int64(x, name="i64")
    tf.to_bfloat16(x)
    tf.scalar_mul(2.0, x)
    tf.math.polyval([1.0, 2.0, 3.0], x)
    tf.bitwise.bitwise_and(k, 1)
    tf.bitwise.invert(k)
    tf.range(5)
    tf.range(1, 5.0, 2)
    tf.range(0, 5, dtype=tf.int64, name="r")
    tf.linspace(0.0, 1.0, 5)
    tf.add_n([x, x, x])
    tf.add_n([x])
    tf.add_n([x], name="only")
    tf.accumulate_n([x, x])
    tf.math.betainc(x, x, x)
    tf.math.igamma(x, x)
    tf.math.zeta(x, x)
    tf.math.polygamma(x, x)


def reductions(tf):
    known = tf.ones([2, 3], name="known")
    unknown = tf.placeholder(tf.float32, name="unknown")
    for x in (known, unknown):
        for name in "sum mean prod min max logsumexp".split():
            f = getattr(tf, "reduce_" + name)
            f(x)
            f(x, 0)
            f(x, [0, 1], keepdims=True)
            f(x, axis=-1, name="my_" + name)
            f(x, reduction_indices=[1], keep_dims=True)
        tf.reduce_all(x > 0)
        tf.reduce_any(x > 0, axis=1)
        tf.math.reduce_euclidean_norm(x, 1)
        tf.math.reduce_std(x)
        tf.math.reduce_variance(x, 1)
        tf.count_nonzero(x)
        tf.count_nonzero(x, axis=1, dtype=tf.int32)
        tf.argmax(x, 1)
        tf.argmin(x, axis=0, output_type=tf.int32)
        tf.argmax(x, dimension=1)
        tf.arg_max(x, 1)
        tf.cumsum(x)
        tf.cumsum(x, axis=1, exclusive=True, reverse=True, name="cs")
        tf.cumprod(x)
        tf.norm(x)
        tf.norm(x, 1, axis=1)
        tf.norm(x, ord=3, axis=0, keepdims=True)
    tf.reduce_sum([1, 2, 3])
    tf.reduce_sum(tf.constant([[1, 2]]), axis=tf.constant(1))
    tf.norm(known, "fro", axis=[0, 1])
    tf.norm(known, float("inf"))
    tf.bincount([1, 2, 2])
    tf.bincount([1, 2, 2], weights=[1.0, 2.0, 3.0], minlength=2, maxlength=5)
    tf.segment_sum(known, [0, 1])
    tf.unsorted_segment_sum(known, [0, 1], 2)
    tf.unsorted_segment_mean(known, [0, 1], 2)
    tf.unsorted_segment_sqrt_n(known, [0, 1], 2, name="n")
    tf.sparse_segment_sum(known, [0], [0])
    tf.sparse_segment_mean(known, [0], [0], num_segments=3)
    tf.sparse_segment_sqrt_n(known, [0], [0], name="q")
    tf.histogram_fixed_width([1.0, 2.0], [0.0, 5.0], 5)
    tf.histogram_fixed_width_bins([1.0, 2.0], [0.0, 5.0], 5)
    tf.clip_by_value(known, 0.0, 1.0)
    tf.clip_by_norm(known, 1.0)
    tf.clip_by_norm(known, 1.0, axes=[1], name="cn")
    tf.clip_by_global_norm([known, None, unknown], 5.0)
    tf.clip_by_average_norm(known, 1.0)
    tf.global_norm([known, unknown], name="gn")


def products(tf):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 4], name="b")
    t = tf.placeholder(tf.float32, [5, 2, 3], name="t")
    u = tf.placeholder(tf.float32, [5, 3, 4], name="u")
    q = tf.placeholder(tf.float32, name="q")
    c = tf.placeholder(tf.complex64, [2, 3], name="c")
    tf.matmul(a, b)
    tf.matmul(a, a, transpose_b=True, name="mm")
    tf.matmul(c, c, adjoint_a=True)
    tf.matmul(t, u)
    tf.matmul(t, t, transpose_a=True)
    tf.matmul(q, q, adjoint_b=True)
    tf.matmul(a, b, a_is_sparse=True)
    tf.matmul(t, b)
    tf.linalg.matvec(a, [1.0, 2.0, 3.0])
    tf.tensordot(a, b, 1)
    tf.tensordot(a, b, [[1], [0]])
    tf.tensordot(t, b, axes=[2, 0], name="td")
    tf.tensordot(tf.placeholder(tf.float32, [None, 3]), b, 1)
    tf.tensordot(q, b, [[1], [0]])
    tf.einsum("ij,jk->ik", a, b)
    tf.einsum("bij,bjk->bik", t, u)
    tf.einsum("bij,jk->bik", t, b)
    tf.einsum("ij->ji", a)
    tf.einsum("ij,ij->", a, a)
    tf.einsum("i,j->ij", tf.constant([1.0, 2.0]), tf.constant([3.0]))
    tf.einsum("...ij,...jk->...ik", t, u, name="es")
    tf.einsum("bij,bjk", tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.float32, [None, 3, 4]))
    tf.einsum("ii", tf.ones([2, 2]))
    tf.einsum("ij,jk,kl->il", a, b, tf.ones([4, 2]))
    tf.trace(tf.ones([2, 2]))
    tf.linalg.adjoint(c)
    tf.matrix_inverse(tf.ones([2, 2]))
    tf.linalg.det(tf.ones([2, 2]))
    tf.cholesky(tf.ones([2, 2]))
    tf.cholesky_solve(tf.eye(2), tf.ones([2, 1]))
    tf.linalg.logdet(tf.eye(2))
    tf.matrix_solve(tf.eye(2), tf.ones([2, 1]))
    tf.matrix_solve_ls(tf.ones([3, 2]), tf.ones([3, 1]), l2_regularizer=0.1)
    tf.matrix_triangular_solve(tf.eye(2), tf.ones([2, 1]))
    tf.qr(a)
    tf.svd(a)
    tf.svd(a, compute_uv=False, name="sv")
    tf.self_adjoint_eig(tf.eye(2))
    tf.self_adjoint_eigvals(tf.eye(2))
    tf.cross([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    tf.linalg.normalize(a)
    tf.linalg.pinv(a)
    tf.linalg.matrix_rank(a)
