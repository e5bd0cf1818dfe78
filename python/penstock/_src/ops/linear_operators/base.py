"""LinearOperator: what all of them offer, by way of the dense matrix where a class knows nothing better."""
import contextlib
import inspect

import numpy as np

from penstock._src.graph import composite_tensor, dispatch, dtypes, gen, ops, tensor_shape
from penstock._src.ops.state import module
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators import composite
from penstock._src.ops.linear_operators.composite import make_composite_tensor
from penstock._src.base import hooks

__all__ = ["LinearOperator", "make_composite_tensor"]


class LinearOperator(module.Module, composite_tensor.CompositeTensor):
    """A matrix, or a batch of matrices, known by what it does to vectors.

    It is a module: the variables that it was made from are those of modules that hold it, and lie in their checkpoints.

    A class defines `_shape`, `_shape_tensor` and `_matmul`, and whatever else it can do better than a dense matrix.
    Hints (`is_non_singular`, ...) are promises of the caller; None is no promise.
    """

    _composite_tensor_fields = ()  # arguments that an operator is made from, besides its hints
    _composite_tensor_prefer_static_fields = ()  # those of them that are no tensors if their values are known

    # How many dimensions of a matrix each argument has, besides those of the batch; operators have 0.
    _experimental_parameter_ndims_to_matrix_ndims = {}
    __composite_gradient__ = composite.LinearOperatorGradient()

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        try:
            bound = inspect.signature(cls.__init__).bind(self, *args, **kwargs)
        except TypeError:  # `__init__` says what is wrong; a copy has no arguments
            self._parameters = self._no_dependency({})
        else:
            bound.apply_defaults()
            self._parameters = self._no_dependency(dict(list(bound.arguments.items())[1:]))
        return self

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None, parameters=None):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        graph_parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(graph_parents):
            if parent is None or not (util.is_ref(parent) or isinstance(parent, ops.Tensor)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = graph_parents
        self._is_square = is_square
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__  # need not be one that a module's `__init__` takes
        if parameters is not None:
            self._parameters = self._no_dependency({key: value for key, value in parameters.items()
                                                    if key not in ("self", "__class__") and value is not self})

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        with ops.name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    @property
    def name_scope(self):
        """A context manager: the scope of the operator's name."""
        return self._name_scope()

    # What is known of it

    @property
    def dtype(self):
        """The type of the elements."""
        return self._dtype

    @property
    def name(self):
        """The operator's name, and that of its ops' scope."""
        return self._name

    @property
    def parameters(self):
        """{name: value} of the arguments that the operator was made with."""
        return dict(self._parameters)

    def _convert_variables_to_tensors(self):
        from penstock._src.ops.state.variable_utils import convert_variables_to_tensors
        spec = self._type_spec
        return spec._from_components(convert_variables_to_tensors(spec._to_components(self)))

    @property
    def graph_parents(self):
        """The tensors that the operator was made of."""
        return self._graph_parents

    @property
    def is_non_singular(self):
        """Whether it has an inverse: True, False, or None if that was not said."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self):
        """Whether it is its own adjoint: True, False, or None if that was not said."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self):
        """Whether x^H A x has a positive real part for all x but 0: True, False, or None if not said."""
        return self._is_positive_definite

    @property
    def is_square(self):
        """Whether it has as many rows as columns: True, False or None.

        ValueError: it was said to be not square, and is.
        """
        square = self.domain_dimension == self.range_dimension
        if self._is_square is False and square:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return square if self._is_square is None else self._is_square

    def _can_use_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    # Shape

    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self):
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self):
        """The static shape, [..., M, N]."""
        return self._shape()

    def shape_tensor(self, name="shape_tensor"):
        """The shape [..., M, N] as an int32 tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return util.shape_tensor(self.shape.as_list())
            return self._shape_tensor()

    @property
    def batch_shape(self):
        """The static shape without its last two dimensions."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape without its last two dimensions, as an int32 tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return util.shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self):
        """The number of dimensions, batch dimensions among them; None if it is not known."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """The number of dimensions, as an int32 scalar."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return ops.convert_to_tensor(self.tensor_rank)
            return array_ops.size(self.shape_tensor())

    @property
    def domain_dimension(self):
        """N, the static size of what it is applied to."""
        return tensor_shape.Dimension(None) if self.shape.ndims is None else self.shape.dims[-1]

    @property
    def range_dimension(self):
        """M, the static size of what it gives."""
        return self.shape.dims[-2] if self.shape.dims else tensor_shape.Dimension(None)

    def _dimension_tensor(self, dimension, index):
        known = tensor_shape.dimension_value(dimension)
        return self.shape_tensor()[index] if known is None else ops.convert_to_tensor(known)

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """N, the size of what it is applied to, as an int32 scalar."""
        with self._name_scope(name):
            return self._dimension_tensor(self.domain_dimension, -1)

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """M, the size of what it gives, as an int32 scalar."""
        with self._name_scope(name):
            return self._dimension_tensor(self.range_dimension, -2)

    # Assertions

    def _assert_non_singular(self):
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = linalg_ops.svd(self.to_dense(), compute_uv=False)
        condition = math_ops.reduce_max(values, axis=-1) / math_ops.reduce_min(values, axis=-1)
        with ops.name_scope("max_nonsingular_condition_number"):
            real = self.dtype.real_dtype
            sides = [math_ops.cast(n, real) for n in (self.range_dimension_tensor(), self.domain_dimension_tensor())]
            greatest = math_ops.reduce_max(array_ops.stack([ops.convert_to_tensor(100.0, real), *sides]))
            limit = 1.0 / (greatest * np.finfo(self.dtype.as_numpy_dtype).eps)
        return check_ops.assert_less(condition, limit, message="Singular matrix up to precision epsilon.")

    def assert_non_singular(self, name="assert_non_singular"):
        """An op that fails if the matrix is singular."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self):
        if self.is_self_adjoint:
            return check_ops.assert_positive(
                math_ops.real(array_ops.matrix_diag_part(gen.cholesky(self.to_dense()))),
                message="Matrix was not positive definite.")
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_positive_definite(self, name="assert_positive_definite"):
        """An op that fails if the matrix is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return check_ops.assert_equal(dense, linalg_ops.adjoint(dense),
                                      message="Matrix was not equal to its adjoint.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """An op that fails if the matrix is not equal to its adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    # Products

    def _check_type(self, arg):
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {arg.dtype} in tensor {arg}")

    def _operands(self, other, adjoint, adjoint_arg, what):
        """Both operators of a product or solution, turned as asked."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        have = tensor_shape.dimension_value(right.range_dimension)
        want = tensor_shape.dimension_value(left.domain_dimension)
        if have is not None and want is not None and have != want:
            raise ValueError(f"Operators are incompatible. Expected `{what}` to have dimension {want} but got {have}.")
        return left, right

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("_matmul is not implemented.")

    def _matmul_operator(self, right):
        from penstock._src.ops.linear_operators import products
        return products.multiply(self, right)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """A x for matrices x, or a LinearOperator."""
        if isinstance(x, LinearOperator):
            left, right = self._operands(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return left._matmul_operator(right)
        with self._name_scope(name):
            x = ops.convert_to_tensor(x, name="x")
            self._check_type(x)
            tensor_shape.dimension_at_index(self.shape, -2 if adjoint else -1).assert_is_compatible_with(
                x.shape[-1 if adjoint_arg else -2])
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __getitem__(self, slices):
        """The operator of a part of the batch; indices as those of a tensor of the batch's shape."""
        slices = tuple(slices) if isinstance(slices, (list, tuple)) else (slices,)
        return composite.sliced(self, slices, self.batch_shape_tensor())

    def __matmul__(self, other):
        return self.matmul(other)

    def _matvec(self, x, adjoint=False):
        return array_ops.squeeze(self.matmul(array_ops.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def matvec(self, x, adjoint=False, name="matvec"):
        """A x for vectors x."""
        with self._name_scope(name):
            x = ops.convert_to_tensor(x, name="x")
            self._check_type(x)
            tensor_shape.dimension_at_index(self.shape, -2 if adjoint else -1).assert_is_compatible_with(x.shape[-1])
            return self._matvec(x, adjoint=adjoint)

    # Determinants

    def _require_square(self):
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def _determinant(self):
        if self._can_use_cholesky():
            return gen.exp(self.log_abs_determinant())
        return gen.matrix_determinant(self.to_dense())

    def determinant(self, name="det"):
        """The determinants, of the batch shape. NotImplementedError: the operator is not square."""
        self._require_square()
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self):
        if self._can_use_cholesky():
            diagonal = array_ops.matrix_diag_part(gen.cholesky(self.to_dense()))
            return 2 * math_ops.reduce_sum(gen.log(diagonal), axis=[-1])
        return gen.log_matrix_determinant(self.to_dense())[1]

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the determinants' absolute values, of the batch shape.

        NotImplementedError: the operator is not square.
        """
        self._require_square()
        with self._name_scope(name):
            return self._log_abs_determinant()

    # Solutions

    def _require_solvable(self):
        if self.is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to not be square.")

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return util.cholesky_solve_with_broadcast(gen.cholesky(self.to_dense()), rhs)
        return util.matrix_solve_with_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """The x with A x = rhs, for matrices or a LinearOperator."""
        self._require_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._operands(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return left.inverse().matmul(right)
        with self._name_scope(name):
            rhs = ops.convert_to_tensor(rhs, name="rhs")
            self._check_type(rhs)
            tensor_shape.dimension_at_index(self.shape, -1 if adjoint else -2).assert_is_compatible_with(
                rhs.shape[-1 if adjoint_arg else -2])
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs, adjoint=False):
        return array_ops.squeeze(self.solve(array_ops.expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """The x with A x = rhs, for vectors."""
        with self._name_scope(name):
            rhs = ops.convert_to_tensor(rhs, name="rhs")
            self._check_type(rhs)
            tensor_shape.dimension_at_index(self.shape, -1 if adjoint else -2).assert_is_compatible_with(
                rhs.shape[-1])
            return self._solvevec(rhs, adjoint=adjoint)

    # Operators made of it

    def _adjoint(self):
        from penstock._src.ops.linear_operators import products
        return products.LinearOperatorAdjoint(self, **self.hints())

    def hints(self):
        """Its hints, as arguments for another operator that has them too."""
        return dict(is_non_singular=self.is_non_singular, is_self_adjoint=self.is_self_adjoint,
                    is_positive_definite=self.is_positive_definite, is_square=self.is_square)

    def adjoint(self, name="adjoint"):
        """The operator A^H: itself if it is known to be self-adjoint."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return self._adjoint()

    H = property(adjoint, None)

    def _inverse(self):
        from penstock._src.ops.linear_operators import products
        return products.LinearOperatorInversion(self, **self.hints())

    def inverse(self, name="inverse"):
        """The operator A^-1. ValueError: it is known to be singular or not square."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return self._inverse()

    def _cholesky(self):
        from penstock._src.ops.linear_operators import dense
        return dense.LinearOperatorLowerTriangular(gen.cholesky(self.to_dense()), is_non_singular=True,
                                                   is_self_adjoint=False, is_square=True)

    def cholesky(self, name="cholesky"):
        """The lower triangular operator L with L L^H = A.

        ValueError: A is not known to be positive definite and self-adjoint.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return self._cholesky()

    # Elements

    def _to_dense(self):
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        n = tensor_shape.dimension_value(self.domain_dimension)
        n = self.domain_dimension_tensor() if n is None else n
        return self.matmul(linalg_ops.eye(num_rows=n, batch_shape=batch, dtype=self.dtype))

    def to_dense(self, name="to_dense"):
        """The matrices as a tensor of shape [..., M, N]."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self):
        return array_ops.matrix_diag_part(self.to_dense())

    def diag_part(self, name="diag_part"):
        """The diagonals, [..., min(M, N)]."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name="trace"):
        """The sums of the diagonals, of the batch shape."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def add_to_tensor(self, x, name="add_to_tensor"):
        """A + x."""
        with self._name_scope(name):
            x = ops.convert_to_tensor(x, name="x")
            self._check_type(x)
            return self._add_to_tensor(x)

    def _add_to_matrix(self, mat, name="add_to_tensor"):
        """A + mat."""
        return LinearOperator.add_to_tensor(self, mat, name)

    def _eigvals(self):
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return linalg_ops.self_adjoint_eigvals(self.to_dense())

    def eigvals(self, name="eigvals"):
        """The eigenvalues of a self-adjoint operator."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._name_scope(name):
            return self._eigvals()

    def cond(self, name="cond"):
        """The greatest over the least singular value."""
        with self._name_scope(name):
            values = linalg_ops.svd(self.to_dense(), compute_uv=False)
            return math_ops.reduce_max(values, axis=-1) / math_ops.reduce_min(values, axis=-1)


dispatch.register("linear_operators", hooks.Hook("linear_operators.dispatch"))
