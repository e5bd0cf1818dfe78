"""All of exporting."""
from penstock._src.estimator.export.export import *  # noqa: F401,F403
from penstock._src.saved_model.model_utils.export_output import (  # noqa: F401
    ClassificationOutput, EvalOutput, ExportOutput, PredictOutput, RegressionOutput, TrainOutput)
from penstock._src.saved_model.model_utils.export_utils import *  # noqa: F401,F403
