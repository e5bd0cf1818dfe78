"""tf.saved_model.load: the objects of a SavedModel, with their variables, functions and files."""
import collections
import os

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.files import file_io
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock.proto import graph_debug_info_pb2
from penstock._src.checkpoint import constants
from penstock._src.saved_model import function_deserialization
from penstock._src.saved_model import load_options
from penstock._src.saved_model import load_v1_in_v2
from penstock._src.saved_model import loader_impl
from penstock._src.ops.state import revived_types
from penstock._src.saved_model import signature_serialization  # noqa: F401  (registers a kind of objects)
from penstock._src.saved_model import utils_impl
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.ops.state import base
from penstock._src.checkpoint import graph_view
from penstock._src.ops.state import data_structures  # noqa: F401  (registers kinds of objects)
from penstock._src.ops.state import registration
from penstock._src.ops.state import tracking
from penstock._src.checkpoint import util
from penstock._src.base import compat
from penstock._src.base import nest


def _call_attribute(instance, *args, **kwargs):
    return instance.__call__(*args, **kwargs)


def _user_object(slots=False):
    """An object of a class of its own, which may get a `__call__`."""

    class _UserObject(_RestoredOptimizer if slots else tracking.AutoTrackable):
        pass

    return _UserObject()


class _RestoredOptimizer(tracking.AutoTrackable):
    """An object that had variables beside other objects' variables."""

    _object_identifier = "optimizer"  # TensorFlow asks for it where there are such variables

    def __init__(self):
        self._slots = data_structures.NoDependency({})

    def _add_slot(self, variable, name, slot):
        self._slots[id(variable), name] = slot

    def get_slot_names(self):
        """The kinds of these variables."""
        return sorted({name for _, name in self._slots})

    def get_slot(self, var, name):
        """The one beside a variable, or None."""
        return self._slots.get((id(var), name))

    def _create_or_restore_slot_variable(self, slot_variable_position, variable, slot_name):
        slot_variable_position.restore(self.get_slot(variable, slot_name))


class Loader:
    """Makes the objects of one graph of objects, or those that are found below some paths."""

    def __init__(self, meta_graph, export_dir, options, filters=None):
        self._proto = meta_graph.object_graph_def
        self._meta_graph = meta_graph
        self._export_dir = export_dir
        self._options = options
        self._aliases = meta_graph.meta_info_def.function_aliases
        self._constants = {node.name: node for node in meta_graph.graph_def.node if node.op == "Const"}
        self._functions = function_deserialization.load_function_def_library(
            meta_graph.graph_def.library, saved_object_graph=self._proto)
        self._nodes = {}
        self._setters = {}
        self._bound = set()
        self.function_aliases = self._functions_by_alias()
        self._ids = {path: self._id(path) for path in filters or ()}
        for node_id in self._order(self._take_given(filters)):
            if node_id not in self._nodes:
                self._nodes[node_id], self._setters[node_id] = self._recreate(node_id)
        if 0 not in self._nodes:
            self._nodes[0], self._setters[0] = _user_object(), setattr  # what is loaded is restored by way of the root
        self._add_edges()
        for name in sorted(self._proto.concrete_functions):
            if all(i in self._nodes for i in self._proto.concrete_functions[name].bound_inputs):
                self._bind(name)
        self._recreate_saveables()
        if not options.experimental_skip_checkpoint:
            self._restore_checkpoint()
        self._initialize_resources()

    def get(self, node_id):
        """One of the objects; 0 is the root."""
        return self._nodes[node_id]

    def by_path(self):
        """{path of the filters: object}."""
        return {path: self._nodes[node_id] for path, node_id in self._ids.items()}

    # Which

    def _id(self, path):
        """The number of an object by its path, "root.a.b"."""
        if not isinstance(path, str):
            raise TypeError("Elements in node_filters must be strings.")
        first, *names = path.split(".")
        if first != "root":
            raise ValueError("When passing string identifiers to node_filters, the first name must be root. Received "
                             f"{first}.")
        node_id = 0
        for name in names:
            node_id = next((ref.node_id for ref in self._proto.nodes[node_id].children if ref.local_name == name), None)
            if node_id is None:
                raise ValueError(f"Unable to find node {path}.")
        return node_id

    def _take_given(self, filters):
        """Takes the objects that the program has made already; gives the numbers of all that are to be loaded."""
        if filters is None:
            return range(len(self._proto.nodes))
        for path, given in (filters.items() if isinstance(filters, dict) else ()):
            if given is not None:
                made = given if isinstance(given, tuple) else (given, setattr)
                self._nodes[self._ids[path]], self._setters[self._ids[path]] = made
        wanted, todo = set(), collections.deque(self._ids.items())
        while todo:
            path, node_id = todo.popleft()
            if node_id in wanted:
                continue
            wanted.add(node_id)
            obj = self._nodes.get(node_id)
            if obj is not None:
                if not isinstance(obj, base.Trackable):
                    raise TypeError(f"Error when processing dictionary values passed to nodes_to_load. Object at "
                                    f"{path} is expected to be a checkpointable (i.e. 'trackable') TensorFlow object "
                                    "(e.g. tf.Variable, tf.Module or Keras layer).")
                obj._maybe_initialize_trackable()
            for ref in self._proto.nodes[node_id].children:
                part = None if obj is None else obj._lookup_dependency(ref.local_name)
                if ref.node_id not in self._nodes and isinstance(part, data_structures.TrackableDataStructure):
                    self._nodes[ref.node_id], self._setters[ref.node_id] = part, _leave  # it has its elements
                todo.append((f"{path}.{ref.local_name}", ref.node_id))
        return range(len(self._proto.nodes)) if 0 in wanted else sorted(wanted)

    # Order

    def _dependencies(self, node):
        """What has to be there before an object is made."""
        found = {ref.node_id for ref in node.dependencies}
        kind = node.WhichOneof("kind")
        names = []
        if kind == "function":
            names = node.function.concrete_functions
        elif kind == "bare_concrete_function":
            names = [node.bare_concrete_function.concrete_function_name]
        elif kind == "resource":
            found.update(ref.node_id for ref in node.children if ref.local_name == "_create_resource")
        for name in names:
            found.update(self._proto.concrete_functions[name].bound_inputs)
        return found

    def _order(self, wanted):
        """Objects, each behind those that it depends on."""
        nodes, done, order = self._proto.nodes, set(), []
        for root in wanted:
            stack = [(root, iter(()))]
            entered = set()
            while stack:
                node_id, rest = stack[-1]
                if node_id not in entered:
                    if node_id in done:
                        stack.pop()
                        continue
                    if not 0 <= node_id < len(nodes):
                        raise ValueError(f"The SavedModel's object graph names a node {node_id} that it does not have.")
                    entered.add(node_id)
                    rest = iter(sorted(self._dependencies(nodes[node_id])))
                    stack[-1] = node_id, rest
                following = next((n for n in rest if n not in done), None)
                if following is None:
                    done.add(node_id)
                    order.append(node_id)
                    stack.pop()
                elif following in entered:
                    raise ValueError("Encountered a cycle in the deserialization dependencies in the SavedModel.")
                else:
                    stack.append((following, iter(())))
        return order

    # Objects

    def _recreate(self, node_id):
        """(object, how it is given its parts)."""
        node = self._proto.nodes[node_id]
        registered = registration.get_registered_class(node.registered_name)
        if registered is not None:
            obj = registered._deserialize_from_proto(
                proto=node.serialized_user_proto, object_proto=node,
                dependencies={ref.local_name: self._nodes[ref.node_id] for ref in node.dependencies},
                export_dir=self._export_dir, asset_file_def=self._meta_graph.asset_file_def,
                operation_attributes={name: dict(op.attr) for name, op in self._constants.items()})
            return obj, type(obj)._add_trackable_child if isinstance(obj, base.Trackable) else setattr
        kind = node.WhichOneof("kind")
        make = getattr(self, f"_recreate_{kind}", None)
        if make is None:
            raise ValueError(f"Unknown SavedObject type: {kind}.")
        return make(getattr(node, kind), node)

    def _recreate_user_object(self, message, node):
        known = revived_types.deserialize(message)
        return known if known is not None else (_user_object(bool(node.slot_variables)), setattr)

    def _recreate_asset(self, message, node):
        files = self._meta_graph.asset_file_def
        if not 0 <= message.asset_file_def_index < len(files):
            raise ValueError(f"The SavedModel names a file {message.asset_file_def_index} that it does not have.")
        name = loader_impl.checked_asset_name(files[message.asset_file_def_index].filename)
        asset = tracking.TrackableAsset(os.path.join(utils_impl.get_assets_dir(self._export_dir), name))
        if not ops.executing_eagerly():
            ops.add_to_collection(ops.GraphKeys.ASSET_FILEPATHS, asset.asset_path)
        return asset, setattr

    def _recreate_function(self, message, node):
        function = function_deserialization.recreate_function(message, self._functions)
        for name in message.concrete_functions:
            self._bind(name)
        self._alias_whole(message.concrete_functions, function)
        return function, setattr

    def _recreate_bare_concrete_function(self, message, node):
        function = function_deserialization.setup_bare_concrete_function(message, self._functions)
        self._bind(message.concrete_function_name)
        return function, setattr

    def _recreate_variable(self, message, node):
        device = message.device if self._options.experimental_variable_policy._save_variable_devices() else None
        synchronization, aggregation, trainable = variables.validate_synchronization_aggregation_trainable(
            variables.VariableSynchronization(message.synchronization),
            variables.VariableAggregation(message.aggregation), message.trainable,
            name=message.name or "<variable loaded from saved model>")
        with ops.device(device):
            variable = resource_variable_ops.UninitializedVariable(
                shape=tensor_shape.TensorShape(message.shape), dtype=dtypes.as_dtype(message.dtype),
                name=message.name or None, trainable=trainable, synchronization=synchronization,
                aggregation=aggregation)
        return variable, setattr

    def _recreate_constant(self, message, node):
        found = self._constants.get(message.operation)
        if found is None:
            raise ValueError(f"The SavedModel's graph has no constant named {message.operation!r}.")
        value = tensor_util.MakeNdarray(found.attr["value"].tensor)
        return constant_op.constant(value, dtypes.as_dtype(found.attr["dtype"].type)), setattr

    def _recreate_resource(self, message, node):
        resource = tracking.RestoredResource(device=message.device)
        for ref in node.children:
            if ref.local_name == "_create_resource":
                resource._create_resource = self._nodes[ref.node_id]
        return resource, setattr

    def _recreate_captured_tensor(self, message, node):
        function = self._functions.get(message.concrete_function)
        if function is None:
            raise ValueError(f"The SavedModel has no function named {message.concrete_function!r}.")
        return function.graph.get_tensor_by_name(message.name), setattr

    def _add_edges(self):
        for node_id, obj in self._nodes.items():
            for slot in self._proto.nodes[node_id].slot_variables:
                ids = slot.original_variable_node_id, slot.slot_variable_node_id
                if isinstance(obj, _RestoredOptimizer) and all(i in self._nodes for i in ids):
                    obj._add_slot(self._nodes[ids[0]], slot.slot_name, self._nodes[ids[1]])
        for node_id in sorted(self._nodes):
            node, obj, setter = self._proto.nodes[node_id], self._nodes[node_id], self._setters[node_id]
            if isinstance(obj, (ops.Tensor, function_deserialization.LoadedFunction, variables.Variable,
                                function_deserialization.RestoredFunction)):
                continue
            for ref in sorted(node.children, key=_index_of_part):
                if ref.node_id not in self._nodes:
                    continue
                setter(obj, ref.local_name, self._nodes[ref.node_id])
                if ref.local_name == "__call__" and not callable(obj):
                    type(obj).__call__ = _call_attribute

    # Functions

    def _bind(self, name):
        if name in self._bound:
            return
        self._bound.add(name)
        bound = [self._nodes[i] for i in self._proto.concrete_functions[name].bound_inputs]
        function_deserialization.named(self._functions, name).bind(bound)

    def _functions_by_alias(self):
        found = collections.defaultdict(list)
        for name, alias in self._aliases.items():
            if name in self._functions:
                found[alias].append(self._functions[name])
            else:
                logging.warning("ConcreteFunction `%s` is listed in function alias but it is not found.", name)
        return dict(found)

    def _alias_whole(self, names, function):
        """An alias of all traces of a function is one of the function."""
        aliases = {self._aliases.get(name) for name in names} if names else {None}
        if len(aliases) == 1 and None not in aliases:
            alias, = aliases
            named = {f.name for f in self.function_aliases[alias]} if isinstance(
                self.function_aliases[alias], list) else None
            if named == {self._functions[name].name for name in names}:
                self.function_aliases[alias] = function

    # Values

    def _recreate_saveables(self):
        """Objects with values of their own, as tables, were saved with the functions that save and restore these."""
        for node_id, obj in self._nodes.items():
            found = {name: (self._nodes[saved.save_function], self._nodes[saved.restore_function])
                     for name, saved in self._proto.nodes[node_id].saveable_objects.items()
                     if saved.save_function in self._nodes and saved.restore_function in self._nodes}
            if found:
                obj._self_saveable_functions = data_structures.NoDependency(found) if isinstance(
                    obj, tracking.AutoTrackable) else found

    def _restore_checkpoint(self):
        path = utils_impl.get_variables_path(self._export_dir)
        if not file_io.file_exists(path + ".index"):
            if any(node.WhichOneof("kind") == "variable" for node in self._proto.nodes):
                raise FileNotFoundError(f"The SavedModel has variables, and no checkpoint of them: {path}")
            return
        saver = util.TrackableSaver(graph_view.ObjectGraphView(self.get(0)))
        with ops.device("CPU"):
            saver._restore_prefix_feed = constant_op.constant(path)
        status = saver.restore(path).expect_partial()  # functions have no values
        if self._options.allow_partial_checkpoint:
            status.assert_nontrivial_match()
        else:
            status.assert_existing_objects_matched()
        if not ops.executing_eagerly():
            self._restore_when_initialized(status._checkpoint, py_checkpoint_reader.NewCheckpointReader(path))

    @staticmethod
    def _restore_when_initialized(checkpoint, reader):
        """In a graph, restoring is what initializes."""
        from penstock._src.control_flow import control_flow_ops
        for node_id, obj in dict(checkpoint.object_by_proto_id).items():
            position = base.CheckpointPosition(checkpoint, node_id)
            saver = position.get_registered_saver_name()
            if saver is not None:
                raise NotImplementedError(
                    "Loading a SavedModel that uses registered checkpoint saver is not supported in graph mode. The "
                    f"loaded object {obj} uses the saver registered with the name {saver}.")
            restore_ops = position.restore_ops()
            if not restore_ops:
                continue
            if resource_variable_ops.is_resource_variable(obj):
                obj._initializer_op = restore_ops[0] if len(restore_ops) == 1 else control_flow_ops.group(*restore_ops)
            elif isinstance(obj, tracking.CapturableResource):
                for op in restore_ops:
                    ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, op)
            else:
                raise NotImplementedError(f"Unable to restore state of object {obj} from the checkpoint.")

    def _initialize_resources(self):
        for node_id in sorted(self._nodes):
            resource = self._nodes[node_id]
            if isinstance(resource, tracking.CapturableResource):
                init_op = resource._initialize()
                if not ops.executing_eagerly():
                    ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, init_op)
                self._let_go(resource, node_id)

    def _let_go(self, resource, node_id):
        """A resource holds its functions and not these the resource: so it ends with the model."""
        for ref in self._proto.nodes[node_id].children:
            function = self._nodes.get(ref.node_id)
            if isinstance(function, function_deserialization.RestoredFunction):
                for trace in function.concrete_functions:
                    trace.let_go(resource)


def _leave(obj, name, part):
    """Gives an object of the program no part: it has its own."""


def _index_of_part(ref):
    """Elements of lists come in order."""
    return (0, int(ref.local_name)) if ref.local_name.isdigit() else (1, 0)


def _debug_info(export_dir):
    path = os.path.join(export_dir, constants.DEBUG_DIRECTORY, constants.DEBUG_INFO_FILENAME_PB)
    info = graph_debug_info_pb2.GraphDebugInfo()
    if file_io.file_exists(path):
        info.ParseFromString(file_io.read_file_to_string(path, binary_mode=True))
    return info


def load(export_dir, tags=None, options=None):
    """The root object of a SavedModel.

    Of a model of version 2: an object with the attributes that were saved, and functions that are called as those that
    were saved. Of one of version 1: an object with `signatures`, `variables`, `graph`, `prune(feeds, fetches)`.
    `tags`: those of the graph, needed where there are several. OSError, ValueError: there is no such model.
    """
    return load_partial(export_dir, None, tags, options)["root"]


def load_partial(export_dir, filters, tags=None, options=None):
    """{path: object} of some objects of a SavedModel of version 2, with all that is below them.

    `filters`: paths such as "root.layers.0"; or {path: object}, where an object that is not None is taken in place of
    a new one: it gets the parts and values that were saved. None: all, as {"root": object}. ValueError, TypeError: a
    path or an object cannot be taken; the model is of version 1; see also `load`.
    """
    export_dir = compat.path_to_str(export_dir)
    options = options or load_options.LoadOptions()
    if tags is not None and not isinstance(tags, set):
        tags = nest.flatten(tags)
    saved_model = loader_impl.parse_saved_model(export_dir)
    graphs = saved_model.meta_graphs
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        if filters:
            raise ValueError("SavedModels saved from Tensorflow 1.x) cannot be loaded with node filters.")
        with ops.init_scope():
            root = load_v1_in_v2.load(export_dir, tags, options.experimental_skip_checkpoint)
            root.graph_debug_info = _debug_info(export_dir)
        return {"root": root}
    meta_graph = graphs[0]
    if tags is not None and set(tags) != set(meta_graph.meta_info_def.tags):
        raise ValueError(f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {export_dir} has one "
                         f"MetaGraph with tags {meta_graph.meta_info_def.tags}. You may omit the argument, pass "
                         "'None', or pass matching tags.")
    if not meta_graph.object_graph_def.nodes:
        raise ValueError(f"The SavedModel at {export_dir} has no objects.")
    with ops.init_scope():
        try:
            loader = Loader(meta_graph, export_dir, options, filters)
        except errors.NotFoundError as e:
            raise FileNotFoundError(str(e)) from e
        root = loader.get(0)
        root.graph_debug_info = _debug_info(export_dir)
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
    if options.experimental_load_function_aliases:
        if hasattr(root, "function_aliases"):
            raise ValueError("Could not load with experimental_load_function_aliases option because the top-level "
                             "object already has an attributed with name 'function_aliases'")
        root.function_aliases = loader.function_aliases
    return {"root": root} if filters is None else loader.by_path()
