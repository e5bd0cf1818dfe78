"""a if c else b."""
from penstock._src.autograph.operators import control_flow
from penstock._src.graph.tensor import Tensor


def if_exp(cond, if_true, if_false, expr_repr):
    """if_true() or if_false(), by a value; by a tensor of a graph, both in a conditional."""
    if isinstance(cond, Tensor) and not cond._is_eager:
        results = []

        def get_state():
            return (results[-1],) if results else (None,)

        def branch(function):
            def run():
                results.append(function())
            return run

        return control_flow.tensor_cond(cond, branch(if_true), branch(if_false), get_state,
                                        lambda state: results.clear(), (expr_repr,), 1)[0]
    return if_true() if cond else if_false()
