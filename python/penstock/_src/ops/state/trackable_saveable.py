"""Values that an object gives by functions: its own, or those that a SavedModel holds."""
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import saveable_object
from penstock._src.ops.state import base
from penstock._src.base import compat


class TensorsSaveable(saveable_object.SaveableObject):
    """All that `serialize()` gives: {name: tensor}; prefix and name are the key in the checkpoint."""

    def __init__(self, serialize, restore, prefix):
        self._restore = restore
        tensors = serialize()
        self.local_names = list(tensors)
        super().__init__(serialize, [saveable_object.SaveSpec(tensor, "", prefix + name)
                                     for name, tensor in tensors.items()], prefix)

    def restore(self, restored_tensors, restored_shapes):
        done = self._restore(dict(zip(self.local_names, restored_tensors)))
        return control_flow_ops.no_op() if done is None else done


class NamedTensorsSaveable(saveable_object.SaveableObject):
    """What `save(key)` gives: [{"name", "tensor", "slice_spec"}]; `restore` takes the tensors."""

    def __init__(self, save, restore, name):
        self._restore = restore
        specs = [saveable_object.SaveSpec(saved["tensor"], _text(saved["slice_spec"]), _text(saved["name"]))
                 for saved in save(name)]
        super().__init__(save, specs, name)

    def restore(self, restored_tensors, restored_shapes):
        done = self._restore(*restored_tensors)
        return control_flow_ops.no_op() if done is None else done


def _text(tensor):
    if not tensor._is_eager:
        raise NotImplementedError("What an object's values are called in the checkpoint is known only when it is "
                                  "computed: load the model eagerly.")
    return compat.as_str(tensor.numpy())


def factory(attribute, save, restore):
    """A function of a key that makes the saveable object of an attribute."""
    kind = TensorsSaveable if attribute == base.SERIALIZE_TO_TENSORS_NAME else NamedTensorsSaveable
    return lambda name: kind(save, restore, name)
