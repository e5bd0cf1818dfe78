"""tf.__internal__.tracking."""
FROM = {
    "checkpoint.saveable_object_util": "saveable_objects_from_trackable",
    "ops.state.base": "CheckpointInitialValueCallable Trackable no_automatic_dependency_tracking",
    "checkpoint.base_delegate": "DelegatingTrackableMixin",
    "ops.state.data_structures": "TrackableDataStructure sticky_attribute_assignment wrap=wrap_or_unwrap",
    "checkpoint.graph_view": "ObjectGraphView",
    "checkpoint.load_status": "register_session_provider",
    "ops.state.tracking": "AutoTrackable",
    "checkpoint.util": "streaming_restore",
}
