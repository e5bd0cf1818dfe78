"""All of exporting."""
from penstock.estimator.export.export import *  # noqa: F401,F403
from penstock.saved_models.model_utils.export_output import (  # noqa: F401
    ClassificationOutput, EvalOutput, ExportOutput, PredictOutput, RegressionOutput, TrainOutput)
from penstock.saved_models.model_utils.export_utils import *  # noqa: F401,F403
