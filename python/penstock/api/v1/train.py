"""tf.train."""
WITHOUT = "CheckpointView TrackableView"
FROM = {
    "training.adadelta": "AdadeltaOptimizer",
    "training.adagrad": "AdagradOptimizer",
    "training.adagrad_da": "AdagradDAOptimizer",
    "training.adam": "AdamOptimizer",
    "training.basic_loops": "basic_train_loop",
    "training.basic_session_run_hooks": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook
        LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer
        StepCounterHook StopAtStepHook SummarySaverHook""",
    "checkpoint.checkpoint_management": """
        checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes remove_checkpoint
        update_checkpoint_state""",
    "checkpoint.checkpoint_utils": "init_from_checkpoint",
    "training.coordinator": "LooperThread",
    "training.device_setter": "replica_device_setter",
    "training.ftrl": "FtrlOptimizer",
    "training.gradient_descent": "GradientDescentOptimizer",
    "training.input": """
        batch batch_join input_producer limit_epochs match_filenames_once maybe_batch maybe_batch_join
        maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer shuffle_batch shuffle_batch_join
        slice_input_producer string_input_producer""",
    "training.learning_rate_decay": """
        cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay
        natural_exp_decay noisy_linear_cosine_decay piecewise_constant piecewise_constant_decay polynomial_decay""",
    "training.momentum": "MomentumOptimizer",
    "training.monitored_session": """
        ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionCreator
        SingularMonitoredSession WorkerSessionCreator""",
    "training.optimizer": "Optimizer",
    "training.proximal_adagrad": "ProximalAdagradOptimizer",
    "training.proximal_gradient_descent": "ProximalGradientDescentOptimizer",
    "checkpoint.py_checkpoint_reader": "NewCheckpointReader",
    "training.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "training.rmsprop": "RMSPropOptimizer",
    "session.server_lib": "Server",
    "checkpoint.saver": "Saver export_meta_graph import_meta_graph",
    "summary.summary_iterator": "summary_iterator",
    "training.session_manager": "SessionManager",
    "training.session_run_hook": "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
    "training.supervisor": "Supervisor",
    "checkpoint.util": "Checkpoint",
    "training.sync_replicas_optimizer": "SyncReplicasOptimizer",
    "checkpoint.training_util": """
        assert_global_step create_global_step get_global_step get_or_create_global_step global_step write_graph""",
    "checkpoint.warm_starting_util": "VocabInfo warm_start",
    "penstock.proto": "SaverDef",
}
