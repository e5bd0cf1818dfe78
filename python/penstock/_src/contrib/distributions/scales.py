"""The scale of vectors, which is given in parts, as a linear operator."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops, control_flow_ops

__all__ = ["make_diag_scale", "make_tril_scale"]


def _tensors(*named):
    return [None if value is None else ops.convert_to_tensor(value, name=name) for name, value in named]


def _checked(x, diag, validate_args, assert_positive):
    if not validate_args:
        return x
    if assert_positive:
        check = check_ops.assert_positive(diag, message="diagonal part must be positive")
    else:
        check = check_ops.assert_none_equal(diag, array_ops.zeros([], x.dtype),
                                            message="diagonal part must be non-zero")
    return control_flow_ops.with_dependencies([check], x)


def make_tril_scale(loc=None, scale_tril=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None,
                    validate_args=False, assert_positive=False, name=None):
    """The sum of a lower triangle, a diagonal and a multiple of the identity, of those that are given, as a
    LinearOperator; the identity of the size of `loc`, or of `shape_hint`, if none is. ValueError without a size."""
    if scale_tril is None:
        return make_diag_scale(loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive,
                               name)
    from penstock._src.ops.linear_operators import dense
    with ops.name_scope(name, "make_tril_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        tril, diag, multiplier = _tensors(("scale_tril", scale_tril), ("scale_diag", scale_diag),
                                          ("scale_identity_multiplier", scale_identity_multiplier))
        tril = gen.matrix_band_part(tril, -1, 0)
        tril_diag = array_ops.matrix_diag_part(tril)
        if diag is not None:
            tril_diag += diag
        if multiplier is not None:
            tril_diag += multiplier[..., None]
        tril = _checked(array_ops.matrix_set_diag(tril, tril_diag), tril_diag, validate_args, assert_positive)
    return dense.LinearOperatorLowerTriangular(
        tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=assert_positive)


def make_diag_scale(loc=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None, validate_args=False,
                    assert_positive=False, name=None):
    """`make_tril_scale` without a triangle."""
    from penstock._src.ops.linear_operators import diagonal
    with ops.name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc, diag, multiplier = _tensors(("loc", loc), ("scale_diag", scale_diag),
                                         ("scale_identity_multiplier", scale_identity_multiplier))
        if diag is not None:
            if multiplier is not None:
                diag += multiplier[..., None]
            return diagonal.LinearOperatorDiag(
                _checked(diag, diag, validate_args, assert_positive), is_non_singular=True, is_self_adjoint=True,
                is_positive_definite=assert_positive)
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        if shape_hint is None:
            shape_hint = size(loc, -1)
        if multiplier is None:
            return diagonal.LinearOperatorIdentity(
                shape_hint, dtype=loc.dtype.base_dtype, is_self_adjoint=True, is_positive_definite=True,
                assert_proper_shapes=validate_args)
        return diagonal.LinearOperatorScaledIdentity(
            shape_hint, _checked(multiplier, multiplier, validate_args, assert_positive), is_non_singular=True,
            is_self_adjoint=True, is_positive_definite=assert_positive, assert_proper_shapes=validate_args)


def size(x, axis):
    """The size of an axis: a number if it is known, else a tensor."""
    known = x.shape.with_rank_at_least(-axis).as_list()[axis] if x.shape.ndims is not None else None
    return array_ops.shape(x)[axis] if known is None else known


def low_rank(loc, tril, diag, identity_multiplier, factor, factor_diag, validate_args, assert_positive=False):
    """The scale of `make_tril_scale`, plus factor @ diag(factor_diag) @ transpose(factor) if there is a factor."""
    factor, factor_diag = _tensors(("perturb_factor", factor), ("perturb_diag", factor_diag))
    scale = make_tril_scale(loc, tril, diag, identity_multiplier, None if factor is None else size(factor, -2),
                            validate_args, assert_positive)
    if factor is None:
        return scale
    from penstock._src.ops.linear_operators import updates
    return updates.LinearOperatorLowRankUpdate(
        scale, u=factor, diag_update=factor_diag, is_diag_update_positive=factor_diag is None, is_non_singular=True,
        is_self_adjoint=True, is_positive_definite=True, is_square=True)
