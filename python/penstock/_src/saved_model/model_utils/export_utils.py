"""Signatures and directories of exported models."""
import collections
import os
import time

from penstock._src.base import tf2
from penstock._src.ops.queues import op_selector
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock._src.saved_model import signature_constants
from penstock._src.saved_model import signature_def_utils_impl as signature_def_utils
from penstock._src.saved_model import tag_constants
from penstock._src.saved_model import utils_impl
from penstock._src.saved_model.model_utils import export_output as export_output_lib
from penstock._src.saved_model.model_utils import mode_keys
from penstock._src.base import compat
from penstock._src.base import nest
from penstock._src.base import object_identity

EXPORT_TAG_MAP = mode_keys.ModeKeyMap(
    predict=[tag_constants.SERVING], train=[tag_constants.TRAINING], test=[tag_constants.EVAL])
SIGNATURE_KEY_MAP = mode_keys.ModeKeyMap(
    predict=signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    train=signature_constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
    test=signature_constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY)
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10

_METHODS = {
    signature_constants.CLASSIFY_METHOD_NAME: "Classify",
    signature_constants.REGRESS_METHOD_NAME: "Regress",
    signature_constants.PREDICT_METHOD_NAME: "Predict",
    signature_constants.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    signature_constants.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def build_all_signature_defs(receiver_tensors, export_outputs, receiver_tensors_alternatives=None, serving_only=True):
    """Signatures of every output with the inputs, and with each alternative ("alternative:output")."""
    if not isinstance(export_outputs, dict):
        raise ValueError("`export_outputs` must be a dict. Received {} with type {}.".format(
            export_outputs, type(export_outputs).__name__))
    signatures, excluded = {}, {}

    def add(receivers, prefix):
        if not isinstance(receivers, dict):
            receivers = {SINGLE_RECEIVER_DEFAULT_NAME: receivers}
        for key, output in export_outputs.items():
            name = prefix + str(key or "None")
            try:
                signature = output.as_signature_def(receivers)
                if tf2.enabled():
                    _ensure_servable(receivers, signature.outputs)
                signatures[name] = signature
            except ValueError as e:
                excluded[name] = str(e)

    add(receiver_tensors, "")
    for name, receivers in (receiver_tensors_alternatives or {}).items():
        add(receivers, "{}:".format(name or "None"))
    _log_signature_report(signatures, excluded)
    if serving_only:
        return {key: value for key, value in signatures.items() if signature_def_utils.is_valid_signature(value)}
    return signatures


def _ensure_servable(receivers, outputs):
    """ValueError: what the outputs are computed of is not all fed by the inputs."""
    inputs = nest.flatten(receivers, expand_composites=True)
    graph = op_selector.get_unique_graph(inputs)
    found = nest.flatten([utils_impl.get_tensor_from_tensor_info(info, graph) for info in outputs.values()],
                         expand_composites=True)
    fed = object_identity.ObjectIdentitySet(inputs)
    for op in op_selector.get_backward_walk_ops(found, stop_at_ts=inputs):
        if op.type == "Placeholder" and op.outputs[0] not in fed:
            raise ValueError(
                f"The signature's input tensors {[t.name for t in inputs]} are insufficient to compute its output keys "
                f"{list(outputs)} (respectively, tensors {[t.name for t in found]}) because of the dependency on "
                f"`{op.name}` which is not given as a signature input.")


def _log_signature_report(signature_def_map, excluded_signatures):
    by_method = collections.defaultdict(list, {method: [] for method in _METHODS})
    for name, signature in signature_def_map.items():
        by_method[signature.method_name].append(name)
    for method, names in by_method.items():
        logging.info("Signatures INCLUDED in export for %s: %s", _METHODS.get(method, method), names or "None")
    if excluded_signatures:
        logging.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, message in excluded_signatures.items():
            logging.info("'%s' : %s", name, message)
    if not signature_def_map:
        logging.warning("Export includes no signatures!")
    elif signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in signature_def_map:
        logging.warning("Export includes no default signature!")


def get_timestamped_export_dir(export_dir_base):
    """A directory of the base, named by the second, that is not there yet."""
    for attempt in range(1, MAX_DIRECTORY_CREATION_ATTEMPTS + 1):
        directory = os.path.join(compat.as_bytes(export_dir_base), compat.as_bytes(str(int(time.time()))))
        if not gfile.Exists(directory):
            return directory
        time.sleep(1)
        logging.warning("Directory {} already exists; retrying (attempt {}/{})".format(
            compat.as_str(directory), attempt, MAX_DIRECTORY_CREATION_ATTEMPTS))
    raise RuntimeError("Failed to obtain a unique export directory name after {} attempts.".format(
        MAX_DIRECTORY_CREATION_ATTEMPTS))


def get_temp_export_dir(timestamped_export_dir):
    """Where to write before the directory gets its name: servers look at names that are numbers only."""
    base, name = os.path.split(timestamped_export_dir)
    return os.path.join(compat.as_bytes(base), b"temp-" + compat.as_bytes(name))


def export_outputs_for_mode(mode, serving_export_outputs=None, predictions=None, loss=None, metrics=None):
    """Names of signatures to outputs."""
    if mode not in SIGNATURE_KEY_MAP:
        raise ValueError("Export output type not found for mode: {}. Expected one of: {}.".format(
            mode, list(SIGNATURE_KEY_MAP)))
    if mode_keys.is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = export_output_lib.TrainOutput if mode_keys.is_train(mode) else export_output_lib.EvalOutput
    return {SIGNATURE_KEY_MAP[mode]: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs, predictions):
    """The outputs with one of the default name; made of the predictions if there are none."""
    default = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        export_outputs = {default: export_output_lib.PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError("`export_outputs` must be dict, given: {}".format(export_outputs))
    for value in export_outputs.values():
        if not isinstance(value, export_output_lib.ExportOutput):
            raise TypeError("Values in `export_outputs` must be ExportOutput objects. Given: {}".format(export_outputs))
    if len(export_outputs) == 1:
        (value,) = export_outputs.values()
        export_outputs.setdefault(default, value)
    elif export_outputs and default not in export_outputs:
        raise ValueError("Multiple `export_outputs` were provided, but none of them is specified as the default. Do "
                         "this by naming one of them with "
                         "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY.")
    return export_outputs
