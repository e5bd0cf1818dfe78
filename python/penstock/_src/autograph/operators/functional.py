"""The operators of control flow for code that passes variables as arguments and results, as version 1.15's conversion
wrote it. State beside the variables is read and set by functions."""
from penstock._src.autograph.operators import control_flow


class _Variables:
    """The variables of a statement, and the state beside them, as one state."""

    def __init__(self, values, get_state, set_state):
        self.values = tuple(values)
        self._count = len(self.values)
        self._get, self._set = get_state, set_state

    def get(self):
        return self.values + (tuple(self._get()) if self._get is not None else ())

    def put(self, state):
        self.values = tuple(state[:self._count])
        if self._set is not None:
            self._set(tuple(state[self._count:]))

    def names(self):
        return tuple(f"variable {i}" for i in range(len(self.get())))

    def take(self, result):
        self.values = () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)


def for_stmt(iter_, extra_test, body, get_state, set_state, init_vars, opts=None):
    """The last values of the variables."""
    variables = _Variables(init_vars, get_state, set_state)
    test = None if extra_test is None else lambda: extra_test(*variables.values)
    control_flow.for_stmt(iter_, test, lambda item: variables.take(body(item, *variables.values)), variables.get,
                          variables.put, variables.names(), opts or {})
    return variables.values


def while_stmt(test, body, get_state, set_state, init_vars, opts=None):
    """The last values of the variables."""
    variables = _Variables(init_vars, get_state, set_state)
    control_flow.while_stmt(lambda: test(*variables.values), lambda: variables.take(body(*variables.values)),
                            variables.get, variables.put, variables.names(), opts or {})
    return variables.values


def if_stmt(cond, body, orelse, get_state, set_state):
    """What the branch that is taken gives."""
    single = []

    def branch(function):
        def run():
            result = function()
            single.append(not isinstance(result, (tuple, list)))
            variables.take(result)
        return run

    variables = _Variables((), get_state, set_state)
    if not control_flow._symbolic(cond):
        return body() if cond else orelse()
    start = tuple(get_state()) if get_state is not None else ()
    results = control_flow.tensor_cond(cond, branch(body), branch(orelse), variables.get,
                                       lambda state: set_state(start) if set_state is not None else None,
                                       _Names(), None)
    values = results[:len(results) - len(start)]
    if set_state is not None:
        set_state(results[len(results) - len(start):])
    return values[0] if single[0] and values else values


class _Names:
    """As many names as there are results."""

    def __iter__(self):
        number = 0
        while True:
            yield f"result {number}"
            number += 1
