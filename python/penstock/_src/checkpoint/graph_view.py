"""The graph of the objects that a checkpoint saves: names of all values, and the message that describes it."""
import collections
import copy
import weakref

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock.proto import trackable_object_graph_pb2
from penstock._src.ops.state import registered_saveable
from penstock._src.ops.state import saveable_object as saveable_object_lib
from penstock._src.checkpoint import saveable_object_util
from penstock._src.ops.state import base
from penstock._src.ops.state import registration
from penstock._src.base import object_identity

# Begins what is no name of the program's.
_ESCAPE_CHAR = "."
_OPTIMIZER_SLOTS_NAME = _ESCAPE_CHAR + "OPTIMIZER_SLOT"
_OBJECT_ATTRIBUTES_NAME = _ESCAPE_CHAR + "ATTRIBUTES"


def _escape_local_name(name):
    return name.replace(_ESCAPE_CHAR, _ESCAPE_CHAR + _ESCAPE_CHAR).replace("/", _ESCAPE_CHAR + "S")


def _object_prefix_from_path(path_to_root):
    return "/".join(_escape_local_name(reference.name) for reference in path_to_root)


def _serialize_slot_variables(objects, node_ids, object_names):
    """Adds the optimizers' slot variables to the objects; gives {optimizer: descriptions}."""
    slot_variables = object_identity.ObjectIdentityDictionary()
    non_slot_objects = list(objects)
    for optimizer in non_slot_objects:
        if "get_slot_names" not in dir(optimizer):  # not hasattr: an object may answer to any name
            continue
        for slot_name in optimizer.get_slot_names():
            for original_id, original in enumerate(non_slot_objects):
                try:
                    slot = optimizer.get_slot(original, slot_name)
                except (AttributeError, KeyError):
                    slot = None
                if slot is None:
                    continue
                slot._maybe_initialize_trackable()
                if slot._checkpoint_dependencies:
                    raise NotImplementedError("Currently only variables with no dependencies can be saved as slot "
                                              "variables. File a feature request if this limitation bothers you.")
                if slot in node_ids:
                    raise NotImplementedError("A slot variable was re-used as a dependency of a Trackable object. This "
                                              "is not currently allowed. File a feature request if this limitation "
                                              "bothers you.")
                object_names[slot] = "%s/%s/%s/%s" % (object_names[original], _OPTIMIZER_SLOTS_NAME,
                                                      object_names[optimizer], _escape_local_name(slot_name))
                node_ids[slot] = len(objects)
                objects.append(slot)
                description = trackable_object_graph_pb2.TrackableObjectGraph.TrackableObject.SlotVariableReference(
                    slot_name=slot_name, original_variable_node_id=original_id, slot_variable_node_id=node_ids[slot])
                slot_variables.setdefault(optimizer, []).append(description)
    return slot_variables


def _tell_where_values_are(graph_proto):
    """Marks the objects that have values, or objects with values below them: others need not be waited for."""
    parents, todo = {}, []
    for node_id, node in enumerate(graph_proto.nodes):
        node.has_checkpoint_values.value = bool(node.attributes or node.slot_variables or
                                                node.HasField("registered_saver"))
        if node.has_checkpoint_values.value:
            todo.append(node_id)
        for child in node.children:
            parents.setdefault(child.node_id, []).append(node_id)
    while todo:
        for parent in parents.get(todo.pop(), ()):
            if not graph_proto.nodes[parent].has_checkpoint_values.value:
                graph_proto.nodes[parent].has_checkpoint_values.value = True
                todo.append(parent)


class ObjectGraphView:
    """All objects that can be reached from a root along its parts."""

    def __init__(self, root, saveables_cache=None, attached_dependencies=None):
        """`saveables_cache`: {object: {key: saveables}}, so that a graph gets the nodes of each but once.
        `attached_dependencies`: references to parts that the root has here only."""
        self._root_ref = root
        self._attached_dependencies = () if attached_dependencies is None else attached_dependencies
        self._saveables_cache = saveables_cache

    def __deepcopy__(self, memo):
        # A copy of a weak reference is one to the original: the copy is of the copied root.
        copied = memo[id(self)] = type(self).__new__(type(self))
        if isinstance(self._root_ref, weakref.ref) and self._root_ref() is not None:
            memo[id(self._root_ref)] = weakref.ref(copy.deepcopy(self._root_ref(), memo))
        for name, value in vars(self).items():
            setattr(copied, name, copy.deepcopy(value, memo))
        return copied

    def list_dependencies(self, obj):
        """The parts of an object."""
        obj._maybe_initialize_trackable()
        parts = [base.TrackableReference(name, part) for name, part in obj._trackable_children().items()
                 if isinstance(part, base.Trackable)]
        if obj is self.root:
            parts += [base.TrackableReference(part.name, part.ref) for part in self._attached_dependencies]
        return parts

    def attached(self, obj, name):
        """The part that the root has here only, or None."""
        if obj is self.root:
            for reference in self._attached_dependencies:
                if reference.name == name:
                    return reference.ref
        return None

    @property
    def saveables_cache(self):
        """What has been made for a graph."""
        return self._saveables_cache

    @property
    def root(self):
        """The root."""
        if not isinstance(self._root_ref, weakref.ref):
            return self._root_ref
        root = self._root_ref()
        assert root is not None
        return root

    def _breadth_first_traversal(self):
        """All objects, and the path to each."""
        objects = []
        todo = collections.deque([self.root])
        paths = object_identity.ObjectIdentityDictionary()
        paths[self.root] = ()
        while todo:
            current = todo.popleft()
            if getattr(current, "_not_trackable", False):
                raise NotImplementedError("The object %s does not support object-based saving. File a feature request "
                                          "if this limitation bothers you. In the meantime, you can remove the "
                                          "dependency on this object and save everything else." % (current,))
            objects.append(current)
            for name, part in self.list_dependencies(current):
                if part not in paths:
                    paths[part] = paths[current] + (base.TrackableReference(name, part),)
                    todo.append(part)
        return objects, paths

    def _names_and_ids(self):
        """Objects with slot variables, their ids and names, and the slots' descriptions."""
        objects, paths = self._breadth_first_traversal()
        names = object_identity.ObjectIdentityDictionary()
        for obj, path in paths.items():
            names[obj] = _object_prefix_from_path(path)
        ids = object_identity.ObjectIdentityDictionary()
        for node_id, obj in enumerate(objects):
            ids[obj] = node_id
        slot_variables = _serialize_slot_variables(objects, ids, names)
        return objects, ids, names, slot_variables

    def _saveables(self, obj, name, factory, key):
        """The saveable objects of one attribute."""
        cache = None if self._saveables_cache is None else self._saveables_cache.setdefault(obj, {})
        if cache is not None and key in cache:
            return cache[key]
        made = factory(name=key) if callable(factory) else factory
        if isinstance(made, saveable_object_lib.SaveableObject):
            saveables = (made,)
        else:
            full_name, = saveable_object_util.op_list_to_dict([made], convert_variable_to_tensor=False)
            saveables = tuple(saveable_object_util.saveable_objects_for_op(op=made, name=key))
            for saveable in saveables:
                saveable.full_name = full_name
        for saveable in saveables:
            if key not in saveable.name:
                raise AssertionError("The object %s produced a SaveableObject with name '%s' for attribute '%s'. "
                                     "Expected a name containing '%s'." % (obj, name, saveable.name, key))
        if cache is not None:
            cache[key] = saveables
        return saveables

    def _add_attributes(self, objects, graph_proto, names, object_map):
        """Describes the attributes of all objects; gives their saveables, and what to feed (None without a cache)."""
        named_saveables = []
        feeds = None if self._saveables_cache is None else {}
        registered = []
        for obj, object_proto in zip(objects, graph_proto.nodes):
            saver = registration.get_registered_saver_name(obj)
            if saver is not None:
                object_proto.registered_saver.name, object_proto.registered_saver.object_name = saver, names[obj]
                registered.append(registered_saveable.RegisteredSaveable(saver, {names[obj]: obj}))
                continue
            saved = obj if object_map is None else object_map.get(obj, obj)
            for name, factory in self._factories(saved).items():
                if name == base.SERIALIZE_TO_TENSORS_NAME:
                    named_saveables.append(self._add_tensors(object_proto, factory, names[obj]))
                    continue
                attribute = object_proto.attributes.add()
                attribute.name = name
                attribute.checkpoint_key = "%s/%s/%s" % (names[obj], _OBJECT_ATTRIBUTES_NAME, _escape_local_name(name))
                saveables = self._saveables(saved, name, factory, attribute.checkpoint_key)
                attribute.optional_restore = bool(saveables) and all(s.optional_restore for s in saveables)
                for saveable in saveables:
                    if hasattr(saveable, "full_name"):
                        attribute.full_name = saveable.full_name
                    if isinstance(saveable, base.PythonStateSaveable):
                        if feeds is None:
                            saveable = saveable.freeze()
                        else:
                            feeds.update(saveable.feed_dict_additions())
                    named_saveables.append(saveable)
        return named_saveables + registered_saveable.together(registered), feeds

    def _factories(self, obj):
        """What there is to be saved of an object, by attributes."""
        return obj._gather_saveables_for_checkpoint()

    def _add_tensors(self, object_proto, factory, object_name):
        """Describes what an object gives all at once."""
        prefix = "%s/%s/" % (object_name, _OBJECT_ATTRIBUTES_NAME)
        saveable = factory(name=prefix)
        for name in saveable.local_names:
            object_proto.attributes.add(name=name, checkpoint_key=prefix + name)
        return saveable

    def _serialize(self, object_map=None):
        objects, ids, names, slot_variables = self._names_and_ids()
        graph_proto = trackable_object_graph_pb2.TrackableObjectGraph()
        for obj in objects:
            node = graph_proto.nodes.add()
            node.slot_variables.extend(slot_variables.get(obj, ()))
            for part in self.list_dependencies(obj):
                node.children.add(node_id=ids[part.ref], local_name=part.name)
        named_saveables, feeds = self._add_attributes(objects, graph_proto, names, object_map)
        _tell_where_values_are(graph_proto)
        return named_saveables, graph_proto, feeds

    def serialize_object_graph(self):
        """Saveable objects of all values, the TrackableObjectGraph, and what to feed."""
        return self._serialize()

    def frozen_saveable_objects(self, object_map=None, to_graph=None):
        """The saveable objects with the description of the graph as one of them, Python's state as it is now."""
        target = to_graph.as_default if to_graph else ops.NullContextmanager
        with target():
            named_saveables, graph_proto, _ = self._serialize(object_map)
            with ops.device("/cpu:0"):
                description = constant_op.constant(graph_proto.SerializeToString(), dtype=dtypes.string)
            named_saveables.append(base.NoRestoreSaveable(tensor=description, name=base.OBJECT_GRAPH_PROTO_KEY))
        return named_saveables

    def objects_ids_and_slot_variables(self):
        """All objects, their ids, and the descriptions of slot variables by optimizer."""
        objects, ids, _, slot_variables = self._names_and_ids()
        return objects, ids, slot_variables

    def list_objects(self, with_slots=True):
        """All objects, slot variables too."""
        return self._names_and_ids()[0] if with_slots else self._breadth_first_traversal()[0]
