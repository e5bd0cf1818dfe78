"""tensorflow.python.util.variable_utils: structures that have variables in them."""
from penstock._src.graph import ops
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.ops.state.resource_variable_ops import is_resource_variable
from penstock._src.base import nest


def convert_variables_to_tensors(values):
    """The structure with tensors in place of resource variables, also of those that composite tensors are made of."""
    def converted(x):
        if is_resource_variable(x):
            return ops.convert_to_tensor(x)
        return x._convert_variables_to_tensors() if isinstance(x, CompositeTensor) else x
    return nest.map_structure(converted, values)


def replace_variables_with_atoms(values):
    """The structure with 0 in place of resource variables, but of those within composite tensors."""
    return nest.map_structure(lambda x: 0 if is_resource_variable(x) else x, values)
