"""tf.train."""
FROM = {
    "proto": """
        BytesList ClusterDef Example Feature FeatureList FeatureLists Features FloatList Int64List JobDef
        SequenceExample ServerDef""",
    "training.checkpoint_management": "CheckpointManager get_checkpoint_state latest_checkpoint",
    "training.checkpoint_utils": "checkpoints_iterator list_variables load_checkpoint load_variable",
    "training.tracking.checkpoint": "Checkpoint",
    "training.tracking.checkpoint_options": "CheckpointOptions",
    "training.tracking.views": "CheckpointView TrackableView",
    "training.coordinator": "Coordinator",
    "training.moving_averages": "ExponentialMovingAverage",
    "training.server_lib": "ClusterSpec",
}
