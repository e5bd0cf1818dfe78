"""Functions of one argument that take sparse tensors too: they work on the values that are there."""
from penstock._src.graph import gen, sparse_tensor
from penstock._src.core_ops import math_arith

__all__ = ["abs", "bessel_i0e", "bessel_i1e", "erf", "negative", "sign", "sqrt", "square", "tanh"]


def _over_values(name, function, doc):
    def apply(x, name=None):
        if isinstance(x, sparse_tensor.SparseTensor):
            return sparse_tensor.SparseTensor(x.indices, function(x.values, name=name), x.dense_shape)
        return function(x, name=name)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


def _made(op_name):
    return lambda x, name=None: getattr(gen, op_name)(x, name=name)


abs = _over_values("abs", math_arith.abs, math_arith.abs.__doc__)
negative = _over_values("negative", _made("neg"), "-x, element by element.")
sign = _over_values("sign", math_arith.sign, math_arith.sign.__doc__)
square = _over_values("square", _made("square"), "x * x, element by element.")
sqrt = _over_values("sqrt", _made("sqrt"), "The square root, element by element.")
erf = _over_values("erf", _made("erf"), "The error function, element by element.")
tanh = _over_values("tanh", _made("tanh"), "The hyperbolic tangent, element by element.")
bessel_i0e = _over_values("bessel_i0e", _made("bessel_i0e"), "exp(-|x|) times the modified Bessel function of order 0.")
bessel_i1e = _over_values("bessel_i1e", _made("bessel_i1e"), "exp(-|x|) times the modified Bessel function of order 1.")
