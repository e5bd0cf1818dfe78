"""What estimators and Keras models have in common when they are exported."""
from penstock._src.saved_model.model_utils.export_output import *  # noqa: F401,F403
from penstock._src.saved_model.model_utils.export_utils import (  # noqa: F401
    EXPORT_TAG_MAP, build_all_signature_defs, export_outputs_for_mode, get_export_outputs, get_temp_export_dir,
    get_timestamped_export_dir)
