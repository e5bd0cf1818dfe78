"""Loops whose iterations do not depend on each other, run at once."""
from penstock._src.parallel_for.control_flow_ops import for_loop
from penstock._src.parallel_for.control_flow_ops import pfor
from penstock._src.parallel_for.control_flow_ops import vectorized_map
from penstock._src.parallel_for.gradients import batch_jacobian
from penstock._src.parallel_for.gradients import jacobian

__all__ = ["batch_jacobian", "for_loop", "jacobian", "pfor", "vectorized_map"]
