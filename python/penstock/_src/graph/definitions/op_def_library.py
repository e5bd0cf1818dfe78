"""OpDefLibrary: operations by the name of their op, with arguments by the names in its definition."""
from penstock._src.graph.definitions import op_call


class OpDefLibrary:
    """All ops that the runtime knows."""

    def apply_op(self, op_type_name, name=None, **keywords):
        """Adds or runs an operation; see op_call.apply_op."""
        return op_call.apply_op(op_type_name, name, **keywords)

    def _apply_op_helper(self, op_type_name, name=None, **keywords):
        info, op = op_call.apply_op_helper(op_type_name, name, **keywords)
        return info.definition, op.graph, op, info.structure(op)


_op_def_lib = OpDefLibrary()
