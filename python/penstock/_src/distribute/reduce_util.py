"""How the values of replicas become one."""
import enum


class ReduceOp(enum.Enum):
    """The sum or the mean of the values of all replicas."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The ReduceOp that says the same as a VariableAggregation. ValueError if there is none."""
        for reduce_op in ReduceOp:
            if getattr(aggregation, "name", aggregation) == reduce_op.value:
                return reduce_op
        raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to `tf.distribute.ReduceOp` "
                         "type")


def as_reduce_op(value):
    """A ReduceOp of itself or its name, in either case. ValueError: it is none."""
    return value if isinstance(value, ReduceOp) else ReduceOp(str(value).upper())
