"""What a model function is called for."""
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys  # noqa: F401
