"""What a Saver can save: tensors to write, each with a name, and how to put read tensors back."""


class SaveSpec(object):
    """One tensor of a checkpoint."""

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        """`tensor` may be a function that makes it; then `dtype` and `device` must be given. `device`: where it is
        written and read."""
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device "
                                     "must be provided.")
            self.dtype = dtype
            self.device = device
        else:
            self.dtype = tensor.dtype
            self.device = tensor.device if device is None else device

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject(object):
    """Base of what can be saved. `op` identifies it, `specs` are its tensors, `name` its name in the checkpoint."""

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self):
        return False

    @property
    def device(self):
        return self.specs[0].device

    def restore(self, restored_tensors, restored_shapes):
        """An operation that puts back the tensors; `restored_shapes`, if not None, are the shapes to give them."""
        raise NotImplementedError("Calling an abstract method.")
