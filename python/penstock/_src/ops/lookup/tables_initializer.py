"""The operation that fills all tables of a graph."""
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops


def tables_initializer(name="init_all_tables"):
    """An operation that initializes all lookup tables of the default graph."""
    initializers = ops.get_collection(ops.GraphKeys.TABLE_INITIALIZERS)
    return control_flow_ops.group(*initializers, name=name) if initializers else control_flow_ops.no_op(name=name)
