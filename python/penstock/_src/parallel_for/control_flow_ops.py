"""for_loop, pfor and vectorized_map."""
import functools

from penstock._src.graph import composite_tensor
from penstock._src.function import func_graph as func_graph_module
from penstock._src.graph import ops
from penstock._src.graph import tensor_spec
from penstock._src.graph import tensor_util
from penstock._src.graph import type_spec
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.parallel_for import conversion
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import tf_logging as logging
from penstock._src.base import function_utils
from penstock._src.base import nest


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """What `loop_fn(i)` returns for i in range(iters), stacked along a new first dimension; one after the other.

    loop_fn_dtypes: the types of what it returns, in its structure.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise TypeError(f"`parallel_iterations` must be a positive integer; got {parallel_iterations}")
    types = nest.flatten(loop_fn_dtypes)
    packed = nest.is_sequence(loop_fn_dtypes)
    none = set()

    def body(i, *arrays):
        results = loop_fn(i)
        flat = nest.flatten(results) if packed else [results]
        if len(flat) != len(types):
            raise ValueError(f"loop_fn returned {len(flat)} values, but there are {len(types)} dtypes")
        written, must_run = [], []
        for place, (array, value) in enumerate(zip(arrays, flat)):
            if value is None or isinstance(value, ops.Operation):
                none.add(place)
                must_run += [] if value is None else [value]
                written.append(array)
            else:
                value = ops.convert_to_tensor(value)
                written.append(array.write(i, array_ops.expand_dims(value, 0)))
        with ops.control_dependencies(must_run):
            return (i + 1, *written)

    iters = ops.convert_to_tensor(iters, dtype="int32")
    if iters._is_eager and int(iters) == 0:
        return pfor(loop_fn, iters)  # for the shapes
    arrays = tuple(tensor_array_ops.TensorArray(t, size=iters) for t in types)
    loop = while_loop(lambda i, *_: i < iters, body, (0, *arrays), parallel_iterations=parallel_iterations or 10)
    count = tensor_util.constant_value(iters)
    results = []
    for place, array in enumerate(loop[1:]):
        if place in none:
            results.append(None)
            continue
        value = array.concat()
        if count is not None and value.shape.ndims is not None:
            value.set_shape([int(count)] + value.shape.as_list()[1:])
        results.append(value)
    return nest.pack_sequence_as(loop_fn_dtypes, results) if packed else results[0]


class PForConfig:
    """What `loop_fn` of pfor gets as its argument `pfor_config`, if it has one: reductions over all iterations."""

    def __init__(self):
        self._gathered = set()

    def reduce(self, fn, *args):
        """`fn` of tensors of all iterations: it gets each of `args` with a further first dimension."""
        return fn(*[self.reduce_concat(x) for x in args])

    def reduce_concat(self, x):
        """`x` of all iterations, along a new first dimension."""
        x = ops.convert_to_tensor(x)
        shape = None if x.shape.ndims is None else [None, *x.shape.as_list()]
        made = array_ops.placeholder_with_default(array_ops.expand_dims(x, 0), shape)
        self._gathered.add(made._op)
        return made

    def reduce_mean(self, x):
        """The mean of `x` over all iterations."""
        return self.reduce(lambda y: math_ops.reduce_mean(y, axis=0), x)

    def reduce_sum(self, x):
        """The sum of `x` over all iterations."""
        return self.reduce(lambda y: math_ops.reduce_sum(y, axis=0), x)


def _takes_config(loop_fn):
    if isinstance(loop_fn, functools.partial):
        return _takes_config(loop_fn.func)
    return "pfor_config" in function_utils.fn_args(loop_fn)


def pfor(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None, warn=False):
    """What `loop_fn(i)` returns for i in range(iters), stacked along a new first dimension: traced once, and each of
    its operations run once for all iterations. What cannot be run so is run in a loop, if `fallback_to_while_loop`.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError("Argument `parallel_iterations` must be None or a positive integer. "
                         f"Received: {parallel_iterations}.")
    if parallel_iterations is not None and _takes_config(loop_fn):
        raise ValueError("Setting `parallel_iterations` currently unsupported when reductions across iterations are "
                         "performed.")
    if parallel_iterations == 1:
        raise ValueError("Found `parallel_iterations == 1`. Use `for_loop` instead.")
    if ops.executing_eagerly():
        return _as_function(lambda: _pfor(loop_fn, iters, fallback_to_while_loop, parallel_iterations, warn))
    return _pfor(loop_fn, iters, fallback_to_while_loop, parallel_iterations, warn)


def _as_function(build):
    """What `build` makes in a function's graph: in one too where functions are run eagerly, which this overrides."""
    from penstock._src.tf_function import def_function
    eagerly = def_function.functions_run_eagerly()
    if eagerly:
        logging.warning("tf.function is disabled, perhaps by tf.config.run_functions_eagerly. Parallel loops need it, "
                        "and enable it while they are built.")
        def_function.run_functions_eagerly(False)
    try:
        return def_function.function(build, autograph=False)()
    finally:
        if eagerly:
            def_function.run_functions_eagerly(True)


def _pfor(loop_fn, iters, fallback, parallel_iterations, warn):
    iters = ops.convert_to_tensor(iters, dtype="int32")
    gathered = ()
    if _takes_config(loop_fn):
        config = PForConfig()
        loop_fn, gathered = functools.partial(loop_fn, pfor_config=config), config._gathered
    body = _body(loop_fn)
    made = conversion.Conversion(body, iters, fallback, parallel_iterations, warn, gathered=gathered).run()
    flat = nest.flatten(body.structured_outputs, expand_composites=True)
    made = iter(made)
    results = [None if x is None else next(made) for x in flat]
    return nest.pack_sequence_as(body.structured_outputs, results, expand_composites=True)


def _body(loop_fn):
    """What loop_fn does: in the graph itself, where it can take derivatives of what is there; as a function where all
    that is in the graph runs, and if it has control flow."""
    def dense(i):
        return nest.map_structure(lambda x: ops.convert_to_tensor(x) if isinstance(x, ops.IndexedSlices) else x,
                                  loop_fn(i))

    graph, section = ops.get_default_graph(), None
    if not graph.building_function:
        section = conversion.Section(dense)
        if not section.has_control_flow():
            return section
    try:
        return func_graph_module.func_graph_from_py_func(
            "pfor_body", dense, [], {}, signature=[tensor_spec.TensorSpec([], "int32", "index")],
            add_control_dependencies=graph._add_control_dependencies,
            func_graph=func_graph_module.FuncGraph("pfor_body", collections=graph._collections))
    except NotImplementedError:
        if section is None:
            raise
        return section  # what depends on the iteration may have no part in it


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """`fn` of each element of the tensors `elems` along their first dimension, stacked; all of them at once.

    Elements may not depend on each other. Tensors whose first dimension is 1 serve for all. Values of extension types
    are taken apart into elements along their first dimension too.
    """
    if any(isinstance(x, composite_tensor.CompositeTensor) for x in nest.flatten(elems)):
        kinds = nest.map_structure(lambda x: type_spec.type_spec_from_value(
            x if isinstance(x, composite_tensor.CompositeTensor) else ops.convert_to_tensor(x)), elems)
        tensors = [t for kind, x in zip(nest.flatten(kinds), nest.flatten(elems))
                   for t in kind._to_batched_tensor_list(x)]
        return vectorized_map(lambda parts: fn(_elements(kinds, parts)), tensors, fallback_to_while_loop, warn)
    elems = nest.map_structure(ops.convert_to_tensor, elems, expand_composites=True)
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError("elems must be a Tensor or a non-empty structure of Tensors")
    known = [t.shape.as_list()[0] if t.shape.ndims else None for t in flat]
    sizes = {n for n in known if n is not None}
    if len(sizes - {1}) > 1:
        raise ValueError(f"The number of elements of `elems` differ: {sorted(sizes)}")
    several = len(sizes - {1}) == 1 or None in known and sizes == {1}
    shared = [several and n == 1 for n in known]
    several_tensors = len(flat) > 1
    if sizes and not (several and not sizes - {1}):
        count = max(sizes)
    else:
        count = math_ops.reduce_max(array_ops.stack([array_ops.shape(t)[0] for t in flat]))

    def loop_fn(i):
        def element(t, n, once):
            if once:
                return t[0]
            if n is None and several_tensors:
                return array_ops.gather(t, array_ops.where(math_ops.equal(array_ops.shape(t)[0], 1), 0, i))
            return array_ops.gather(t, i)
        return fn(nest.pack_sequence_as(elems, [element(*each) for each in zip(flat, known, shared)]))

    try:
        return pfor(loop_fn, count, fallback_to_while_loop=fallback_to_while_loop, warn=warn)
    except conversion.NotConvertible as e:
        if not fallback_to_while_loop:
            raise ValueError(str(e)) from e
        if warn:
            logging.warning("vectorized_map runs its function in a loop: %s", e)
        from penstock._src.control_flow.map_fn import map_fn
        types = _types_of(fn, elems)
        return map_fn(fn, elems, dtype=types)


def _elements(kinds, tensors):
    """One element of each of the values of these kinds, made of its tensors."""
    tensors = iter(tensors)

    def one(kind):
        element = kind._unbatch()
        return element._from_compatible_tensor_list([next(tensors) for _ in element._flat_tensor_specs])
    return nest.map_structure(one, kinds)


def _types_of(fn, elems):
    signature = [nest.map_structure(lambda t: tensor_spec.TensorSpec(t.shape[1:], t.dtype), elems)]
    body = func_graph_module.func_graph_from_py_func("map_body", fn, [], {}, signature=signature)
    return nest.map_structure(lambda t: t.dtype, body.structured_outputs)
