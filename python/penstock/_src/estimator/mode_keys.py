"""What a model function is called for."""
from penstock.saved_models.model_utils.mode_keys import EstimatorModeKeys as ModeKeys  # noqa: F401
