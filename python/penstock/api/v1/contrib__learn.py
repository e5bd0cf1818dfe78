"""tf.contrib.learn."""
FROM = {
    "contrib.learn.experiment": "Experiment ExportStrategy",
    "contrib.learn.mode_keys": "ModeKeys",
    "contrib.learn.run_config": "RunConfig TaskType",
}
NAMES = {"learn_runner": "contrib.learn.learn_runner"}
