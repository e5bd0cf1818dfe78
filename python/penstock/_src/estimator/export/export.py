"""What an exported model takes: receivers of requests."""
import collections

from penstock._src.estimator import util
from penstock._src.saved_model.model_utils import export_utils
from penstock._src.saved_model.model_utils.export_utils import (
    SINGLE_FEATURE_DEFAULT_NAME, SINGLE_LABEL_DEFAULT_NAME, SINGLE_RECEIVER_DEFAULT_NAME)
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.lookup import parsing_ops

_SINGLE_NAMES = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}

build_all_signature_defs = export_utils.build_all_signature_defs
get_temp_export_dir = export_utils.get_temp_export_dir
get_timestamped_export_dir = export_utils.get_timestamped_export_dir


def wrap_and_check_input_tensors(tensors, field_name, allow_int_keys=False):
    """The tensors as a dict; a single one gets its field's default name."""
    if tensors is None:
        raise ValueError("{}s must be defined.".format(field_name))
    if not isinstance(tensors, dict):
        tensors = {_SINGLE_NAMES[field_name]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, str) and not (allow_int_keys and isinstance(name, int)):
            raise ValueError("{} keys must be strings{}: {}.".format(field_name, " or ints" if allow_int_keys else "",
                                                                     name))
        _check_tensor(tensor, name, field_name)
    return tensors


def _check_tensor(tensor, name, error_label="feature"):
    if not isinstance(tensor, (ops.Tensor, sparse_tensor.SparseTensor)):
        raise ValueError("{}{} must be a Tensor or SparseTensor.".format(error_label, " {}".format(name) if name else
                                                                         ""))


class ServingInputReceiver(
        collections.namedtuple("ServingInputReceiver",
                               ["features", "receiver_tensors", "receiver_tensors_alternatives"])):
    """Placeholders of requests, and the features that are made of them.

    receiver_tensors_alternatives: {name: other tensors that may be fed instead}.
    """

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        features = wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        receiver_tensors = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError("receiver_tensors_alternatives must be a dict: {}.".format(
                    receiver_tensors_alternatives))
            for name, tensors in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = wrap_and_check_input_tensors(tensors,
                                                                                   "receiver_tensors_alternative")
        return super().__new__(cls, features=features, receiver_tensors=receiver_tensors,
                               receiver_tensors_alternatives=receiver_tensors_alternatives)


class TensorServingInputReceiver(
        collections.namedtuple("TensorServingInputReceiver",
                               ["features", "receiver_tensors", "receiver_tensors_alternatives"])):
    """As ServingInputReceiver, with a single tensor as features."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None)
        receiver = ServingInputReceiver(features=features, receiver_tensors=receiver_tensors,
                                        receiver_tensors_alternatives=receiver_tensors_alternatives)
        return super().__new__(cls, features=receiver.features[SINGLE_FEATURE_DEFAULT_NAME],
                               receiver_tensors=receiver.receiver_tensors,
                               receiver_tensors_alternatives=receiver.receiver_tensors_alternatives)


class UnsupervisedInputReceiver(ServingInputReceiver):
    """Inputs of a training or evaluation without labels."""

    def __new__(cls, features, receiver_tensors):
        return super().__new__(cls, features=features, receiver_tensors=receiver_tensors,
                               receiver_tensors_alternatives=None)


class SupervisedInputReceiver(
        collections.namedtuple("SupervisedInputReceiver", ["features", "labels", "receiver_tensors"])):
    """Inputs of a training or evaluation."""

    def __new__(cls, features, labels, receiver_tensors):
        wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        wrap_and_check_input_tensors(labels, "label", allow_int_keys=True)
        receiver_tensors = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        return super().__new__(cls, features=features, labels=labels, receiver_tensors=receiver_tensors)


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that makes a placeholder of serialized Examples and parses them."""

    def serving_input_receiver_fn():
        serialized = array_ops.placeholder(dtype=dtypes.string, shape=[default_batch_size],
                                           name="input_example_tensor")
        return ServingInputReceiver(parsing_ops.parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_from_tensor(t, default_batch_size=None):
    shape = tensor_shape.TensorShape([default_batch_size]).concatenate(t.get_shape()[1:])
    name = None if getattr(t, "_is_eager", False) else t.op.name
    return array_ops.placeholder(dtype=t.dtype, shape=shape, name=name)


def _placeholders(tensors, default_batch_size, single_name):
    """Placeholders like the tensors: as they are given, and as a dict."""
    if not isinstance(tensors, dict):
        placeholder = _placeholder_from_tensor(tensors, default_batch_size)
        return placeholder, {single_name: placeholder}
    placeholders = {name: _placeholder_from_tensor(t, default_batch_size) for name, t in tensors.items()}
    return placeholders, placeholders


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that makes a placeholder like each feature."""

    def serving_input_receiver_fn():
        tensors, _ = _placeholders(features, default_batch_size, SINGLE_RECEIVER_DEFAULT_NAME)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """A function that makes a placeholder like each feature and each label."""
    overlap = (set(features if isinstance(features, dict) else [SINGLE_RECEIVER_DEFAULT_NAME]) &
               set(labels if isinstance(labels, dict) else [SINGLE_LABEL_DEFAULT_NAME]))
    if overlap:
        raise ValueError("Features and labels must have distinct keys. Found overlapping keys: {}".format(overlap))

    def supervised_input_receiver_fn():
        made, receivers = _placeholders(features, default_batch_size, SINGLE_RECEIVER_DEFAULT_NAME)
        made_labels, label_receivers = _placeholders(labels, default_batch_size, SINGLE_LABEL_DEFAULT_NAME)
        return SupervisedInputReceiver(made, made_labels, {**receivers, **label_receivers})

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(input_fn, **input_fn_args):
    """The same with features and labels as an input function gives them."""
    with ops.Graph().as_default():
        features, labels, _ = util.parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
