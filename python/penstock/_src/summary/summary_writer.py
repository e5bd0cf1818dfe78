"""A writer of summaries that is a part of models."""
from penstock._src.graph import gen
from penstock._src.summary import summary_ops_v2
from penstock._src.ops.state import tracking


class TrackableSummaryWriter(summary_ops_v2.ResourceSummaryWriter, tracking.TrackableResource):
    """A writer that a SavedModel makes again, for a file of its own."""

    def __init__(self, shared_name, init_op_fn, name=None):
        tracking.TrackableResource.__init__(self)
        self._shared_name, self._name = shared_name, name
        summary_ops_v2.ResourceSummaryWriter.__init__(self, shared_name, init_op_fn, name, v2=True)
        self._resource_handle = self._resource

    def _create_resource(self):
        return gen.summary_writer(shared_name=self._shared_name, name=self._name)

    def _initialize(self):
        return self._init_op_fn(self.resource_handle)

    def _destroy_resource(self):
        gen.destroy_resource_op(self.resource_handle, ignore_lookup_error=True)
