"""tf.__internal__.mixed_precision."""
FROM = {"training.experimental.mixed_precision": "register_loss_scale_wrapper"}
