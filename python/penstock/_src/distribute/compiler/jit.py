"""tf.xla.experimental.jit_scope: operations are marked for XLA's compiler, which is not there, so they run as ever."""
import contextlib

from penstock._src.graph import ops
from penstock._src.graph.conversion import executing_eagerly
from penstock.proto import attr_value_pb2

_SCOPE_KEY = ("__xla_scope",)


class _Scopes:
    """How many scopes a graph has seen and how deep in them it is."""

    def __init__(self, count, depth):
        self.count = count
        self.depth = depth


@contextlib.contextmanager
def experimental_jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """Context manager that marks the operations built under it for compilation.

    compile_ops: a bool, or a function of the NodeDef that gives one. RuntimeError in eager mode.
    """
    if executing_eagerly():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it "
                           "inside tf.function.")

    def flag(value):
        return attr_value_pb2.AttrValue(b=bool(value))

    attributes = {
        "_XlaCompile": (lambda node: flag(compile_ops(node))) if callable(compile_ops) else flag(compile_ops),
        "_XlaSeparateCompiledGradients": flag(separate_compiled_gradients),
    }
    found = ops.get_collection_ref(_SCOPE_KEY)
    if not found:
        found.append(_Scopes(0, 0))
    scopes = found[0]
    if scopes.depth == 0:  # an inner scope is compiled together with the outermost one
        attributes["_XlaScope"] = attr_value_pb2.AttrValue(s=b"jit_scope_%d" % scopes.count)
        scopes.count += 1
    scopes.depth += 1
    try:
        with ops.get_default_graph()._attr_scope(attributes):
            yield
    finally:
        scopes.depth -= 1
