"""TrackableView and CheckpointView: the objects of a program, and those of a checkpoint, beside each other."""
import weakref

from penstock._src.base import tf_logging as logging
from penstock._src.ops.state import base
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import util
from penstock._src.base import object_identity


class TrackableView:
    """What can be reached from an object along its parts."""

    def __init__(self, root):
        self._root_ref = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """{name: part} of an object, plain lists and dictionaries among the parts wrapped."""
        if isinstance(obj, base.Trackable):
            obj._maybe_initialize_trackable()
        elif not hasattr(obj, "_trackable_children"):
            return {}
        return {name: data_structures.wrap_or_unwrap(part)
                for name, part in obj._trackable_children(save_type, **kwargs).items()}

    @property
    def root(self):
        """The object."""
        root = self._root_ref()
        assert root is not None
        return root

    def descendants(self):
        """All objects, breadth first."""
        found, seen = [self.root], object_identity.ObjectIdentitySet([self.root])
        for obj in found:
            for part in self.children(obj).values():
                if part not in seen:
                    seen.add(part)
                    found.append(part)
        return found


class CheckpointView:
    """The objects of a checkpoint, which are numbered; 0 is the root. ValueError: it goes by variables' names."""

    def __init__(self, save_path):
        self._object_graph_proto = util.object_metadata(save_path)

    def children(self, node_id):
        """{name: number} of an object's parts."""
        return {child.local_name: child.node_id for child in self._object_graph_proto.nodes[node_id].children}

    def descendants(self):
        """All objects, breadth first."""
        found = [0]
        for node_id in found:
            for child in self._object_graph_proto.nodes[node_id].children:
                if child.node_id not in found:
                    found.append(child.node_id)
        return found

    def match(self, obj):
        """{number: object of the program} where the names of parts agree."""
        if not isinstance(obj, base.Trackable):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        matched, todo = {0: obj}, [0]
        for node_id in todo:
            parts = TrackableView.children(matched[node_id])
            for name, child in self.children(node_id).items():
                if name not in parts:
                    continue
                if child not in matched:
                    matched[child] = parts[name]
                    todo.append(child)
                elif matched[child] is not parts[name] and child != 0:
                    logging.warning("Inconsistent references when matching the checkpoint into this object graph. The "
                                    f"referenced objects are: ({matched[child]} and {parts[name]}).")
        return matched

    def diff(self, obj):
        """(what matches, numbers of objects of the checkpoint alone, objects of the program alone)."""
        matched = self.match(obj)
        ours = object_identity.ObjectIdentitySet(matched.values())
        return (matched, [node_id for node_id in self.descendants() if node_id not in matched],
                [part for part in TrackableView(obj).descendants() if part not in ours])
