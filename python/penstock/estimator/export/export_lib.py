"""All of exporting."""
from penstock.estimator.export.export import *  # noqa: F401,F403
from penstock.estimator.export.export_output import (  # noqa: F401
    ClassificationOutput, EvalOutput, ExportOutput, PredictOutput, RegressionOutput, TrainOutput)
from penstock.estimator.export.export_utils import *  # noqa: F401,F403
