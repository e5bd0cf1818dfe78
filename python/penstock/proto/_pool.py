"""Makes message classes from descriptors, file by file, in one descriptor pool.

A file becomes a module with the contents of protoc's generated `*_pb2`: DESCRIPTOR, a class for each message, a wrapper
for each enum, each enum's values, and the names of its public imports.
"""
import copyreg
import types
from typing import Any

from penstock.proto import _descriptors
from penstock._src.base import locks

_lock = locks.lock()
_state = None
_found: dict[str, Any] = {}  # results of lookups, by full name


class _State:
    """The pool in use and the modules made in it. Only ever touched with the lock held."""

    def __init__(self):
        self.files = _descriptors.read(_descriptors.locate())
        self.symbols = {symbol: path for path, file in self.files.items() for symbol in file.symbols}
        self.pool = None
        self.is_default = False
        self.modules = {}


def _get_state():
    global _state
    if _state is None:
        _state = _State()
    return _state


def use_default_pool():
    """From now on classes live in protobuf's default pool and are named as TensorFlow's (tensorflow.core.…_pb2).

    Returns True if that is so, also when called again. Returns False and changes nothing if classes were already made
    in the private pool, since those would not mix with new ones. A file that the default pool already has is used as it
    is.
    """
    with _lock:
        state = _get_state()
        if state.pool is not None:
            return state.is_default
        from google.protobuf import descriptor_pool
        state.pool = descriptor_pool.Default()
        state.is_default = True
        return True


def module(path):
    """The module for a .proto file such as "tensorflow/core/framework/graph.proto"; KeyError if there is none."""
    with _lock:
        state = _get_state()
        made = state.modules.get(path)
        return made if made is not None else _make_module(state, path)


def lookup(full_name):
    """The class of a message or the wrapper of an enum by full name; KeyError if there is none."""
    found = _found.get(full_name)
    if found is None:
        found = _found[full_name] = _look_up(full_name)
    return found


def _look_up(full_name):
    with _lock:
        symbols = _get_state().symbols
        top = full_name
        rest: list[str] = []
        while top not in symbols:
            top, dot, last = top.rpartition(".")
            if not dot:
                raise KeyError(full_name)
            rest.insert(0, last)
        found = module(symbols[top])
        for name in [top.rpartition(".")[2]] + rest:
            try:
                found = getattr(found, name)
            except AttributeError:
                raise KeyError(full_name) from None
        return found


def files():
    """The .proto paths there are."""
    with _lock:
        return _get_state().files.keys()


def symbols():
    """Full names of all top-level messages, enums and services."""
    with _lock:
        return _get_state().symbols.keys()


def module_name(path):
    """Name of the generated module, as in TensorFlow's package: its copies of other modules are inside it."""
    dotted = path[:-len(".proto")].replace("/", ".") + "_pb2"
    if dotted.startswith("tsl."):
        return "tensorflow." + dotted
    if dotted.startswith("xla."):
        return "tensorflow.compiler." + dotted
    return dotted


# Classes that 1.15's module has and 2.21's imports: {path: (path of the import, name)}.
_OF_VERSION_ONE = {
    "tensorflow/core/protobuf/config.proto": (("tensorflow/core/protobuf/rpc_options.proto", "RPCOptions"),),
}


def _make_module(state, path):
    file = state.files[path]
    name = module_name(path)
    if not state.is_default:
        name = "penstock.proto." + name
    elif path.startswith("google/protobuf/"):
        import importlib
        made = state.modules[path] = importlib.import_module(name)  # these belong to protobuf itself
        return made
    # Nested modules first: the pure Python implementation requires the classes of all fields.
    imported = {dependency: module(dependency) for dependency in file.dependencies}
    made = types.ModuleType(name, f"Messages of {path}.")
    for dependency in file.public:
        made.__dict__.update((key, value) for key, value in vars(imported[dependency]).items()
                             if not key.startswith("_") and key != "DESCRIPTOR")
    for dependency, name in _OF_VERSION_ONE.get(path, ()):
        made.__dict__[name] = getattr(imported[dependency], name)
    made.__dict__["DESCRIPTOR"] = _descriptor(state, file)
    _fill_module(made)
    if state.is_default:
        _register(made)
    state.modules[path] = made
    return made


def _descriptor(state, file):
    if state.pool is None:
        from google.protobuf import descriptor_pool
        state.pool = descriptor_pool.DescriptorPool()
    try:
        return state.pool.FindFileByName(file.path)
    except KeyError:
        state.pool.AddSerializedFile(file.serialized)
        return state.pool.FindFileByName(file.path)


def _fill_module(made):
    from google.protobuf.internal import enum_type_wrapper
    contents = made.__dict__
    for name, enum in made.DESCRIPTOR.enum_types_by_name.items():
        contents[name] = enum_type_wrapper.EnumTypeWrapper(enum)
        contents["_" + name.upper()] = enum
        for value in enum.values:
            contents[value.name] = value.number
    for name, descriptor in made.DESCRIPTOR.message_types_by_name.items():
        contents[name] = _make_class(descriptor, made.__name__, name)
        _add_descriptors(contents, "_" + name.upper(), descriptor)
    for name, service in made.DESCRIPTOR.services_by_name.items():
        contents["_" + name.upper()] = service


def _register(made):
    """Tells protobuf's table of the default pool's classes, as generated modules do."""
    from google.protobuf import symbol_database
    for name in made.DESCRIPTOR.message_types_by_name:
        symbol_database.Default().RegisterMessage(getattr(made, name))


def _make_class(descriptor, module_, qualified_name):
    """The class of a message with those of the messages inside it. Returns the existing one if the pool has it."""
    from google.protobuf import message, reflection
    attributes = {"DESCRIPTOR": descriptor, "__module__": module_, "__qualname__": qualified_name}
    for name, nested in descriptor.nested_types_by_name.items():
        attributes[name] = _make_class(nested, module_, f"{qualified_name}.{name}")
    made = reflection.GeneratedProtocolMessageType(descriptor.name, (message.Message,), attributes)
    copyreg.pickle(made, _reduce)
    return made


def _reduce(message):
    return _restore, (message.DESCRIPTOR.full_name, message.SerializePartialToString())


def _restore(full_name, serialized):
    """Remakes a pickled message. protobuf's own way would look for its class in the default pool."""
    made = lookup(full_name)()
    made.MergeFromString(serialized)
    return made


def _add_descriptors(contents, prefix, descriptor):
    contents[prefix] = descriptor
    for name, enum in descriptor.enum_types_by_name.items():
        contents[f"{prefix}_{name.upper()}"] = enum
    for name, nested in descriptor.nested_types_by_name.items():
        _add_descriptors(contents, f"{prefix}_{name.upper()}", nested)
