"""What of an object goes into a SavedModel: its parts, with functions, what these capture, and how values are saved."""
from penstock._src.tf_function import def_function
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.state import resource_variable_ops
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import saveable_object_util
from penstock._src.ops.state import base
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import graph_view
from penstock._src.ops.state import registration
from penstock._src.ops.state import tracking
from penstock._src.base import object_identity


class TrackableConstant(base.Trackable):
    """A tensor that functions capture."""

    def __init__(self, capture):
        self.capture = capture
        self.exported = None  # the node in the model's graph

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        with ops.device("CPU"):
            self.exported = constant_op.constant(tensor_util.constant_value(self.capture), self.capture.dtype)
        tensor_map[self.capture] = self.exported
        return [self.capture]


class SaveableView(graph_view.ObjectGraphView):
    """All that can be reached from a root, each thing's parts as they were when first asked for."""

    def __init__(self, root):
        super().__init__(root)
        self._children = object_identity.ObjectIdentityDictionary()
        self._cache = object_identity.ObjectIdentityDictionary()  # for objects that make parts of parts
        self._constants = {}

    def set_signatures(self, signature_map, name):
        """Adds the signatures to the root's parts."""
        self.list_dependencies(self.root)
        self._children[self.root][name] = signature_map

    def list_dependencies(self, obj):
        if obj not in self._children:
            self._children[obj] = self._parts(obj)
        return [base.TrackableReference(name, part) for name, part in self._children[obj].items()]

    def _parts(self, obj):
        if isinstance(obj, def_function.Function):
            traces = obj._trackable_children("savedmodel")
            if not traces:
                logging.info("Found an untraced function, %s, while saving. It will not be directly callable after "
                             "loading.", obj.name)
            return traces
        if isinstance(obj, function_lib.ConcreteFunction):
            return {f"capture_{i}": self._constant(capture) for i, capture in enumerate(obj.captured_inputs)
                    if capture.dtype not in (dtypes.resource, dtypes.variant)
                    and tensor_util.constant_value(capture) is not None}
        parts = {}
        for name, part in obj._trackable_children("savedmodel", cache=self._cache).items():
            part = data_structures.wrap_or_unwrap(part)
            if isinstance(part, Tensor):
                part = self._constant(part) if part._is_eager else None
            if isinstance(part, (base.Trackable, def_function.Function, function_lib.ConcreteFunction)):
                parts[name] = part
        if isinstance(obj, tracking.TrackableAsset):
            # Functions capture a file by the tensor of its path.
            self._constants[id(obj.asset_path)] = obj
        if isinstance(obj, tracking.CapturableResource):
            parts.update(_resource_functions(obj, parts))
        return parts

    def deserialization_dependencies(self, obj):
        """{name: part} of what has to be loaded before an object. ValueError: one is no part of the model."""
        if not isinstance(obj, base.Trackable):
            return {}
        found = obj._deserialization_dependencies(dict(self._children[obj]))
        for name, part in found.items():
            if not isinstance(part, base.Trackable):
                raise TypeError(f"The dependency of type {type(part)} is not an instance `Trackable`, and can't be "
                                "saved to SavedModel. Please check the implementation of "
                                f"`_deserialization_dependencies` in the parent object {obj}.")
            if part not in self._children:
                raise ValueError(f"Found an untracked dependency. Object {obj} depends on {part}, but this dependency "
                                 "isn't listed as a child. Please track this child by overriding "
                                 f"`_trackable_children` or use `._track_trackable`. (its name: {name!r})")
        return found

    def _constant(self, tensor):
        """The object that stands for a tensor: one for each."""
        if id(tensor) not in self._constants:
            self._constants[id(tensor)] = TrackableConstant(tensor)
        return self._constants[id(tensor)]

    def _breadth_first_traversal(self):
        # Files come before functions that were met first: then their paths are no constants.
        super()._breadth_first_traversal()
        for parts in self._children.values():
            for name, part in parts.items():
                if isinstance(part, TrackableConstant):
                    parts[name] = self._constant(part.capture)
        return super()._breadth_first_traversal()

    def _factories(self, obj):
        return obj._gather_saveables_for_checkpoint() if isinstance(obj, base.Trackable) else {}

    def save_and_restore_functions(self, objects):
        """{object: {attribute: (function that saves, function that restores)}} of what is no variable."""
        found = object_identity.ObjectIdentityDictionary()
        for obj in objects:
            factories = self._factories(obj)
            if not factories or resource_variable_ops.is_resource_variable(obj) or isinstance(
                    obj, resource_variable_ops.BaseResourceVariable) or registration.get_registered_saver_name(obj):
                continue
            loaded = getattr(obj, "_self_saveable_functions", None)
            if loaded is not None:
                found[obj] = loaded
            elif set(factories) == {base.SERIALIZE_TO_TENSORS_NAME}:
                found[obj] = {base.SERIALIZE_TO_TENSORS_NAME: _traced_tensors(obj)}
            else:
                found[obj] = {name: _traced(factory) for name, factory in factories.items()}
        return found


def _resource_functions(resource, parts):
    """The functions that make, fill and destroy a resource."""
    def function(name, call):
        if name in parts:  # of a loaded model
            return parts[name]
        made = def_function.function(call, input_signature=[], autograph=False)
        made.get_concrete_function()
        return made

    def create():
        return resource._create_resource()

    def initialize():
        resource._initialize()
        return 1  # that there is something to be computed

    def destroy():
        resource._destroy_resource()
        return 1

    return {"_create_resource": function("_create_resource", create),
            "_initialize": function("_initialize", initialize),
            "_destroy_resource": function("_destroy_resource", destroy)}


_KEY = "key"  # in its place comes the key that a saving function is called with


def _traced(factory):
    """(function from a key to names and tensors, function that takes the tensors back) of a saveable object."""
    def saveables():
        made = factory(name=_KEY) if callable(factory) else factory
        return list(saveable_object_util.saveable_objects_for_op(made, _KEY))

    specs = []

    def save(checkpoint_key):
        saved = []
        for saveable in saveables():
            for spec in saveable.specs:
                tensor = spec.tensor
                specs.append(TensorSpec(tensor.shape, tensor.dtype))
                saved.append({"name": gen.string_join([checkpoint_key, spec.name[len(_KEY):]]), "tensor": tensor,
                              "slice_spec": ops.convert_to_tensor(spec.slice_spec)})
        return saved

    def restore(*tensors):
        at = 0
        for saveable in saveables():
            saveable.restore(list(tensors[at:at + len(saveable.specs)]), None)
            at += len(saveable.specs)
        return 1

    saving = def_function.function(save, input_signature=[TensorSpec([], dtypes.string)], autograph=False)
    saving = saving.get_concrete_function()
    # What is read from a file may have any shape; where none is known, TensorFlow's shape functions ask for nothing.
    restoring = def_function.function(restore, autograph=False,
                                      input_signature=[TensorSpec(None, spec.dtype) for spec in specs])
    return saving, restoring.get_concrete_function()


def _traced_tensors(obj):
    """The same of an object that gives its tensors at once."""
    saving = def_function.function(lambda: obj._serialize_to_tensors(), input_signature=[], autograph=False)
    saving = saving.get_concrete_function()
    tensors = saving.structured_outputs

    def restore(restored_tensors):
        obj._restore_from_tensors(restored_tensors)
        return 1

    restoring = def_function.function(restore, autograph=False)
    return saving, restoring.get_concrete_function({name: TensorSpec(t.shape, t.dtype) for name, t in tensors.items()})
