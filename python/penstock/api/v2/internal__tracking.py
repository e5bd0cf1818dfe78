"""tf.__internal__.tracking."""
FROM = {
    "training.saving.saveable_object_util": "saveable_objects_from_trackable",
    "training.tracking.base": "CheckpointInitialValueCallable Trackable no_automatic_dependency_tracking",
    "training.tracking.base_delegate": "DelegatingTrackableMixin",
    "training.tracking.data_structures": "TrackableDataStructure sticky_attribute_assignment wrap=wrap_or_unwrap",
    "training.tracking.graph_view": "ObjectGraphView",
    "training.tracking.load_status": "register_session_provider",
    "training.tracking.tracking": "AutoTrackable",
    "training.tracking.util": "streaming_restore",
}
