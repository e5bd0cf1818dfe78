"""tf.contrib.checkpoint."""
FROM = {
    "training.checkpoint_management": "CheckpointManager",
    "training.tracking.base": "CheckpointableBase=Trackable",
    "training.tracking.data_structures": "List Mapping NoDependency",
    "training.tracking.tracking": "Checkpointable=AutoTrackable",
    "training.tracking.util": "capture_dependencies list_objects object_metadata",
}
