"""tf.saved_model.save: writes an object with its variables, functions and files."""
import copy
import gc
import graphlib
import os

from penstock._src.graph import context
from penstock._src.tf_function import def_function
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import dtypes
from penstock._src.checkpoint import meta_graph
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_spec
from penstock._src.graph import tensor_util
from penstock._src.graph import versions
from penstock._src.graph.graph import Graph
from penstock._src.files import file_io
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import resource_variable_ops
from penstock.proto import meta_graph_pb2
from penstock.proto import saved_model_pb2
from penstock.proto import saved_object_graph_pb2
from penstock.proto import versions_pb2
from penstock._src.saved_model import builder_impl
from penstock._src.checkpoint import constants
from penstock._src.saved_model import custom_gradients
from penstock._src.saved_model import debug_info
from penstock._src.saved_model import fingerprinting
from penstock._src.saved_model import function_serialization
from penstock._src.ops.state import revived_types
from penstock._src.saved_model import save_options
from penstock._src.saved_model import saveable_view as saveable_view_lib
from penstock._src.saved_model import signature_constants
from penstock._src.saved_model import signature_def_utils_impl as signature_def_utils
from penstock._src.saved_model import signature_serialization
from penstock._src.saved_model import tag_constants
from penstock._src.saved_model import utils_impl
from penstock._src.checkpoint import functional_saver
from penstock._src.ops.state import registered_saveable
from penstock._src.ops.state import base
from penstock._src.ops.state import registration
from penstock._src.ops.state import tracking
from penstock._src.checkpoint import util
from penstock._src.base import compat
from penstock._src.base import nest
from penstock._src.base import object_identity


_CALLS = ("StatefulPartitionedCall", "PartitionedCall")


class _Files:
    """The files that a model takes with it."""

    def __init__(self):
        self.definitions = []    # AssetFileDefs
        self.paths = {}          # name in the model -> path
        self.indices = object_identity.ObjectIdentityDictionary()   # asset -> index in `definitions`
        self.initializers = {}   # id of the tensor of a path -> what puts the path into its variable

    def add(self, asset, variable):
        """Adds a file; `variable` holds its path in the model's graph."""
        path = tensor_util.constant_value(asset.asset_path)
        path = compat.as_str_any(path.item() if hasattr(path, "item") else path)
        name = builder_impl.get_asset_filename_to_add(path, self.paths)
        self.paths[name] = path
        definition = meta_graph_pb2.AssetFileDef(filename=name)
        definition.tensor_info.name = variable.initial_value.name
        self.indices[asset] = len(self.definitions)
        self.definitions.append(definition)
        self.initializers[id(asset.asset_path)] = variable.initializer


class _Export:
    """A model on its way into messages."""

    def __init__(self, view, options):
        self.view = view
        self._options = options
        self.graph = Graph()
        self.files = _Files()
        objects, _, names, self._slot_variables = view._names_and_ids()
        self.objects = list(objects)
        self._saving = view.save_and_restore_functions(objects)
        for functions in self._saving.values():
            for pair in functions.values():
                for function in pair:
                    self._add_with_parts(function)
        self._ids = object_identity.ObjectIdentityDictionary()
        for i, obj in enumerate(self.objects):
            self._ids[obj] = i
        self._dependencies = object_identity.ObjectIdentityDictionary(
            (obj, view.deserialization_dependencies(obj)) for obj in self.objects)
        _check_order(self._dependencies, self._ids, view._breadth_first_traversal()[1])
        self._object_map = object_identity.ObjectIdentityDictionary()
        self._tensor_map = object_identity.ObjectIdentityDictionary()  # tensor outside -> tensor or variable here
        self._captured_ids = {}   # id of a tensor outside -> object
        self._gradients = []      # (name that the operations carry, function)

    def _add_with_parts(self, obj):
        if any(obj is other for other in self.objects):
            return
        self.objects.append(obj)
        for _, part in self.view.list_dependencies(obj):
            self._add_with_parts(part)

    @property
    def concrete_functions(self):
        """All traces, those of gradients last."""
        return [obj for obj in self.objects if isinstance(obj, function_lib.ConcreteFunction)] + [
            function for _, function in self._gradients]

    # The graph

    def fill_graph(self, signatures, defaults):
        """Builds the graph; gives (SignatureDefs, the operation that initializes)."""
        with self.graph.as_default():
            self._map_resources()
            definitions = {key: self._signature(key, function, defaults.get(key, {}))
                           for key, function in sorted(signatures.items())}
            for function in self.concrete_functions:
                errors = getattr(function.graph, "saving_errors", None)
                if errors:
                    raise ValueError(f"Unable to save function {function.name} for the following reason(s):\n" +
                                     "\n".join(errors))
                function._definition.add_to_graph(self.graph)
            if self._options.experimental_custom_gradients:
                self._gradients = custom_gradients.trace(self.graph, self._captured_ids, self._add_capture)
                for _, function in self._gradients:
                    function._definition.add_to_graph(self.graph)
            initializers = [self._initialize(obj) for obj in self.objects
                            if isinstance(obj, tracking.CapturableResource)]
            with ops.control_dependencies(initializers + list(self.files.initializers.values())):
                init_op = control_flow_ops.no_op()
        return definitions, init_op

    def _map_resources(self):
        for node_id, obj in enumerate(self.objects):
            if not isinstance(obj, base.Trackable):
                continue
            tensors = obj._export_to_saved_model_graph(
                object_map=self._object_map, tensor_map=self._tensor_map, options=self._options)
            for tensor in tensors or ():
                self._captured_ids[id(tensor)] = node_id
            if isinstance(obj, tracking.TrackableAsset):
                self.files.add(obj, self._tensor_map[obj.asset_path])
        for obj, functions in self._saving.items():
            if getattr(obj, "_self_saveable_functions", None) is not None:
                # A copy is saved by the same functions, called in the model's graph.
                copied = self._object_map.setdefault(obj, copy.copy(obj))
                vars(copied)["_self_saveable_functions"] = {
                    name: self._in_graph(name, *pair) for name, pair in functions.items()}

    def _in_graph(self, name, save, restore):
        """Functions that saving and restoring functions are called by in the model's graph."""
        saving, restoring = self._trace(save), self._trace(restore)

        def saved(*key):
            made = self.call(saving, [ops.convert_to_tensor(k) for k in key])
            if name == base.SERIALIZE_TO_TENSORS_NAME:
                return made
            # What a value is called has to be known, not only computed.
            with context.eager_mode():
                called = saving(*key)
            return [{**one, "name": known["name"], "slice_spec": known["slice_spec"]}
                    for one, known in zip(made, called)]

        return saved, lambda *args: self.call(restoring, nest.flatten(args))

    def _trace(self, function):
        """The only trace of a function."""
        if isinstance(function, function_lib.ConcreteFunction):
            return function
        (_, trace), = self.view.list_dependencies(function)
        return trace

    def _add_capture(self, tensor, node):
        self._captured_ids[id(tensor)] = len(self.objects)
        self._ids[node] = len(self.objects)
        self.objects.append(node)

    def call(self, function, arguments):
        """Calls a trace in the model's graph. AssertionError: it captures a tensor of no object that is saved."""
        captured = []
        for tensor in function.captured_inputs:
            if tensor not in self._tensor_map:
                with context.eager_mode():
                    raise AssertionError(_untracked(function, tensor))
            captured.append(ops.convert_to_tensor(self._tensor_map[tensor]))
        op = function._definition.call_in(self.graph, list(arguments) + captured)
        return function._build(list(op.outputs))

    def _signature(self, key, function, defaults):
        inputs = {}
        _, keywords = function.structured_input_signature
        for name in sorted(keywords):
            spec = keywords[name]
            node_name = _scope_name(key, name)
            if name in defaults:
                inputs[name] = array_ops.placeholder_with_default(defaults[name].numpy(), spec.shape, node_name)
            else:
                inputs[name] = array_ops.placeholder(spec.dtype, spec.shape, node_name)
        outputs = self.call(function, inputs.values())
        definition = signature_def_utils.build_signature_def(
            {name: utils_impl.build_tensor_info_internal(tensor) for name, tensor in inputs.items()},
            {name: utils_impl.build_tensor_info_internal(tensor) for name, tensor in outputs.items()},
            method_name=signature_constants.PREDICT_METHOD_NAME)
        for name, value in defaults.items():
            definition.defaults[name].CopyFrom(tensor_util.make_tensor_proto(value.numpy()))
        return definition

    def _initialize(self, resource):
        function = next(part for name, part in self.view.list_dependencies(resource) if name == "_initialize")
        trace = self._trace(function)
        files = [self.files.initializers[id(t)] for t in trace.captured_inputs if id(t) in self.files.initializers]
        with ops.control_dependencies(files):
            result = self.call(trace, [])
        return result.op if hasattr(result, "op") else result

    def saver_def(self):
        """What saves and restores the values in the model's graph."""
        saveables = [registered_saveable.TracedSaveable(saveable, self._call_with_prefix)
                     if isinstance(saveable, registered_saveable.RegisteredSaveable) else saveable
                     for saveable in self.view.frozen_saveable_objects(self._object_map, self.graph)]
        with self.graph.as_default():
            return functional_saver.MultiDeviceSaver(saveables).to_proto()

    def _call_with_prefix(self, function, prefix):
        """Traces a function of a checkpoint's path, and calls it in the model's graph."""
        def call(text):
            result = function(text)
            return [1] if result is None else result  # that there is something to be computed

        with context.eager_mode():
            trace = def_function.function(call, [tensor_spec.TensorSpec([], dtypes.string)], autograph=False)
            trace = trace.get_concrete_function()
        with self.graph.as_default():
            return self.call(trace, [prefix])

    def graph_def(self):
        """The GraphDef, with the functions as other processes take them."""
        graph_def = self.graph.as_graph_def(add_shapes=True)
        definitions = self.graph._functions
        for function in graph_def.library.function:
            shapes = getattr(definitions.get(function.signature.name), "input_shapes", None)
            if shapes is not None and "_input_shapes" not in function.attr:
                function.attr["_input_shapes"].list.SetInParent()
                for shape in shapes:
                    function.attr["_input_shapes"].list.shape.add().CopyFrom(
                        tensor_shape.TensorShape._from_core(shape).as_proto())
            for node in function.node_def:
                _forget_gradient_of_call(node)
                _tell_shapes_of_call(node, definitions)
            _wait_for_no_iteration(function)
        for node in graph_def.node:
            _forget_gradient_of_call(node)
        for name, function in self._gradients:
            graph_def.library.registered_gradients.add(registered_op_type=name, gradient_func=function.name)
        return graph_def

    # The objects

    def object_graph(self):
        """The SavedObjectGraph."""
        message = saved_object_graph_pb2.SavedObjectGraph()
        for function in self.concrete_functions:
            name = compat.as_str(function.name)
            if name not in message.concrete_functions:
                message.concrete_functions[name].CopyFrom(
                    function_serialization.serialize_concrete_function(function, self._captured_ids))
        for obj in self.objects:
            node = message.nodes.add()
            node.slot_variables.extend(self._slot_variables.get(obj, ()))
            if isinstance(obj, custom_gradients.CapturedTensor):
                node.captured_tensor.name = obj.name
                node.captured_tensor.concrete_function = obj.function
                continue
            for name, part in self.view.list_dependencies(obj):
                node.children.add(node_id=self._ids[part], local_name=name)
            for name, part in self._dependencies.get(obj, {}).items():
                node.dependencies.add(node_id=self._ids[part], local_name=name)
            node.registered_saver = registration.get_registered_saver_name(obj) or ""
            for name, (save, restore) in self._saving.get(obj, {}).items():
                node.saveable_objects[name].save_function = self._ids[save]
                node.saveable_objects[name].restore_function = self._ids[restore]
            self._describe(obj, node)
        return message

    def _describe(self, obj, node):
        if isinstance(obj, tracking.TrackableAsset):
            node.asset.SetInParent()
            node.asset.asset_file_def_index = self.files.indices[obj]
        elif resource_variable_ops.is_resource_variable(obj):
            obj._write_object_proto(node, self._options)
        elif isinstance(obj, def_function.Function):
            node.function.CopyFrom(function_serialization.serialize_function(
                obj, [part for _, part in self.view.list_dependencies(obj)]))
        elif isinstance(obj, function_lib.ConcreteFunction):
            node.bare_concrete_function.CopyFrom(function_serialization.serialize_bare_concrete_function(obj))
        elif isinstance(obj, saveable_view_lib.TrackableConstant):
            node.constant.operation = obj.exported.op.name
        elif isinstance(obj, tracking.CapturableResource):
            node.resource.device = obj._resource_device
        else:
            known = revived_types.serialize(obj)
            node.user_object.CopyFrom(known if known is not None else saved_object_graph_pb2.SavedUserObject(
                identifier=obj._object_identifier, version=versions_pb2.VersionDef(producer=1, min_consumer=1)))
        registered = registration.get_registered_class_name(obj)
        if registered is not None:
            node.registered_name = registered
            message = obj._serialize_to_proto(object_proto=node)
            if message is not None:
                node.serialized_user_proto.Pack(message)


def _check_order(dependencies, ids, paths):
    """ValueError: objects wait for each other when they are loaded."""
    order = graphlib.TopologicalSorter({ids[obj]: [ids[part] for part in parts.values()]
                                        for obj, parts in dependencies.items() if parts})
    try:
        order.prepare()
    except graphlib.CycleError as e:
        objects = {node: obj for obj, node in ids.items()}
        cycle = e.args[1]
        where = {node: ".".join(["root", *(p.name for p in paths.get(objects[node], ()))]) for node in cycle}
        nodes = "\n".join(f"\tNode {node} = {path} (type {type(objects[node])})" for node, path in where.items())
        raise ValueError("There is one or more dependency cycle in the saved Trackable object. Saving cannot continue "
                         f"until this cycle is resolved.\n>> Unresolved nodes:\n{nodes}\n>> Unresolved cyclic "
                         f"dependencies:\n\t{' <- '.join(map(str, cycle))}") from None


def _forget_gradient_of_call(node):
    # It is a name of this process. The body tells the gradient.
    if node.op in _CALLS and "_gradient_op_type" in node.attr:
        del node.attr["_gradient_op_type"]


def _tell_shapes_of_call(node, definitions):
    # TensorFlow does not look into the body for them.
    called = definitions.get(node.attr["f"].func.name) if node.op in _CALLS else None
    shapes = getattr(called, "output_shapes", None)
    if shapes and "_output_shapes" not in node.attr:
        for shape in shapes:
            node.attr["_output_shapes"].list.shape.add().CopyFrom(
                tensor_shape.TensorShape._from_core(shape).as_proto())


def _wait_for_no_iteration(function):
    """Takes what runs within loops from what a call waits for: elsewhere this crosses frames. Effects happen anyway."""
    users = {}
    for node in function.node_def:
        for name in node.input:
            users.setdefault(name.lstrip("^").split(":")[0], []).append(node)
    stack = [node for node in function.node_def if node.op in ("Enter", "RefEnter")]
    inside = set()
    while stack:
        node = stack.pop()
        if node.name not in inside and node.op not in ("Exit", "RefExit"):
            inside.add(node.name)
            stack.extend(users.get(node.name, ()))
    for name in [name for name, node in function.control_ret.items() if node in inside]:
        del function.control_ret[name]
        function.signature.control_output.remove(name)


def _untracked(function, tensor):
    """What is said of a captured tensor whose object is no part of the model."""
    holders = {id(obj): obj for holder in gc.get_referrers(tensor) for obj in [holder, *gc.get_referrers(holder)]
               if isinstance(obj, base.Trackable)}
    return ("Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
            "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
            "object or assigned to an attribute of the main object directly. See the information below:"
            f"\n\tFunction name = {compat.as_str(function.name)}\n\tCaptured Tensor = {tensor!r}"
            f"\n\tTrackable referencing this tensor = {', '.join(map(repr, holders.values())) or None}")


def _strip_debug_nodes(meta_graph_def):
    """Makes of assertions and printing operations NoOps that wait for what they looked at; of those that hand a value
    on, identities."""
    graph_def = meta_graph_def.graph_def
    for node in [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]:
        if node.op in ("Assert", "PrintV2"):
            node.op = "NoOp"
            for name in [name for name in node.attr if not name.startswith("_")]:
                del node.attr[name]
            kept = 0
        elif node.op in ("CheckNumerics", "Print"):
            node.op = "Identity"
            for name in [name for name in node.attr if name != "T"]:
                del node.attr[name]
            kept = 1
        else:
            continue
        inputs = [*node.input[:kept], *(name if name.startswith("^") else "^" + name.split(":")[0]
                                        for name in node.input[kept:])]
        del node.input[:]
        node.input.extend(inputs)


def _scope_name(key, name):
    """A node's name for an argument of a signature."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_.\\-") else "_" for c in f"{key}_{name}")
    return plain.lstrip("_\\-") or "arg"


def _verify_ops(graph_def, namespace_whitelist):
    """ValueError: the graph has ops "NAMESPACE>Op" of namespaces that are not allowed."""
    if namespace_whitelist is None:
        return
    used = [op for op in meta_graph.ops_used_by_graph_def(graph_def) if ">" in op]
    wrong = [op for op in used if op.split(">")[0] not in namespace_whitelist]
    if wrong:
        raise ValueError(
            f"Attempted to save ops from non-whitelisted namespaces to SavedModel: {wrong}.\nPlease verify that these "
            "ops should be saved, since they must be available when loading the SavedModel. Once you've confirmed "
            "this, add the following namespaces to the `namespace_whitelist` argument in tf.saved_model.SaveOptions: "
            f"{ {op.split('>')[0] for op in wrong} }.")


def _add_aliases(aliases, options):
    for alias, function in options.function_aliases.items():
        if isinstance(function, function_lib.ConcreteFunction):
            traces = [function]
        elif isinstance(function, def_function.Function):
            traces = function._list_all_concrete_functions()
        elif isinstance(function, (list, tuple, set)) and all(
                isinstance(f, function_lib.ConcreteFunction) for f in function):
            traces = function
        else:
            raise TypeError(f"Unsupported type f{type(function)}. Functions in `function_aliases` should be created by "
                            "tf.function, or concrete functions, or collections of concrete functions.")
        for trace in traces:
            aliases[compat.as_str(trace.name)] = alias


def _build(obj, signatures, options, message):
    """Fills in a MetaGraphDef; gives the _Export."""
    if ops.inside_function():
        raise AssertionError("`tf.saved_model.save` is not supported inside a traced @tf.function. Move the call to "
                             "the outer eagerly-executed context.")
    if not isinstance(obj, base.Trackable):
        raise ValueError("Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` "
                         f"class, for export. Got {obj} with type {type(obj)}.")
    view = saveable_view_lib.SaveableView(obj)
    if signatures is None:
        signatures = signature_serialization.find_function_to_export(view)
    signatures, defaults = signature_serialization.canonicalize_signatures(signatures)
    signature_serialization.validate_saveable_view(view)
    view.set_signatures(signature_serialization.create_signature_map(signatures),
                        signature_serialization.SIGNATURE_ATTRIBUTE_NAME)
    export = _Export(view, options)
    definitions, init_op = export.fill_graph(signatures, defaults)
    message.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init_op.name)
    message.signature_def[constants.INIT_OP_SIGNATURE_KEY].CopyFrom(
        signature_def_utils.op_signature_def(init_op, constants.INIT_OP_SIGNATURE_KEY))
    if not options.experimental_skip_saver:
        message.saver_def.CopyFrom(export.saver_def())
    message.graph_def.CopyFrom(export.graph_def())
    if options.experimental_debug_stripper:
        _strip_debug_nodes(message)
    _verify_ops(message.graph_def, options.namespace_whitelist)
    info = message.meta_info_def
    info.tags.append(tag_constants.SERVING)
    info.tags.extend(options.extra_tags or ())
    info.tensorflow_version = versions.__version__
    info.tensorflow_git_version = versions.__git_version__
    message.asset_file_def.extend(export.files.definitions)
    for key, definition in definitions.items():
        message.signature_def[key].CopyFrom(definition)
    meta_graph.strip_graph_default_valued_attrs(message)
    info.stripped_default_attrs = True
    info.stripped_op_list.MergeFrom(meta_graph.stripped_op_list_for_graph(message.graph_def))
    _add_aliases(info.function_aliases, options)
    message.object_graph_def.CopyFrom(export.object_graph())
    return export


def save(obj, export_dir, signatures=None, options=None):
    """Writes a trackable object, such as a tf.Module, as a SavedModel.

    signatures: a tf.function with an input signature, a concrete function, or a dictionary of these; by default the
    only function of the object that can be one. ValueError: a signature does not go from tensors to tensors. KeyError:
    a function captures what is no part of the object.
    """
    save_and_return_nodes(obj, export_dir, signatures, options)


def save_and_return_nodes(obj, export_dir, signatures=None, options=None, experimental_skip_checkpoint=False):
    """Saves as `save` does; gives the objects in the order of their numbers, and {object: references on its path}."""
    export_dir = compat.path_to_str(export_dir)
    options = options or save_options.SaveOptions()
    saved_model = saved_model_pb2.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    export = _build(obj, signatures, options, saved_model.meta_graphs.add())
    utils_impl.get_or_create_variables_dir(export_dir)
    if not experimental_skip_checkpoint:
        util.TrackableSaver(export.view).save(utils_impl.get_variables_path(export_dir),
                                              sharding=options.experimental_sharding_callback)
    utils_impl.get_or_create_assets_dir(export_dir)
    if export.files.paths:
        builder_impl.copy_assets_to_destination_dir(export.files.paths, export_dir, overwrite=True)
    # Last: what has this file is whole.
    file_io.atomic_write_string_to_file(os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB),
                                        saved_model.SerializeToString(deterministic=True))
    fingerprinting.write_fingerprint(export_dir)
    if options.save_debug_info:
        debug_info.write(export.concrete_functions, export_dir)
    return export.objects, export.view._breadth_first_traversal()[1]


def export_meta_graph(obj, filename, signatures=None, options=None):
    """Writes the MetaGraphDef alone."""
    message = meta_graph_pb2.MetaGraphDef()
    _build(obj, signatures, options or save_options.SaveOptions(), message)
    file_io.atomic_write_string_to_file(filename, message.SerializeToString(deterministic=True))
