"""TensorHandle: what a run gives for a tensor that stays in the session (tf.get_session_handle)."""
from penstock._src.base import compat

HANDLE_OPS = ("GetSessionHandle", "GetSessionHandleV2")
_DEAD_AT_ONCE = 10  # how many dropped handles are collected before their tensors are deleted


def device_of(handle):
    """The device that a handle ("name;number;device") names."""
    return compat.as_str_any(handle).split(";")[-1]


def _cached(graph, key, handle, make):
    """(placeholder of a handle, make(placeholder)): what reads or deletes tensors, made once for each graph and key."""
    from penstock._src.graph import dtypes
    from penstock._src.core_ops import array_ops
    made = graph.__dict__.setdefault("_handle_ops", {})
    if key not in made:
        with graph.as_default(), graph.device(device_of(handle)):
            holder = array_ops.placeholder(dtypes.string)
            made[key] = holder, make(holder)
    return made[key]


class TensorHandle:
    """A tensor that stays in a session; it is deleted soon after the last reference to this is gone."""

    def __init__(self, handle, dtype, session):
        self._handle = compat.as_str_any(handle)
        self._dtype = dtype
        self._session = session
        self._owned = True

    def __del__(self):
        if self._owned:
            self._session._register_dead_handle(self._handle)

    def __str__(self):
        return self._handle

    @property
    def handle(self):
        """The handle as text, to be fed to the placeholder of `tf.get_session_tensor`."""
        return self._handle

    def _check_owned(self):
        if not self._owned:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def eval(self):
        """The tensor's value. TypeError if it was deleted."""
        from penstock._src.graph import gen
        self._check_owned()
        holder, value = _cached(self._session.graph, ("read", device_of(self._handle), self._dtype), self._handle,
                                lambda handle: gen.get_session_tensor(handle, self._dtype))
        return self._session.run(value, {holder: self._handle})

    def delete(self):
        """Deletes the tensor at once. TypeError if it was deleted before."""
        self._check_owned()
        self._owned = False
        delete(self._session, self._handle)

    def get_raw_handle(self):
        """The handle as text, with the duty to delete its tensor (`tf.delete_session_tensor`)."""
        self._owned = False
        return self._handle


def delete(session, handle):
    """Deletes the tensor behind a handle."""
    from penstock._src.graph import gen
    holder, deleter = _cached(session.graph, ("delete", device_of(handle)), handle, gen.delete_session_tensor)
    session.run(deleter, {holder: handle})


class DeadHandles:
    """Handles that nobody holds any more; their tensors are deleted before a later run, some at a time."""

    def __init__(self):
        self._handles = []

    def add(self, handle):
        self._handles.append(handle)  # may come from any thread, within a garbage collection

    def delete(self, session):
        if len(self._handles) >= _DEAD_AT_ONCE:
            handles, self._handles = self._handles, []
            for handle in handles:
                delete(session, handle)
