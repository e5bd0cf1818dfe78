"""tf.contrib.checkpoint."""
FROM = {
    "checkpoint.checkpoint_management": "CheckpointManager",
    "ops.state.base": "CheckpointableBase=Trackable",
    "ops.state.data_structures": "List Mapping NoDependency",
    "ops.state.tracking": "Checkpointable=AutoTrackable",
    "checkpoint.util": "capture_dependencies list_objects object_metadata",
}
