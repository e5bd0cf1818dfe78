"""tf.__internal__.tracking."""
FROM = {
    "training.tracking.base": "Trackable no_automatic_dependency_tracking",
    "training.tracking.tracking": "AutoTrackable",
    "training.tracking.data_structures": "TrackableDataStructure sticky_attribute_assignment wrap=wrap_or_unwrap",
    "training.tracking.graph_view": "ObjectGraphView",
}
