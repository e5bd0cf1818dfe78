"""tf.train."""
FROM = {
    "penstock.proto": """
        BytesList ClusterDef Example Feature FeatureList FeatureLists Features FloatList Int64List JobDef
        SequenceExample ServerDef""",
    "checkpoint.checkpoint_management": "CheckpointManager get_checkpoint_state latest_checkpoint",
    "checkpoint.checkpoint_utils": "checkpoints_iterator list_variables load_checkpoint load_variable",
    "checkpoint.checkpoint": "Checkpoint",
    "checkpoint.checkpoint_options": "CheckpointOptions",
    "checkpoint.views": "CheckpointView TrackableView",
    "training.coordinator": "Coordinator",
    "training.moving_averages": "ExponentialMovingAverage",
    "session.server_lib": "ClusterSpec",
}
