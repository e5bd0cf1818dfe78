"""tf.gradients and tf.hessians."""
from penstock._src.graph import gen, ops
from penstock._src.core_ops import array_ops
from penstock._src.gradient import gradients_util
from penstock._src.gradient.gradients_util import AggregationMethod  # noqa: F401
from penstock._src.gradient.unconnected_gradients import UnconnectedGradients


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """The derivatives of the sum of `ys` with respect to each of `xs`.

    grad_ys: what flows into each of ys instead of ones. stop_gradients: tensors that count as constants. An x on which
    ys do not depend gives None, or zeros if `unconnected_gradients` is ZERO. LookupError if an op on the way has no
    gradient.
    """
    return gradients_util.compute(ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients,
                                  aggregation_method,
                                  stop_gradients, unconnected_gradients)


def gradients_v2(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None,
                 stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """The derivatives of the sum of `ys` with respect to each of `xs`."""
    return gradients(ys, xs, grad_ys, name, True, gate_gradients, aggregation_method, stop_gradients,
                     unconnected_gradients)


def _hessian_vector_product(ys, xs, v):
    """The Hessian of the sum of ys times the vectors v, without the Hessian."""
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    grads = gradients(ys, xs)
    products = [gen.mul(grad, gen.stop_gradient(part)) for grad, part in zip(grads, v) if grad is not None]
    return gradients(products, xs)


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False,
             aggregation_method=None):
    """The second derivatives of the sum of `ys` with respect to each of `xs`, in shape x.shape + x.shape."""
    xs = gradients_util.as_list(xs)
    how = dict(colocate_gradients_with_ops=colocate_gradients_with_ops, gate_gradients=gate_gradients,
               aggregation_method=aggregation_method)
    result = []
    for gradient, x in zip(gradients(ys, xs, **how), xs):
        count = ops.convert_to_tensor(x).get_shape().num_elements()
        if count is None:
            raise ValueError(f"The number of elements of {x} must be known for its Hessian.")
        gradient = array_ops.reshape(gradient, [-1])
        rows = [gradients(gradient[j], x, **how)[0] for j in range(count)]
        shape = array_ops.shape(x)
        result.append(array_ops.reshape(array_ops.stack(rows), array_ops.concat((shape, shape), 0)))
    return result


def HessiansV2(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """The matrices of second derivatives of the sum of `ys` with respect to each of `xs`."""
    return hessians(ys, xs, name=name, gate_gradients=gate_gradients, aggregation_method=aggregation_method)
