"""Signatures: what a model's graph can be asked, by names of inputs and outputs."""
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock.proto import meta_graph_pb2
from penstock.proto import types_pb2
from penstock._src.saved_model import signature_constants as names
from penstock._src.saved_model import utils_impl as utils


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    """A SignatureDef of {name: TensorInfo}, and of {name: constant tensor} for inputs that may be left out. ValueError:
    a default is no constant."""
    signature = meta_graph_pb2.SignatureDef()
    for ours, given in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for name in given or ():
            ours[name].CopyFrom(given[name])
    if method_name is not None:
        signature.method_name = method_name
    for name, default in (defaults or {}).items():
        if isinstance(default, ops.Tensor):
            if not default._is_eager and default.op.type != "Const":
                raise ValueError(f"Unable to convert object {default} of type {type(default)} to TensorProto.")
            default = tensor_util.make_tensor_proto(tensor_util.constant_value(default))
        signature.defaults[name].CopyFrom(default)
    return signature


def _infos(tensors):
    return {name: utils.build_tensor_info(tensor) for name, tensor in tensors.items()}


def _examples_info(examples, kind):
    if examples is None:
        raise ValueError("%s examples cannot be None." % kind)
    if not isinstance(examples, ops.Tensor):
        raise ValueError("%s examples must be a string Tensor." % kind)
    return _info_of_type(examples, types_pb2.DT_STRING, "%s examples must be a string Tensor." % kind)


def _info_of_type(tensor, dtype, message):
    info = utils.build_tensor_info(tensor)
    if info.dtype != dtype:
        raise ValueError(message)
    return info


def regression_signature_def(examples, predictions):
    """From serialized examples to a number for each."""
    info = _examples_info(examples, "Regression") if predictions is not None or examples is None else None
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    output = _info_of_type(predictions, types_pb2.DT_FLOAT, "Regression output must be a float Tensor.")
    return build_signature_def({names.REGRESS_INPUTS: info}, {names.REGRESS_OUTPUTS: output},
                               names.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    """From serialized examples to classes, or scores, or both."""
    if classes is None and scores is None and isinstance(examples, ops.Tensor):
        raise ValueError("Classification classes and scores cannot both be None.")
    inputs = {names.CLASSIFY_INPUTS: _examples_info(examples, "Classification")}
    outputs = {}
    if classes is not None:
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _info_of_type(
            classes, types_pb2.DT_STRING, "Classification classes must be a string Tensor.")
    if scores is not None:
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _info_of_type(
            scores, types_pb2.DT_FLOAT, "Classification scores must be a float Tensor.")
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs, outputs):
    """From any tensors to any tensors, given as {name: tensor}."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def supervised_train_signature_def(inputs, loss, predictions=None, metrics=None):
    """A step of training."""
    return _supervised_signature_def(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs, loss, predictions=None, metrics=None):
    """A step of evaluation."""
    return _supervised_signature_def(names.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised_signature_def(method_name, inputs, loss=None, predictions=None, metrics=None):
    if not inputs:
        raise ValueError("{} inputs cannot be None or empty.".format(method_name))
    outputs = {}
    for some in (loss, predictions, metrics):
        outputs.update(_infos(some or {}))
    return build_signature_def(_infos(inputs), outputs, method_name)


def is_valid_signature(signature_def):
    """Whether it classifies, regresses or predicts, with the inputs and outputs that this takes."""
    if signature_def is None:
        return False
    inputs = {name: info.dtype for name, info in signature_def.inputs.items()}
    outputs = {name: info.dtype for name, info in signature_def.outputs.items()}
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    if signature_def.method_name == names.REGRESS_METHOD_NAME:
        return (inputs == {names.REGRESS_INPUTS: types_pb2.DT_STRING} and
                outputs == {names.REGRESS_OUTPUTS: types_pb2.DT_FLOAT})
    if signature_def.method_name == names.CLASSIFY_METHOD_NAME:
        types = {names.CLASSIFY_OUTPUT_CLASSES: types_pb2.DT_STRING, names.CLASSIFY_OUTPUT_SCORES: types_pb2.DT_FLOAT}
        return (inputs == {names.CLASSIFY_INPUTS: types_pb2.DT_STRING} and bool(outputs) and
                all(types.get(name) == dtype for name, dtype in outputs.items()))
    return False


def op_signature_def(op, key):
    """A signature that does nothing but name an operation."""
    return build_signature_def(outputs={key: utils.build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def, key, import_scope=None):
    """The operation that such a signature names. NotFoundError if the graph does not have it."""
    try:
        return utils.get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None, None, "The {0} could not be found in the graph. Please make sure the SavedModel was created by the "
            "internal _SavedModelBuilder. If you are using the public API, please make sure the SignatureDef in the "
            "SavedModel does not contain the key \"{0}\".".format(key)) from None
