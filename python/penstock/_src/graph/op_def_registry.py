"""The definitions of all ops, by name."""
from penstock import _core
from penstock._src.graph import graph
from penstock.proto import op_def_pb2

_registered: dict = {}


def get(name):
    """The OpDef message of the op of that name, or None."""
    if name not in _registered:
        definition = graph.core_op_def(name)
        if definition is None:
            return None
        _registered[name] = op_def_pb2.OpDef.FromString(definition.proto())
    return _registered[name]


def get_registered_ops():
    """{name: OpDef message} of all ops that the runtime implements, and of those registered here."""
    for name in _core.op_names():
        get(name)
    return _registered


def register_op_list(op_list):
    """Adds the ops of an OpList. TypeError for something else; ValueError for one that is known otherwise."""
    if not isinstance(op_list, op_def_pb2.OpList):
        raise TypeError("%s is %s, not an op_def_pb2.OpList" % (op_list, type(op_list)))
    for op_def in op_list.op:
        known = get(op_def.name)
        if known is None:
            _registered[op_def.name] = op_def
        elif known != op_def:
            raise ValueError("Registered op_def for %s (%s) not equal to op_def to register (%s)" %
                             (op_def.name, known, op_def))


def sync():
    """Nothing: the runtime's definitions are looked up when they are asked for."""
