"""TPUEstimator, running on the CPU.

A program for TPUs gets the batch size in `params["batch_size"]`, and `params["use_tpu"]` is false.
"""
import collections
import math
import signal

from penstock._src.estimator import estimator as estimator_lib
from penstock._src.estimator import model_fn as model_fn_lib
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.estimator.tpu import tpu_config
from penstock._src.estimator.tpu import util as util_lib
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.ops.state import init_ops
from penstock._src.summary import summary_ops_v2
from penstock._src.ops.state import variable_scope
from penstock._src.base import tf_logging as logging
from penstock.proto import summary_pb2
from penstock._src.training import basic_session_run_hooks
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util
from penstock._src.base import function_utils
from penstock._src.base import tf_inspect

_RESERVED_PARAMS = ("batch_size", "context", "use_tpu")


def _validate_host_call(name, host_call):
    """ValueError, TypeError unless it is a function with the tensors that it takes."""
    if not isinstance(host_call, (tuple, list)):
        raise ValueError("{} should be tuple or list".format(name))
    if len(host_call) != 2:
        raise ValueError("{} should have two elements.".format(name))
    function, tensors = host_call
    if not callable(function):
        raise TypeError("{}[0] should be callable.".format(name))
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError("{}[1] should be tuple or list, or dict.".format(name))
    if isinstance(tensors, dict) or tf_inspect.getfullargspec(function).varargs is not None:
        return
    names = function_utils.fn_args(function)
    if len(tensors) != len(names):
        raise RuntimeError("In TPUEstimatorSpec.{}, length of tensors {} does not match method args of the function, "
                           "which takes {}.".format(name, len(tensors), len(names)))


def _call_host(name, host_call):
    """What the function gives."""
    function, tensors = host_call
    if not isinstance(tensors, dict):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as e:
        logging.warning("Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the function's "
                        "arguments", name, e, name)
        raise


class TPUEstimatorSpec(
        collections.namedtuple("TPUEstimatorSpec", [
            "mode", "predictions", "loss", "train_op", "eval_metrics", "export_outputs", "scaffold_fn", "host_call",
            "training_hooks", "evaluation_hooks", "prediction_hooks"])):
    """As EstimatorSpec, with functions in the place of what cannot be on a TPU.

    eval_metrics: (function, tensors): gives {name: (value, update operation)}.
    host_call: (function, tensors): gives operations, such as summaries, to run with each step.
    scaffold_fn: Gives a Scaffold.
    """

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None,
                scaffold_fn=None, host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None):
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _validate_host_call(name, call)
        return super().__new__(
            cls, mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metrics=eval_metrics,
            export_outputs=export_outputs, scaffold_fn=scaffold_fn, host_call=host_call,
            training_hooks=model_fn_lib._checked_hooks(training_hooks),
            evaluation_hooks=model_fn_lib._checked_hooks(evaluation_hooks),
            prediction_hooks=model_fn_lib._checked_hooks(prediction_hooks))

    def as_estimator_spec(self):
        """The same as an EstimatorSpec: the functions called."""
        metrics, hooks = None, ()
        if self.eval_metrics is not None:
            metrics = _call_host("eval_metrics", self.eval_metrics)
        if self.host_call is not None:
            hooks = (_HostCallHook(_call_host("host_call", self.host_call)),)
        return model_fn_lib.EstimatorSpec(
            mode=self.mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
            eval_metric_ops=metrics, export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None, training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks, prediction_hooks=self.prediction_hooks + hooks)


class _HostCallHook(session_run_hook.SessionRunHook):
    """Runs what a host call gave, with its summary writers."""

    def __init__(self, tensors):
        self._tensors = tensors

    def begin(self):
        self._init_ops = summary_ops_v2.summary_writer_initializer_op()
        self._finalize_ops = [summary_ops_v2.flush(writer=op.inputs[0]) for op in self._init_ops]

    def after_create_session(self, session, coord):
        session.run(self._init_ops)

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._tensors)

    def end(self, session):
        session.run(self._finalize_ops)


class ExamplesPerSecondHook(basic_session_run_hooks.StepCounterHook):
    """Logs how many steps and how many examples a second are trained on."""

    def __init__(self, batch_size, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        self._batch_size = batch_size
        super().__init__(every_n_steps=every_n_steps, every_n_secs=every_n_secs, output_dir=output_dir,
                         summary_writer=summary_writer)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        steps = elapsed_steps / elapsed_time
        for tag, rate in (("global_step/sec", steps), ("examples/sec", self._batch_size * steps)):
            if self._summary_writer is not None:
                value = summary_pb2.Summary.Value(tag=tag, simple_value=rate)
                self._summary_writer.add_summary(summary_pb2.Summary(value=[value]), global_step)
            logging.info("%s: %g", tag, rate)


class InstallSignalHandlerHook(session_run_hook.SessionRunHook):
    """Lets Ctrl-C end the process at once while a session runs."""

    def __init__(self):
        self._signal_fn = signal.getsignal(signal.SIGINT)

    def before_run(self, run_context):
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def end(self, session):
        signal.signal(signal.SIGINT, self._signal_fn)


class TPUEstimator(estimator_lib.Estimator):
    """An Estimator whose functions get batch sizes.

    train_batch_size, eval_batch_size, predict_batch_size: What `params["batch_size"]` is in each mode.
    use_tpu: There is none: the model runs on the CPU, and its function is told so.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
                 eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
                 export_to_cpu=True, warm_start_from=None, embedding_config_spec=None):
        if not isinstance(config, tpu_config.RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED_PARAMS):
            raise ValueError("{} are reserved keys but existed in params {}.".format(_RESERVED_PARAMS, params))
        if embedding_config_spec is not None:
            raise ValueError("Embeddings of TPUs need a TPU.")
        if use_tpu:
            if train_batch_size is None:
                raise ValueError("`train_batch_size` cannot be `None`")
            logging.info("There is no TPU: the model runs on the CPU.")
        sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                 ModeKeys.PREDICT: predict_batch_size}
        for mode, size in sizes.items():
            if size is not None:
                util_lib.check_positive_integer(size, "batch size of mode {}".format(mode))
        if not (export_to_cpu or export_to_tpu):
            raise ValueError("One of export_to_cpu and export_to_tpu must be true.")
        model_fn_lib.verify_model_fn_args(model_fn, params)
        self._batch_sizes = sizes
        self._examples_hook_timing = _examples_timing(config)
        self._is_input_fn_invoked = False
        super().__init__(model_fn=self._with_batch_size(model_fn), model_dir=model_dir,
                         # The hook for examples logs the steps.
                         config=config.replace(log_step_count_steps=None), params=params or {},
                         warm_start_from=warm_start_from)

    def _create_global_step(self, graph):
        graph = graph or ops.get_default_graph()
        if training_util.get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default() as g, g.name_scope(None):
            return variable_scope.get_variable(
                ops.GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(),
                trainable=False, use_resource=True,
                collections=[ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.GLOBAL_STEP])

    def _call_input_fn(self, input_fn, mode, input_context=None):
        kwargs = model_fn_lib.accepted(input_fn, params=self.params, config=self.config, mode=mode)
        if "params" not in kwargs:
            raise ValueError('input_fn ({}) does not include params argument, required by TPUEstimator to pass batch '
                             'size as params["batch_size"]'.format(input_fn))
        self._is_input_fn_invoked = True
        _add_param(kwargs["params"], "batch_size", self._batch_sizes[mode])
        with ops.device("/device:CPU:0"):
            return input_fn(**kwargs)

    def _validate_features_in_predict_input(self, result):
        """Inputs without end are not noticed."""

    def _with_batch_size(self, model_fn):
        """The model function with the batch size among its parameters, and an EstimatorSpec as result."""

        def _model_fn(features, labels, mode, config, params):
            # An export knows no batch size.
            is_export, self._is_input_fn_invoked = not self._is_input_fn_invoked, False
            kwargs = model_fn_lib.accepted(model_fn, labels=labels, mode=mode, config=config, params=params)
            if labels is not None and "labels" not in kwargs:
                raise ValueError("model_fn does not take labels, but input_fn returns labels.")
            if "params" not in kwargs:
                raise ValueError("model_fn ({}) does not include params argument, required by TPUEstimator to pass "
                                 "batch size as params['batch_size']".format(model_fn))
            if not is_export:
                _add_param(params, "batch_size", self._batch_sizes[mode])
            _add_param(params, "use_tpu", False)
            logging.info("Running %s on CPU", mode)
            spec = model_fn(features=features, **kwargs)
            if isinstance(spec, TPUEstimatorSpec):
                spec = spec.as_estimator_spec()
            if self._examples_hook_timing is None or self._batch_sizes[ModeKeys.TRAIN] is None:
                return spec
            hook = ExamplesPerSecondHook(self._batch_sizes[ModeKeys.TRAIN], output_dir=self._summary_dir(config),
                                         **self._examples_hook_timing)
            return spec._replace(training_hooks=spec.training_hooks + (hook,))

        return _model_fn

    def _summary_dir(self, config):
        return self.model_dir if not config or config.save_summary_steps else None


def _add_param(params, key, value):
    """Adds to a dict, or to a tf.contrib.training.HParams."""
    if value is None:
        return
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


def _examples_timing(config):
    """When to log; None: never."""
    loop = util_lib.parse_iterations_per_loop(config.tpu_config.iterations_per_loop)
    if loop.unit == "seconds":
        return dict(every_n_steps=None, every_n_secs=loop.value)
    if config.log_step_count_steps is None:
        return None
    return dict(every_n_steps=math.ceil(config.log_step_count_steps / loop.value), every_n_secs=None)
