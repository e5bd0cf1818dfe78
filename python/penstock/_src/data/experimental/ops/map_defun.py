"""A function of each row of tensors."""
from penstock._src.graph import gen, ops, tensor_shape


def map_defun(fn, elems, output_dtypes, output_shapes, max_intra_op_parallelism=1):
    """What a function made by defun gives for the rows of the tensors `elems`, as rows of tensors."""
    for name, value in (("elems", elems), ("output_dtypes", output_dtypes), ("output_shapes", output_shapes)):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` must be a list.")
    function = fn._get_concrete_function_internal()
    elems = [ops.convert_to_tensor(e) for e in elems]
    shapes = [tensor_shape.TensorShape(s) for s in output_shapes]
    return gen.map_defun(elems, function.captured_inputs, output_dtypes, shapes, function, max_intra_op_parallelism)
