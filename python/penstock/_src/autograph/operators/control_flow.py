"""if, while and for: Python's own, or the graph's where a tensor of a graph decides.

State: the variables that a statement changes, as functions that read and set them all; `symbol_names` names them.
"""
import numpy as np

from penstock._src.autograph.operators import containers
from penstock._src.autograph.operators import variables
from penstock._src.graph import conversion
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph.tensor import Tensor
from penstock._src.base import nest


_SCALARS = (bool, int, float, str, np.ndarray, np.generic)  # what a loop makes a tensor of
PYTHON_MAX_ITERATIONS = 100000000  # a loop of Python's that runs longer while a function is traced is a mistake


def _symbolic(x):
    return isinstance(x, Tensor) and not x._is_eager


def _as_output(x):
    """What stands for a value among the outputs of the graph's control flow; None if no tensor can."""
    if x is None or variables.is_undefined(x):
        return None
    if isinstance(x, Tensor):
        return x
    if _is_array(x):
        return x.flow
    try:
        return conversion.convert_to_tensor(x)
    except (TypeError, ValueError, UnboundLocalError):
        return None


def _is_value(x):
    """Whether a value can be an output of the graph's control flow."""
    return _as_output(x) is not None


def _is_array(x):
    """Whether it is a TensorArray."""
    return not isinstance(x, Tensor) and hasattr(x, "flow") and hasattr(x, "handle")


def _condition(cond, what):
    """A condition as a scalar. ValueError: it is no bool, or has several elements."""
    more = ""
    if cond.dtype.base_dtype != dtypes.bool:
        more = "to use as boolean Tensor, use `tf.cast`; "
    elif cond.shape.rank == 0:
        return cond
    elif cond.shape.rank is None or all(d in (None, 1) for d in cond.shape.as_list()):
        from penstock._src.graph import gen
        return gen.reshape(cond, [])
    raise ValueError(f"condition of {what} expected to be `tf.bool` scalar, got {cond}; {more}to check for None, use "
                     "`is not None`")


# if


def if_stmt(cond, body, orelse, get_state, set_state, symbol_names=None, nouts=None, **unused):
    """if cond: body() else: orelse(). The first `nouts` symbols are needed afterwards.

    Without names: see functional."""
    if nouts is None:
        from penstock._src.autograph.operators import functional
        return functional.if_stmt(cond, body, orelse, get_state, set_state)
    if _symbolic(cond):
        cond = _condition(cond, "if statement")
        results = tensor_cond(cond, body, orelse, get_state, set_state, symbol_names, nouts)
        set_state(results + tuple(get_state())[nouts:])
    elif cond:
        body()
    else:
        orelse()


def tensor_cond(cond, body, orelse, get_state, set_state, symbol_names, nouts):
    """What the first symbols are after one branch or the other, which a tensor chooses."""
    from penstock._src.control_flow import cond as cond_ops
    start = get_state()
    contents = containers.Contents(start)
    seen, objects = [], []

    def branch(function, which):
        def run():
            set_state(start)
            contents.restore()
            function()
            values = tuple(get_state())
            values = values if nouts is None else values[:nouts]
            flat = []
            for name, value in zip(symbol_names, values):
                if variables.is_undefined(value):
                    if isinstance(value, variables.UndefinedReturnValue):
                        raise ValueError(f"the {which} branch must also have a return statement. A value must also be "
                                         f"returned from the {which} branch. If a value is returned from one branch "
                                         "of a conditional a value must be returned from all branches.")
                    raise ValueError(f"{name!r} must also be initialized in the {which} branch")
                flat.append(containers.copied(value))
            objects.append(values)
            leaves = [nest.flatten(value, expand_composites=True) for value in flat]
            seen.append((flat, leaves, [[_as_output(x) for x in group] for group in leaves]))
            if len(seen) == 2:
                _check_alike(symbol_names, *seen)
            return [t for group in seen[-1][2] for t in group if t is not None] or [conversion.convert_to_tensor(0)]
        return run

    try:
        results = iter(cond_ops.cond(cond, branch(body, "main"), branch(orelse, "else"), strict=True))
    finally:
        set_state(start)
        contents.restore()
    first, leaves, tensors = seen[0]
    flat = [x if t is None else _like(x, next(results)) for group, made in zip(leaves, tensors)
            for x, t in zip(group, made)]
    return _in_place(start, nest.pack_sequence_as(first, flat, expand_composites=True), [
        a is b is old for a, b, old in zip(*objects, start)])


def _check_alike(names, main, other):
    """Whether what a conditional's branches give can be one variable each. ValueError, TypeError: it names the bad."""
    for name, a, b, *parts in zip(names, main[0], other[0], main[1], other[1], main[2], other[2]):
        for which, given, lacking in (("else", a, b), ("main", b, a)):
            for element in containers.missing(name, given, lacking):
                raise ValueError(f"'{element}' must also be initialized in the {which} branch")
        try:
            nest.assert_same_structure(a, b, expand_composites=True)
        except (TypeError, ValueError) as e:
            raise TypeError(f"{name!r} must have the same nested structure in the main and else branches:\n\n{e}") \
                from None
        if (a is None) != (b is None):
            raise ValueError(f"{name!r} is None at the end of the {'main' if a is None else 'else'} branch.")
        for x, y, t, u in zip(*parts):
            if t is not None and u is not None:
                if t.dtype.base_dtype != u.dtype.base_dtype:
                    raise TypeError(f"{name!r} has dtype {t.dtype.name} in the main branch, but dtype {u.dtype.name} "
                                    "in the else branch")
            elif t is not None or u is not None or x is not y and x != y:
                raise TypeError(f"{name!r} is {x!r} in the main branch, but {y!r} in the else branch; both must give "
                                "tensors or the same value")


def _in_place(start, results, same):
    """Results, in the lists and dicts that were there before where they are still the `same` objects."""
    return tuple(containers.refilled(old, new) if kept and type(old) in (list, dict) and type(new) is type(old) else new
                 for old, new, kept in zip(start, results, same))


def _like(pattern, tensor):
    if _is_array(pattern):
        from penstock._src.control_flow import tensor_array_ops
        return tensor_array_ops.build_ta_with_new_flow(pattern, tensor)
    return tensor


# while


def while_stmt(test, body, get_state, set_state, symbol_names=None, opts=None, init_vars=None, **unused):
    """while test(): body(). With `init_vars`: see functional."""
    if init_vars is not None:
        from penstock._src.autograph.operators import functional
        return functional.while_stmt(test, body, get_state, set_state, init_vars, opts)
    first = test()
    if _symbolic(first):
        _tensor_while(test, body, get_state, set_state, symbol_names, opts)
        return
    count = 0
    while first:
        body()
        count += 1
        if count > PYTHON_MAX_ITERATIONS:
            raise ValueError("iteration limit exceeded")
        first = test()
        if _symbolic(first):
            raise NotImplementedError("The condition of while loop started as non-Tensor, then changed to Tensor. This "
                                      "may happen either because variables changed type, or when a break or return "
                                      "statement inside the loop depends on a Tensor condition. In both cases, "
                                      "changing to a TF loop should remove the error.")


def _tensor_while(test, body, get_state, set_state, symbol_names, opts, probe=None, began=None):
    """`probe`: what shows of which kind the variables are that only the body gives a value; the body itself if None.
    `began`: whether the last iteration did anything; all do if None."""
    from penstock._src.control_flow import while_loop
    carried = [i for i, value in enumerate(get_state()) if not _holds_objects(value)]
    if len(carried) < len(symbol_names):  # lists and dicts of objects stay Python's
        def put(values):
            state = list(get_state())
            for i, value in zip(carried, values):
                state[i] = value
            set_state(tuple(state))

        _tensor_while(test, body, lambda: tuple(get_state()[i] for i in carried), put,
                      tuple(symbol_names[i] for i in carried), opts, probe, began)
        return
    invariants = _by_name(opts, symbol_names, get_state)
    start, late, failure = _with_probed(tuple(get_state()), probe or body, get_state, set_state, symbol_names,
                                        invariants)
    if late:
        _while_that_must_run(late, start, test, body, get_state, set_state, symbol_names,
                             {**(opts or {}), "shape_invariants": tuple(invariants.items())}, began)
        return
    before, start = start, _checked_start(start, symbol_names, failure)
    same = [True] * len(start)

    def loop_test(*state):
        set_state(state)
        return _condition(conversion.convert_to_tensor(test()), "while loop")

    def loop_body(*state):
        set_state(state)
        body()
        values = tuple(get_state())
        same[:] = [a is b for a, b in zip(values, state)]
        return _checked_end(values, state, symbol_names, invariants)

    options = {k: v for k, v in (opts or {}).items() if k in ("parallel_iterations", "maximum_iterations",
                                                             "swap_memory", "back_prop") and v is not None}
    if not start:  # a loop must carry something
        result = while_loop.while_loop(lambda _: loop_test(), lambda i: (loop_body(), i)[1:], [
            conversion.convert_to_tensor(0)], **options)
        del result
        return
    if invariants:
        options["shape_invariants"] = tuple(
            _invariant(invariants[name], value) if name in invariants else
            nest.map_structure(_shape_of, value)
            for name, value in zip(symbol_names, start))
    results = while_loop.while_loop(loop_test, loop_body, start, return_same_structure=True, **options)
    set_state(_in_place(before, results, same))


def _by_name(opts, symbol_names, get_state):
    """{variable's name: its shape, or those of its parts} of an option that may name variables or, if it was put
    together elsewhere, hold what they or their parts have been before the loop."""
    invariants = {}
    for key, shape in (opts or {}).get("shape_invariants") or ():
        if isinstance(key, str):
            invariants[key] = shape
            continue
        for name, value in zip(symbol_names, get_state()):
            if value is key:
                invariants[name] = shape
            elif isinstance(value, (list, dict, tuple)) and any(part is key for part in nest.flatten(value)):
                known = invariants.get(name) or nest.map_structure(_shape_of, value)
                invariants[name] = nest.map_structure(lambda part, old: shape if part is key else old, value, known)
    return invariants


def _shape_of(value):
    return value.shape if isinstance(value, Tensor) else tensor_shape.TensorShape(None)


def _invariant(given, value):
    """Shapes of the parts of a variable."""
    if nest.is_sequence(value):
        return nest.map_structure_up_to(value, tensor_shape.as_shape, given)
    return tensor_shape.as_shape(given)


def _holds_objects(value):
    """Whether it is a list or dict with values that no tensor can hold."""
    if type(value) not in (list, dict):
        return False
    try:
        return not all(map(_is_value, nest.flatten(value, expand_composites=True)))
    except TypeError:  # keys that have no order
        return True


def _while_that_must_run(late, start, test, body, get_state, set_state, names, opts, began):
    """A loop that gives the variables `late` their first values: InvalidArgumentError if it ends before it began."""
    from penstock._src.graph import gen
    from penstock._src.graph import ops
    from penstock._src.control_flow import control_flow_ops
    ran = [conversion.convert_to_tensor(False)]

    def step():
        body()
        ran[0] = conversion.convert_to_tensor(True) if began is None else gen.logical_or(ran[0], began())

    def get_all():
        return (*get_state(), ran[0])

    def set_all(state):
        set_state(tuple(state[:-1]))
        ran[0] = state[-1]

    set_state(start)
    _tensor_while(test, step, get_all, set_all, (*names, "whether the loop ran"), opts)
    unset = ", ".join(late.values())
    check = control_flow_ops.Assert(ran[0], [f"loop must iterate at least once to initialize {unset}"])
    with ops.control_dependencies([check]):
        set_state(tuple(nest.map_structure(gen.identity, value) if name in late else value
                        for name, value in zip(names, get_state())))


def _with_probed(start, body, get_state, set_state, names, invariants):
    """(the state before a loop, with zeros for variables that only the body gives a value; these variables' names, with
    what messages call them; why they could not be found, or None).

    Their kind is found by building the body once for nothing."""
    if not any(value is None or variables.is_undefined(value) or type(value) is dict for value in start):
        return start, {}, None
    from penstock._src.function import func_graph
    from penstock._src.core_ops import array_ops
    contents = containers.Contents(start)
    probe = func_graph.FuncGraph("loop_body")

    def changing(value):
        """What stands for a variable, of which more is known before the loop than in it."""
        if isinstance(value, _SCALARS):
            value = conversion.convert_to_tensor(value)
        if not isinstance(value, Tensor):
            return value
        inner = array_ops.placeholder(value.dtype, value.shape)
        func_graph.copy_handle_data(value, inner)
        return inner

    with probe.as_default():
        inner = nest.map_structure(changing, start)
        set_state(inner)
        try:
            body()
            after = tuple(get_state())
        except (UnboundLocalError, TypeError, ValueError, KeyError) as e:  # it needs a value that nothing has given
            return start, {}, e
        finally:
            set_state(start)
            contents.restore()
    made, late = [], {}
    for name, value, found, given in zip(names, start, after, inner):
        lacking = containers.missing(name, found, value) if found is given else []  # what was set in a dict
        if lacking and all(map(_is_tensor_like, nest.flatten(found))):
            with probe.as_default():
                found = nest.map_structure(conversion.convert_to_tensor, found)
            late[name] = ", ".join(lacking)
            containers.complete(value, found, _zeros_like_inner)
        elif (value is None or variables.is_undefined(value)) and all(map(_is_tensor_like, nest.flatten(found))):
            with probe.as_default():
                found = nest.map_structure(conversion.convert_to_tensor, found)
            shapes = [t.shape for t in nest.flatten(found)]
            if not all(s.is_fully_defined() for s in shapes):
                invariants.setdefault(name, nest.pack_sequence_as(found, shapes) if nest.is_sequence(found)
                                      else shapes[0])
            late[name] = "the function return value" if isinstance(value, variables.UndefinedReturnValue) else name
            value = nest.map_structure(_zeros_like_inner, found)
        elif isinstance(value, variables.UndefinedReturnValue):
            raise ValueError("the return value from a TensorFlow loop may only be a Tensor, int, float, bool or a "
                             f"list, tuple or dict thereof; got {type(found)}")
        made.append(value)
    return tuple(made), late, None


def _zeros_like_inner(tensor):
    """Zeros in this graph of the type and, as far as known, the shape of a tensor of another."""
    from penstock._src.core_ops import array_ops
    known = () if tensor.shape.rank is None else tensor.shape.as_list()
    return array_ops.zeros([d or 0 for d in known], dtype=tensor.dtype)


def _is_tensor_like(x):
    """Whether zeros can stand for it: a tensor, or what becomes one."""
    return _is_value(x) and (isinstance(x, Tensor) or not hasattr(x, "flow"))


def _checked_start(state, names, failure):
    made = []
    for name, value in zip(names, state):
        if isinstance(value, variables.UndefinedReturnValue):
            raise NotImplementedError("a return statement cannot be placed inside this TensorFlow loop; this may "
                                      "happen if a return statement depends on a static Python condition such as "
                                      "a hyperparameter")
        if variables.is_undefined(value):
            why = "" if failure is None else ("\nNote: AutoGraph tried to define it automatically, but ran into a "
                                              f"{type(failure).__name__}: {failure}")
            raise ValueError(f"{name!r} must be defined before the loop{why}")
        if value is None:
            raise ValueError(f"{name!r} is not allowed to be None before the loop")
        made.append(nest.map_structure(_as_loop_value, value))
    return tuple(made)


def _as_loop_value(x):
    if isinstance(x, Tensor) or _is_array(x) or getattr(x, "_is_composite_tensor", 0):
        return x
    return conversion.convert_to_tensor(x)


def _checked_end(state, start, names, invariants):
    made = []
    for name, value, before in zip(names, state, start):
        if value is None or variables.is_undefined(value):
            raise ValueError(f"{name!r} is None at the end of the iteration." if value is None else
                             f"{name!r} must be defined at the end of the loop body.")
        try:
            nest.assert_same_structure(before, value, expand_composites=False)
        except (TypeError, ValueError) as e:
            raise TypeError(f"{name!r} does not have the same nested structure after one iteration.\n\n{e}") from None
        after = nest.map_structure(lambda v, b: _like_before(name, v, b, name in invariants), value, before)
        made.append(after)
    return tuple(made)


def _like_before(name, value, before, shape_may_change):
    if not isinstance(before, Tensor):
        return value
    if not isinstance(value, Tensor):
        value = conversion.convert_to_tensor(value)
    if value.dtype.base_dtype != before.dtype.base_dtype:
        raise TypeError(f"{name!r} has dtype {before.dtype.name} before the loop, but dtype {value.dtype.name} after "
                        "one iteration. TensorFlow control flow requires it stays the same.")
    if shape_may_change:
        return value
    if not before.shape.is_compatible_with(value.shape) or before.shape.rank is not None and (
            value.shape.rank is None or any(a is not None and b is None for a, b in zip(
                before.shape.as_list(), value.shape.as_list()))):
        raise _shape_changed(name, before.shape, value.shape)
    return value


def _shape_changed(name, before, after):
    """ValueError: a variable is of another shape after an iteration; `shape` is what both have in common."""
    error = ValueError(f"{name!r} has shape {before} before the loop, but shape {after} after one iteration. Use "
                       "tf.autograph.experimental.set_loop_options to set shape invariants.")
    error.variable, error.shape = name, before.most_specific_compatible_shape(after)
    return error


# for


def for_stmt(iter_, extra_test, body, get_state, set_state, symbol_names=None, opts=None, init_vars=None, **unused):
    """for x in iter_: body(x), as long as extra_test() holds. With `init_vars`: see functional."""
    if init_vars is not None:
        from penstock._src.autograph.operators import functional
        return functional.for_stmt(iter_, extra_test, body, get_state, set_state, init_vars, opts)
    if _symbolic(iter_):
        _tensor_for(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
        return
    if hasattr(iter_, "__ag_for_stmt__"):
        iter_.__ag_for_stmt__(extra_test, body, get_state, set_state, symbol_names, opts)
        return
    python_for(iter_, extra_test, body)


def python_for(iter_, extra_test, body):
    """Python's own loop."""
    if extra_test is not None and _stopped(extra_test):
        return
    for item in iter_:
        body(item)
        if extra_test is not None and _stopped(extra_test):
            return


def _stopped(extra_test):
    more = extra_test()
    if _symbolic(more):
        raise NotImplementedError("break and return statements which depend on a TF condition are not supported in "
                                  "Python for loops. Did you intend to make it a TF loop?")
    return not more


def _tensor_for(values, extra_test, body, get_state, set_state, symbol_names, opts):
    """Over the rows of a tensor; over a tf.range, without making its tensor."""
    from penstock._src.graph import gen
    from penstock._src.core_ops import array_ops
    if values.op.type == "Range":
        begin, limit, delta = values.op.inputs
        index = [begin]

        def more():
            return gen.logical_or(gen.logical_and(gen.greater_equal(delta, gen.zeros_like(delta)),
                                                  gen.less(index[0], limit)),
                                  gen.logical_and(gen.less(delta, gen.zeros_like(delta)),
                                                  gen.greater(index[0], limit)))

        def item():
            return index[0]
    else:
        if values.shape.rank == 0:
            raise ValueError(f"Cannot iterate over a scalar tensor: {values}")
        rows = None if values.shape.rank is None else values.shape.as_list()[0]
        rows_for(array_ops.shape(values)[0] if rows is None else rows, lambda i: array_ops.gather(values, i),
                 extra_test, body, get_state, set_state, symbol_names, opts)
        return
    _counted_for(index, delta, more, item, extra_test, body, get_state, set_state, symbol_names, opts,
                 (opts or {}).get("iterate_names"))


def rows_for(count, row, extra_test, body, get_state, set_state, symbol_names, opts):
    """Over row(0) to row(count - 1)."""
    from penstock._src.graph import gen
    index, limit = [conversion.convert_to_tensor(0)], conversion.convert_to_tensor(count)
    _counted_for(index, conversion.convert_to_tensor(1), lambda: gen.less(index[0], limit), lambda: row(index[0]),
                 extra_test, body, get_state, set_state, symbol_names, opts)


def _counted_for(index, delta, more, item, extra_test, body, get_state, set_state, symbol_names, opts, target=None):
    """As long as `more` and `extra_test` hold, body(item()) and the next index. `target`: the loop's, where that is the
    index."""
    from penstock._src.graph import gen

    def test():
        if extra_test is None:
            return more()
        from penstock._src.autograph.operators import logical
        return logical.and_(more, extra_test)

    def step():
        body(item())
        index[0] = gen.add_v2(index[0], delta)

    def get_all():  # the target of a loop over no numbers is where the range begins
        return (index[0], *(index[0] if name == target and variables.is_undefined(value) else value
                            for name, value in zip(symbol_names, get_state())))

    def set_all(state):
        index[0] = state[0]
        set_state(tuple(state[1:]))

    _tensor_while(test, step, get_all, set_all, ("the iterate", *symbol_names), opts)


def iterator_for(iterator, extra_test, body, get_state, set_state, symbol_names, opts):
    """Over the elements of a dataset's iterator, as long as there is a next one. As in a reduction of the dataset, the
    variables' shapes become less specific where an iteration changes them."""
    found, begin = [conversion.convert_to_tensor(True)], tuple(get_state())
    invariants = _by_name(opts, symbol_names, get_state)

    def test():
        if extra_test is None:
            return found[0]
        from penstock._src.autograph.operators import logical
        return logical.and_(lambda: found[0], extra_test)

    def step():
        # The iterator is asked here and not for the loop's condition: a loop that was left takes no further element.
        element = iterator.get_next_as_optional()
        found[0] = element.has_value()
        set_state(tensor_cond(found[0], lambda: body(element.get_value()), lambda: None, get_state, set_state,
                              symbol_names, None))

    def get_all():
        return (found[0], *get_state())

    def set_all(state):
        found[0] = state[0]
        set_state(tuple(state[1:]))

    while True:
        try:
            _tensor_while(test, step, get_all, set_all, ("the iterate", *symbol_names),
                          {**(opts or {}), "shape_invariants": tuple(invariants.items())},
                          lambda: body(iterator.get_next()), lambda: found[0])
            return
        except ValueError as changed:
            name = getattr(changed, "variable", None)
            if name in invariants or not isinstance(dict(zip(symbol_names, begin)).get(name), Tensor):
                raise
            invariants[name] = changed.shape
            found[0] = conversion.convert_to_tensor(True)
            set_state(begin)
