"""Ops by their definitions, under the name that this package had for them."""
from penstock._src.graph.definitions.op_call import Tensor, apply_op  # noqa: F401
from penstock._src.graph.definitions.op_functions import EagerTensor, function, variables_hold_tensors  # noqa: F401
from penstock._src.graph.definitions.op_signature import op_info, snake_case, takes_reference  # noqa: F401
