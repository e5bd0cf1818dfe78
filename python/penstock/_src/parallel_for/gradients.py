"""Jacobians by pfor."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.gradient import gradients_impl
from penstock._src.parallel_for import control_flow_ops
from penstock._src.base import nest


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The derivative of each element of `output` by each input; None where it does not depend on one."""
    flat = nest.flatten(inputs)
    shape = array_ops.shape(output)
    elements = array_ops.reshape(output, [-1])

    def row(i):
        return gradients_impl.gradients(array_ops.gather(elements, i), flat)

    count = output.shape.num_elements()
    rows = _run(row, array_ops.shape(elements)[0] if count is None else count, flat, use_pfor, parallel_iterations)
    for i, made in enumerate(rows):
        if made is not None:
            rows[i] = array_ops.reshape(made, array_ops.concat([shape, array_ops.shape(made)[1:]], axis=0))
            rows[i].set_shape(output.shape.concatenate(flat[i].shape))
    return nest.pack_sequence_as(inputs, rows)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """For each element along the first dimension the derivative of `output` by `inp`, which depend on each other only
    within it."""
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match.")
    if output.shape[1:].is_fully_defined():
        count = output.shape[1:].num_elements()
    else:
        count = array_ops.size(output) // array_ops.shape(output)[0]
    shape = array_ops.shape(output)
    with ops.control_dependencies([check_ops.assert_equal(shape[0], array_ops.shape(inp)[0])]):
        elements = array_ops.reshape(output, [shape[0], count])

    def row(i):
        return gradients_impl.gradients(array_ops.gather(elements, i, axis=1), inp)

    made, = _run(row, count, [inp], use_pfor, parallel_iterations)
    if made is None:
        return None
    made = array_ops.reshape(made, [count, array_ops.shape(inp)[0], -1])
    made = array_ops.reshape(array_ops.transpose(made, [1, 0, 2]),
                             array_ops.concat([shape, array_ops.shape(inp)[1:]], axis=0))
    made.set_shape(output.shape.concatenate(inp.shape[1:]))
    return made


def _run(row, count, inputs, use_pfor, parallel_iterations):
    if use_pfor:
        try:
            return control_flow_ops.pfor(row, count, parallel_iterations=parallel_iterations)
        except ValueError as e:
            if "not supported" not in str(e):
                raise
    return control_flow_ops.for_loop(row, [t.dtype for t in inputs], count, parallel_iterations=parallel_iterations)
