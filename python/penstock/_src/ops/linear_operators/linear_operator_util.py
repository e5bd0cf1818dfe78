"""What linear operators share: hints, checks, products and solutions over batches that are stretched."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.state import variables

__all__ = [
    "assert_compatible_matrix_dimensions", "assert_no_entries_with_modulus_zero", "assert_zero_imag_part",
    "broadcast_matrix_batch_dims", "cholesky_solve_with_broadcast", "convert_nonref_to_tensor", "is_ref",
    "matrix_solve_with_broadcast", "matrix_triangular_solve_with_broadcast", "shape_tensor",
    "use_operator_or_provided_hint_unless_contradicting",
]


def is_ref(x):
    """Whether x is a variable, whose value is read when it is needed."""
    return isinstance(x, variables.Variable)


def convert_nonref_to_tensor(value, dtype=None, name=None):
    """A tensor; variables stay what they are."""
    if value is None or is_ref(value):
        return value
    return ops.convert_to_tensor(value, dtype=dtype, name=name)


def shape_tensor(shape, name=None):
    """A shape, or a size, as a tensor."""
    empty = isinstance(shape, (tuple, list)) and not shape
    return ops.convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name=name)


def use_operator_or_provided_hint_unless_contradicting(operator, hint_attr_name, provided_hint_value, message):
    """The operator's own hint or the given one; ValueError if they contradict each other."""
    own, given = getattr(operator, hint_attr_name), provided_hint_value
    if (own is False and given) or (own and given is False):
        raise ValueError(message)
    if own or given:
        return True
    return False if own is False or given is False else None


def assert_no_entries_with_modulus_zero(x, message=None, name="assert_no_entries_with_modulus_zero"):
    """An operation that fails if an element is zero."""
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        zero = ops.convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return check_ops.assert_less(zero, math_ops.abs(x), message=message)


def assert_zero_imag_part(x, message=None, name="assert_zero_imag_part"):
    """An operation that fails if an element has an imaginary part; real types never have."""
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.base_dtype.is_floating:
            return control_flow_ops.no_op()
        zero = ops.convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return check_ops.assert_equal(zero, math_ops.imag(x), message=message)


def assert_compatible_matrix_dimensions(operator, x):
    """An operation that fails unless `x` has as many rows as the operator has columns."""
    return check_ops.assert_equal(
        array_ops.shape(x)[-2], operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator")


def broadcast_matrix_batch_dims(matrices, name=None):
    """Matrices with their batches stretched to one shape."""
    with ops.name_scope(name or "broadcast_matrix_batch_dims", values=matrices):
        check_ops.assert_proper_iterable(matrices)
        matrices = [ops.convert_to_tensor(m) for m in matrices]
        for m in matrices:
            if m.shape.ndims is not None and m.shape.ndims < 2:
                raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {m}")
        if len(matrices) < 2:
            return matrices
        known = matrices[0].shape[:-2]
        for m in matrices[1:]:
            known = array_ops.broadcast_static_shape(known, m.shape[:-2])
        if known.is_fully_defined():
            batch = known.as_list()
            matrices = [m if m.shape[:-2] == known else
                        gen.broadcast_to(m, array_ops.concat([batch, array_ops.shape(m)[-2:]], axis=0))
                        for m in matrices]
            return matrices
        batch = array_ops.shape(matrices[0])[:-2]
        for m in matrices[1:]:
            batch = array_ops.broadcast_dynamic_shape(batch, array_ops.shape(m)[:-2])
        return [gen.broadcast_to(m, array_ops.concat([batch, array_ops.shape(m)[-2:]], axis=0)) for m in matrices]


def cholesky_solve_with_broadcast(chol, rhs, name=None):
    """`cholesky_solve` whose batch dimensions broadcast."""
    with ops.name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        return linalg_ops.cholesky_solve(*broadcast_matrix_batch_dims([chol, rhs]))


def matrix_solve_with_broadcast(matrix, rhs, adjoint=False, name=None):
    """`matrix_solve` whose batch dimensions broadcast."""
    with ops.name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix = ops.convert_to_tensor(matrix, name="matrix")
        rhs = ops.convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        return gen.matrix_solve(*broadcast_matrix_batch_dims([matrix, rhs]), adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix, rhs, lower=True, adjoint=False, name=None):
    """`matrix_triangular_solve` whose batch dimensions broadcast."""
    with ops.name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix = ops.convert_to_tensor(matrix, name="matrix")
        rhs = ops.convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        return gen.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)
