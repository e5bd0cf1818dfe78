"""tf.contrib.predictor: a model as a function from a dict of arrays to a dict of arrays."""
from penstock._src.session import session as client
from penstock._src.saved_model.model_utils import mode_keys
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock._src.saved_model import loader_impl
from penstock._src.saved_model import signature_constants
from penstock._src.training import monitored_session


class Predictor:
    """Feeds the tensors of one dict and fetches those of another."""

    def __init__(self, graph, session, inputs, outputs):
        """`inputs` and `outputs`: {key: name of a tensor}."""
        self._graph = graph
        self._session = session
        self._feed_tensors = {key: graph.get_tensor_by_name(name) for key, name in inputs.items()}
        self._fetch_tensors = {key: graph.get_tensor_by_name(name) for key, name in outputs.items()}

    @property
    def graph(self):
        """The graph of the model."""
        return self._graph

    @property
    def session(self):
        """The session in which it runs."""
        return self._session

    @property
    def feed_tensors(self):
        """{key: tensor} of what it takes."""
        return self._feed_tensors

    @property
    def fetch_tensors(self):
        """{key: tensor} of what it gives."""
        return self._fetch_tensors

    def __repr__(self):
        return "{} with feed tensors {} and fetch_tensors {}".format(type(self).__name__, self._feed_tensors,
                                                                     self._fetch_tensors)

    def __call__(self, input_dict):
        """The values of the outputs. ValueError for keys that are no inputs."""
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError("Got unexpected keys in input_dict: {}\nexpected: {}".format(unexpected,
                                                                                        set(self._feed_tensors)))
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


class SavedModelPredictor(Predictor):
    """The model of a SavedModel."""


class CoreEstimatorPredictor(Predictor):
    """The model of an estimator, with its newest checkpoint."""


def _names(infos):
    return {key: info.name for key, info in infos.items()}


def _signature(meta_graph, key):
    key = key or signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    alternative = "default_input_alternative:{}".format(key)
    for name in (key, alternative):
        if name in meta_graph.signature_def:
            if name is alternative:
                logging.warning('Could not find signature def "%s". Using "%s" instead', key, alternative)
            return meta_graph.signature_def[name]
    raise ValueError('Got signature_def_key "{}". Available signatures are {}. Original error:\n{!r}'.format(
        key, list(meta_graph.signature_def), alternative))


def from_saved_model(export_dir, signature_def_key=None, signature_def=None, input_names=None, output_names=None,
                     tags=None, graph=None, config=None):
    """A predictor of the signature of that key (or given itself), or of tensors given by name; `tags` by commas.

    ValueError unless at most one of the three is given, and for an unknown key.
    """
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if sum(given is not None for given in (signature_def_key, signature_def, input_names)) > 1:
        raise ValueError("You must specify at most one of signature_def_key OR signature_def OR(input_names AND "
                         "output_names).")
    graph = graph or ops.Graph()
    with graph.as_default():
        session = client.Session(config=config)
        meta_graph = loader_impl.load(session, (tags or "serve").split(","), export_dir)
    if input_names is None:
        signature_def = signature_def or _signature(meta_graph, signature_def_key)
        input_names, output_names = _names(signature_def.inputs), _names(signature_def.outputs)
    return SavedModelPredictor(graph, session, input_names, output_names)


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A predictor of an estimator's export output of that key. KeyError if it has none of it."""
    output_key = output_key or signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    graph = graph or ops.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, mode_keys.EstimatorModeKeys.PREDICT, estimator.config)
        output = (spec.export_outputs or {}).get(output_key)
        if output is None:
            raise KeyError("output_key must be one of {}; got {}".format(list(spec.export_outputs or ()), output_key))
        signature = output.as_signature_def(receiver.receiver_tensors)
        session = monitored_session.MonitoredSession(session_creator=monitored_session.ChiefSessionCreator(
            config=config, checkpoint_dir=estimator.model_dir))
    return CoreEstimatorPredictor(graph, session, _names(signature.inputs), _names(signature.outputs))
