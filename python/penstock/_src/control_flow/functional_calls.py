"""If, While, For, Gradient and calls of functions, as single operations."""
from penstock._src.graph import dtypes
from penstock._src.function import defun
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops
from penstock._src.base import nest


def _output_types(f):
    return [arg.type for arg in f.definition.signature.output_arg]


def _in_host_memory(op, inputs, outputs):
    """Marks inputs and outputs that stay in host memory."""
    from penstock import proto
    value = proto.message("tensorflow.AttrValue")
    for name, indices in (("_input_hostmem", inputs), ("_output_hostmem", outputs)):
        op._set_attr(name, value(list=value.ListValue(i=indices)))


def If(cond, inputs, then_branch, else_branch, name=None):
    """What `then_branch(inputs)` or `else_branch(inputs)` returns: functions made by Defun, or traces of tf.functions,
    whose result has the structure of what they return."""
    if hasattr(then_branch, "structured_outputs"):
        types = [out.dtype for out in then_branch.outputs]
        results = getattr(gen, "if")(cond, inputs, types, then_branch, else_branch, name=name)
        return nest.pack_sequence_as(then_branch.structured_outputs, results, expand_composites=True)
    return getattr(gen, "if")(cond, inputs, _output_types(then_branch), then_branch, else_branch, name=name)


def Gradient(inputs, f, name=None):
    """The gradients of `f`'s arguments; `inputs` are its arguments and then the gradients of its results."""
    types = [arg.type for arg in f.definition.signature.input_arg]
    return gen.symbolic_gradient(input=inputs, Tout=types, f=f, name=name)


def _carrying_captures(func):
    """A loop body that hands on what `func` captures."""
    @defun.Defun(*func.declared_input_types, func_name=f"{func.name}_Wrapper")
    def Wrapper(*args):
        result = func(*args)
        extra = tuple(defun.get_extra_args())
        if isinstance(result, ops.Operation):
            return extra
        return (result if isinstance(result, tuple) else (result,)) + extra

    return Wrapper


def While(input_, cond, body, name=None, hostmem=None):
    """Calls `body` with its own results, beginning with `input_`, for as long as `cond` of them holds."""
    if cond.captured_inputs:
        raise ValueError("While op 'cond' argument must be a function without implicitly captured inputs.")
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError("While op 'cond' and 'body' signatures do not match. %r vs %r" %
                         (cond.declared_input_types, body.declared_input_types))
    captured = body.captured_inputs
    if captured:
        declared = len(body.declared_input_types)

        @defun.Defun(*list(body.declared_input_types) + [t.dtype for t in captured],
                        func_name=f"{cond.name}_Wrapper")
        def CondWrapper(*args):
            return cond(*args[:declared])

        result = getattr(gen, "while")(list(input_) + list(captured), CondWrapper, _carrying_captures(body), name=name)
        result = result[:-len(captured)]
    else:
        result = getattr(gen, "while")(input_, cond, body, name=name)
    if hostmem:
        _in_host_memory(result[0].op, hostmem, hostmem)
    return result


def _for_using_while(start, limit, delta, inputs, body, name, hostmem):
    step = math_ops.abs(delta)
    n = math_ops.cast(math_ops.cast((math_ops.abs(limit - start) + step - 1), dtypes.float32) /
                      math_ops.cast(step, dtypes.float32), dtypes.int32)
    types = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    @defun.Defun(*types, func_name=f"{body.name}_Cond")
    def WhileCond(i, n, *args):
        return i < n

    @defun.Defun(*types, func_name=f"{body.name}_Body")
    def WhileBody(i, n, start, delta, *args):
        result = body(start + i * delta, *args)
        if isinstance(result, ops.Operation):
            result = ()
        elif isinstance(result, ops.Tensor):
            result = (result,)
        return (i + 1, n, start, delta) + tuple(result)

    hostmem = [0, 1, 2, 3] + [4 + i for i in hostmem or ()]
    results = While(input_=[0, n, start, delta] + list(inputs), cond=WhileCond, body=WhileBody, name=name,
                    hostmem=hostmem)
    return list(results[4:])


def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):
    """Calls `body(i, values)` with its own results, beginning with `inputs`, for i in range(start, limit, delta)."""
    if rewrite_with_while:
        return _for_using_while(start, limit, delta, inputs, body, name, hostmem)
    captured = body.captured_inputs
    build = getattr(gen, "for")
    if captured:
        result = build(start, limit, delta, list(inputs) + list(captured), _carrying_captures(body), name=name)
        result = result[:-len(captured)]
    else:
        result = build(start, limit, delta, inputs, body, name=name)
    if hostmem:
        _in_host_memory(result[0].op, [3 + i for i in hostmem], hostmem)
    return result


def partitioned_call(args, f, tout=None, executing_eagerly=None, config=None, executor_type=None):
    """What `f(args)` returns; `f` may place its operations on several devices."""
    tout = _output_types(f) if tout is None else tout
    build = gen.stateful_partitioned_call if f.stateful_ops else gen.partitioned_call
    result = build(args=args, Tout=tout, f=f, config_proto=config or b"", executor_type=executor_type or "")
    return result if result is not None and result != [] else None
