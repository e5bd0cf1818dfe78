"""MetaGraphDef messages: a graph with its collections, for writing and reading again."""
import os
import re

from penstock._src.graph import graph as graph_module
from penstock._src.checkpoint import graph_io
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import versions
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock._src.base import compat

_UNBOUND_INPUT_PREFIX = "$unbound_inputs_"
_SAVE_OPS = {"SaveV2", "Save", "SaveSlice", "LegacySave", "LegacySaveSlice", "RestoreV2", "Restore", "RestoreSlice",
             "LegacyRestore", "LegacyRestoreSlice"}


def _message(name):
    from penstock import proto
    return proto.message("tensorflow." + name)


def _named_by(node):
    """The op of a node, and the functions among its attributes."""
    yield node.op
    for value in node.attr.values():
        for function in [value.func, *value.list.func]:
            if function.name:
                yield function.name


def ops_used_by_graph_def(graph_def):
    """The names of the ops in a GraphDef and in those of its functions that it calls."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used, called, todo = set(), set(), [graph_def.node]
    while todo:
        for node in todo.pop():
            for name in _named_by(node):
                if name in functions and name not in called:
                    called.add(name)
                    todo.append(functions[name].node_def)
            if node.op not in functions:
                used.add(node.op)
    return list(used)


def stripped_op_list_for_graph(graph_def):
    """The OpList of the ops in a GraphDef. ValueError if one is unknown."""
    result = _message("OpList")()
    for op in sorted(ops_used_by_graph_def(graph_def)):
        definition = graph_module.core_op_def(op)
        if definition is None:
            if op not in ("_Arg", "_Retval", "_ListToArray", "_ArrayToList"):
                raise ValueError(f"Op {op} is used by the graph, but is not registered")
        else:
            made = result.op.add()
            made.ParseFromString(definition.proto())
            for part in (made, *made.input_arg, *made.output_arg, *made.attr):
                part.ClearField("description")
            made.ClearField("summary")
    return result


def _default_attrs(op_type):
    definition = graph_module.core_op_def(op_type)
    if definition is None:
        return {}
    message = _message("OpDef").FromString(definition.proto())
    return {a.name: a.default_value for a in message.attr if a.HasField("default_value")}


def strip_graph_default_valued_attrs(meta_graph_def):
    """Removes attributes that hold their default, so that older programs can read the graph."""
    functions = {f.signature.name for f in meta_graph_def.graph_def.library.function}
    nodes = list(meta_graph_def.graph_def.node)
    for function in meta_graph_def.graph_def.library.function:
        nodes.extend(function.node_def)
    for node in nodes:
        if node.op not in functions:
            defaults = _default_attrs(node.op)
            for name in [n for n, v in node.attr.items() if n in defaults and v == defaults[n]]:
                del node.attr[name]
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def _kind_of(item):
    """The field of a CollectionDef for such items."""
    if isinstance(item, (str, bytes)):
        return "bytes_list"
    if isinstance(item, int):
        return "int64_list"
    if isinstance(item, float):
        return "float_list"
    return "any_list" if getattr(getattr(item, "DESCRIPTOR", None), "full_name",
                                 "") == "google.protobuf.Any" else "node_list"


def _included(item, export_scope, exclude_nodes):
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if name is None:
        return True
    if exclude_nodes and name in exclude_nodes:
        return False
    return name.startswith(_UNBOUND_INPUT_PREFIX) or not export_scope or name.startswith(export_scope)


def add_collection_def(meta_graph_def, key, graph=None, export_scope=None, exclude_nodes=None, override_contents=None):
    """Adds one collection to a MetaGraphDef; what cannot be written is left out with a warning."""
    if graph is not None and not isinstance(graph, ops.Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if not isinstance(key, (str, bytes)):
        logging.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    graph = graph or ops.get_default_graph()
    items = [x for x in override_contents or graph.get_collection(key) if _included(x, export_scope, exclude_nodes)]
    if not items:
        return
    try:
        collection = meta_graph_def.collection_def[key]
        to_proto = ops.get_to_proto_function(key)
        if to_proto:
            messages = [to_proto(x, export_scope=export_scope) for x in items]
            collection.bytes_list.value.extend(m.SerializeToString() for m in messages if m)
            return
        kind = _kind_of(items[0])
        if kind == "node_list":
            items = [ops.strip_name_scope(x.name, export_scope) for x in items
                     if not export_scope or x.name.startswith(export_scope)]
        elif kind == "bytes_list":
            items = [compat.as_bytes(x) for x in items]
        values = getattr(collection, kind).value
        if kind == "any_list":
            for x in items:  # which may be of a class of another descriptor pool
                values.add().MergeFromString(x.SerializeToString())
        else:
            values.extend(items)
    except Exception as e:
        logging.warning("Collection %s is not written, since its items are of no kind that a CollectionDef holds: %s",
                        key, e)
        meta_graph_def.collection_def.pop(key, None)


def create_meta_graph_def(meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, graph=None,
                          export_scope=None, exclude_nodes=None, clear_extraneous_savers=False,
                          strip_default_attrs=False):
    """A MetaGraphDef of a graph. TypeError: an argument is of the wrong kind."""
    for value, kind, name in ((graph, ops.Graph, "graph"), (graph_def, _message("GraphDef"), "graph_def"),
                              (saver_def, _message("SaverDef"), "saver_def"),
                              (meta_info_def, _message("MetaGraphDef.MetaInfoDef"), "meta_info_def")):
        if value and not isinstance(value, kind):
            raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value)}")
    graph = graph or ops.get_default_graph()
    result = _message("MetaGraphDef")()
    if meta_info_def:
        result.meta_info_def.CopyFrom(meta_info_def)
    result.meta_info_def.tensorflow_version = versions.__version__
    result.meta_info_def.tensorflow_git_version = versions.__git_version__
    result.graph_def.CopyFrom(graph_def or graph.as_graph_def(add_shapes=True))
    if not result.meta_info_def.stripped_op_list.op:
        result.meta_info_def.stripped_op_list.CopyFrom(stripped_op_list_for_graph(result.graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(result)
    if saver_def:
        result.saver_def.CopyFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        override = None
        if clear_extraneous_savers and key == ops.GraphKeys.SAVERS:
            override = [ops.get_from_proto_function(key)(saver_def)]
        add_collection_def(result, key, graph, export_scope, exclude_nodes, override)
    return result


def _read(cls, filename):
    if not gfile.Exists(filename):
        raise OSError(f"File {filename} does not exist.")
    with gfile.GFile(filename, "rb") as file:
        content = file.read()
    from google.protobuf import message, text_format
    try:
        return cls.FromString(content)
    except message.DecodeError:
        pass
    try:
        return text_format.Merge(content.decode(), cls())
    except (text_format.ParseError, UnicodeDecodeError) as e:
        raise OSError(f"Cannot parse file {filename}: {e}.") from None


def read_meta_graph_file(filename):
    """The MetaGraphDef in a file, binary or text. IOError if there is none."""
    return _read(_message("MetaGraphDef"), filename)


# Writing


def _scoped_node(target, source, export_scope, unbound, clear_devices):
    """A node whose names have lost the scope; inputs from outside of it are marked as unbound."""
    target.CopyFrom(source)
    for i, text in enumerate(source.input):
        if export_scope and not text.lstrip("^").startswith(export_scope):
            mark, rest = re.match(r"(\^?)(.*)", text).groups()
            target.input[i] = mark + _UNBOUND_INPUT_PREFIX + rest
            unbound.append(target.input[i])
        else:
            target.input[i] = ops.strip_name_scope(text, export_scope)
    target.name = ops.strip_name_scope(source.name, export_scope)
    if "_class" in source.attr:
        groups = [s for s in source.attr["_class"].list.s
                  if not export_scope or s.decode().partition("@")[2].startswith(export_scope)]
        del target.attr["_class"].list.s[:]
        target.attr["_class"].list.s.extend(compat.as_bytes(ops.strip_name_scope(s, export_scope)) for s in groups)
    if source.op in ("Enter", "RefEnter") and "frame_name" in source.attr:
        frame = source.attr["frame_name"].s.decode()
        if not export_scope or frame.startswith(export_scope):
            target.attr["frame_name"].s = compat.as_bytes(ops.strip_name_scope(frame, export_scope))
    if clear_devices:
        target.device = ""


def _op_of(name):
    return name.lstrip("^").partition(":")[0]


def _extraneous_saver_nodes(graph_def, saver_def):
    """Names of nodes of savers other than `saver_def`."""
    savers = {n.name for n in graph_def.node if n.op in _SAVE_OPS}
    scopes = {name.rpartition("/")[0] for name in savers} - savers
    if saver_def is not None:
        scopes -= {_op_of(saver_def.save_tensor_name).rpartition("/")[0],
                   _op_of(saver_def.restore_op_name).rpartition("/")[0]}
    return {n.name for n in graph_def.node if any(n.name.startswith(s + "/") for s in scopes)}


def export_scoped_meta_graph(filename=None, graph_def=None, graph=None, export_scope=None, as_text=False,
                             unbound_inputs_col_name="unbound_inputs", clear_devices=False, saver_def=None,
                             clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False, **kwargs):
    """(MetaGraphDef, {name without scope: variable}) of a graph or of a name scope of it; written to `filename` if
    given."""
    graph = graph or ops.get_default_graph()
    exclude, unbound = None, []
    if export_scope or clear_extraneous_savers or clear_devices:
        source = graph_def or graph.as_graph_def(add_shapes=True)
        if clear_extraneous_savers:
            exclude = _extraneous_saver_nodes(source, saver_def)
        graph_def = _message("GraphDef")()
        graph_def.versions.CopyFrom(source.versions)
        graph_def.library.CopyFrom(source.library)
        for node in source.node:
            if _included(node.name, export_scope, exclude):
                _scoped_node(graph_def.node.add(), node, export_scope, unbound, clear_devices)
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
    variables = {ops.strip_name_scope(v.name, export_scope): v
                 for v in graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
                 if _included(v, export_scope, exclude)}
    result = create_meta_graph_def(graph_def=graph_def, graph=graph, export_scope=export_scope, exclude_nodes=exclude,
                                   clear_extraneous_savers=clear_extraneous_savers, saver_def=saver_def,
                                   strip_default_attrs=strip_default_attrs, **kwargs)
    if filename:
        graph_io.write_graph(result, os.path.dirname(filename) or ".", os.path.basename(filename), as_text=as_text)
    return result, variables


# Reading


def import_scoped_meta_graph(meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
                             unbound_inputs_col_name="unbound_inputs", restore_collections_predicate=lambda key: True):
    """Adds a MetaGraphDef's graph and collections; returns {name without scope: variable}."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name,
        restore_collections_predicate)[0]


def _check_unbound(meta_graph_def, name, input_map):
    if not name or name not in meta_graph_def.collection_def:
        return
    collection = meta_graph_def.collection_def[name]
    kind = collection.WhichOneof("kind")
    values = [compat.as_str(v) for v in getattr(collection, kind).value] if kind else []
    if values and (not input_map or sorted(values) != sorted(input_map)):
        missing = ",".join(v for v in values if not input_map or v not in input_map)
        raise ValueError(f"Graph contains unbound inputs: {missing}. Must provide these inputs through input_map.")


def import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
        unbound_inputs_col_name="unbound_inputs", restore_collections_predicate=lambda key: True, return_elements=None):
    """import_scoped_meta_graph that also returns the tensors and operations named in `return_elements`. ValueError if
    inputs from outside of the exported scope are not in `input_map`."""
    meta = meta_graph_or_file
    if isinstance(meta, (str, bytes)) or hasattr(meta, "__fspath__"):
        meta = read_meta_graph_file(compat.path_to_str(meta))
    _check_unbound(meta, unbound_inputs_col_name, input_map)
    graph = graph or ops.get_default_graph()
    with graph.as_default():
        producer_ops = meta.meta_info_def.stripped_op_list if meta.meta_info_def.HasField("stripped_op_list") else None
        graph_def = meta.graph_def
        if clear_devices:
            for node in graph_def.node:
                node.device = ""
        if meta.meta_info_def.stripped_default_attrs:
            _fill_in_defaults(graph_def)
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        if not import_scope and not graph.get_name_scope():
            scope = ""
        returned = importer.import_graph_def(graph_def, name=import_scope or scope, input_map=input_map,
                                             producer_op_list=producer_ops, return_elements=return_elements)
        first = ops.GraphKeys.TRAINABLE_VARIABLES  # so that variables know that they are trainable
        made = {}
        for key in sorted(meta.collection_def, key=lambda k: (k != first, k)):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                trainable = key == first if _lacks_trainable(meta) else None
                _restore_collection(graph, key, meta.collection_def[key], scope, made, trainable)
        variables = {ops.strip_name_scope(v.name, scope): v
                     for v in graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope=scope or None)}
    return variables, returned


def _fill_in_defaults(graph_def):
    """Gives nodes the attributes that were left out when they had their default values. Callers see the change."""
    defaults = {}
    for node in graph_def.node:
        if node.op not in defaults:
            defaults[node.op] = _default_attrs(node.op).items()
        for name, value in defaults[node.op]:
            if name not in node.attr:
                node.attr[name].CopyFrom(value)


def _lacks_trainable(meta):
    """Whether it was written before TensorFlow 1.9, when variables did not say whether they are trainable."""
    written = re.match(r"1\.([0-8])(\D|$)|0\.", meta.meta_info_def.tensorflow_version)
    return written is not None


def _restore_collection(graph, key, collection, scope, made, trainable=None):
    """Adds the items of one collection. `made` keeps the variables that several collections share; `trainable`: what
    they are, if they do not say."""
    kind = collection.WhichOneof("kind")
    if kind is None:
        logging.error("Cannot identify data type for collection %s. Skipping.", key)
        return
    source = ops.GraphKeys.GLOBAL_VARIABLES if key == ops.GraphKeys.METRIC_VARIABLES else key
    from_proto = ops.get_from_proto_function(source)
    values = getattr(collection, kind).value
    if from_proto and kind == "bytes_list":
        cls = ops.get_collection_proto_type(source)
        shared = key in ops.GraphKeys._VARIABLE_COLLECTIONS
        for value in values:
            item = made.get(value) if shared else None
            if item is None:
                message = cls.FromString(value)
                if shared and trainable is not None:
                    message.trainable = trainable
                item = from_proto(message, import_scope=scope)
                if shared:
                    made[value] = item
            graph.add_to_collection(key, item)
        return
    for value in values:
        if kind == "node_list":
            value = graph.as_graph_element(ops.prepend_name_scope(value, scope))
        elif kind == "int64_list":
            value = int(value)
        elif isinstance(value, (str, bytes)):
            value = ops.prepend_name_scope(value, scope)
        graph.add_to_collection(key, value)


def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None, to_graph=None):
    """Copies what is under one name scope to another; returns {name without scope: variable}. ValueError if they are
    the same."""
    from_graph = from_graph or ops.get_default_graph()
    to_graph = to_graph or ops.get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    meta, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(meta, graph=to_graph, import_scope=to_scope)


def _register():
    from penstock._src.function import control_flow_context
    control_flow_context.register_contexts()


_register()
