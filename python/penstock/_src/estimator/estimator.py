"""Estimator: trains, evaluates, predicts with and exports a model that a function makes."""
import collections
import contextlib
import copy
import os
import tempfile

from penstock._src.session import session as tf_session
from penstock._src.data.experimental.ops import iterator_ops
from penstock._src.distribute import distribute_lib
from penstock._src.graph import context
from penstock._src.estimator import model_fn as model_fn_lib
from penstock._src.estimator import run_config
from penstock._src.estimator import util as estimator_util
from penstock._src.estimator import writers
from penstock._src.saved_model.model_utils import export_utils
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.graph import random_seed
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.metrics import metrics_means
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock._src.saved_model import builder_impl as saved_model_builder
from penstock._src.saved_model import utils_impl as saved_model_utils
from penstock._src.summary import summary
from penstock._src.training import basic_session_run_hooks as basic_hooks
from penstock._src.checkpoint import checkpoint_management
from penstock._src.checkpoint import checkpoint_utils
from penstock._src.training import device_setter
from penstock._src.training import evaluation
from penstock._src.training import monitored_session
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import saver as saver_lib
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util
from penstock._src.checkpoint import warm_starting_util
from penstock._src.base import compat
from penstock._src.base import nest

VocabInfo = warm_starting_util.VocabInfo

_MAY_BE_OVERRIDDEN = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models"}


class Estimator:
    """A model with all that is done to it.

    model_fn: A function of `features` and, where it has such parameters, `labels`, `mode`, `params`, `config`, that
      gives an EstimatorSpec. It is called in a new graph for each training, evaluation, prediction and export.
    model_dir: Of checkpoints and summaries; a temporary one if neither it nor the configuration says.
    config: A RunConfig.
    params: Passed on to the model function and input functions.
    warm_start_from: A checkpoint, SavedModel or WarmStartSettings that variables begin with.
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        self._assert_members_are_not_overridden()
        self._config = maybe_overwrite_model_dir_and_session_config(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        logging.info("Using config: %s", str(vars(self._config)))
        self._device_fn = self._config.device_fn or _replica_device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        model_fn_lib.verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = _get_default_warm_start_settings(warm_start_from)

    @property
    def model_dir(self):
        """Where checkpoints and summaries are."""
        return self._model_dir

    @property
    def config(self):
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self):
        """A copy of the parameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self):
        """The model function with `params` bound: a function of features, labels, mode, config."""

        def public_model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint."""
        self._require_checkpoint()
        with context.graph_mode():
            return checkpoint_utils.load_variable(self.model_dir, name)

    def get_variable_names(self):
        """The names of the variables in the newest checkpoint."""
        self._require_checkpoint()
        with context.graph_mode():
            return [name for name, _ in checkpoint_utils.list_variables(self.model_dir)]

    def _require_checkpoint(self):
        if not self.latest_checkpoint():
            raise ValueError("Could not find trained model in model_dir: {}.".format(self.model_dir))

    def latest_checkpoint(self):
        """The newest checkpoint of the model's directory, or None."""
        with context.graph_mode():
            return checkpoint_management.latest_checkpoint(self.model_dir)

    def eval_dir(self, name=None):
        """Where summaries of evaluations are."""
        return os.path.join(self._model_dir, "eval_" + name if name else "eval")

    # Training

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains until the input ends, for `steps` more steps, or up to `max_steps` in all. Gives itself.

        input_fn: Gives features and labels, or a Dataset of such pairs.
        """
        if self.config.task_type in (run_config.TaskType.EVALUATOR, run_config.TaskType.PS):
            raise ValueError("Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate "
                             "which calls proper API according to given configuration. Current configuration: "
                             "{}.".format(self.config))
        with context.graph_mode():
            if steps is not None and max_steps is not None:
                raise ValueError("Can not provide both steps and max_steps.")
            if steps is not None and steps <= 0:
                raise ValueError("Must specify steps > 0, given: {}".format(steps))
            if max_steps is not None and max_steps <= 0:
                raise ValueError("Must specify max_steps > 0, given: {}".format(max_steps))
            if max_steps is not None and max_steps <= _load_global_step_from_checkpoint_dir(self._model_dir):
                logging.info("Skipping training since max_steps has already saved.")
                return self
            hooks = _check_hooks_type(hooks)
            hooks.extend(self._convert_train_steps_to_hooks(steps, max_steps))
            loss = self._train_model(input_fn, hooks, _check_listeners_type(saving_listeners))
            logging.info("Loss for final step: %s.", loss)
            return self

    def _convert_train_steps_to_hooks(self, steps, max_steps):
        if steps is None and max_steps is None:
            return []
        return [basic_hooks.StopAtStepHook(steps, max_steps)]

    def _train_model(self, input_fn, hooks, saving_listeners):
        with ops.Graph().as_default() as g, g.device(self._device_fn):
            random_seed.set_random_seed(self._config.tf_random_seed)
            # A subclass may say that there is none.
            if self._create_and_assert_global_step(g) is not None:
                training_util._get_or_create_global_step_read(g)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return self._train_with_estimator_spec(spec, list(input_hooks), hooks, training_util.get_global_step(g),
                                                   saving_listeners)

    def _train_with_estimator_spec(self, spec, worker_hooks, hooks, global_step_tensor, saving_listeners):
        config = self._config
        if self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_starting_util.warm_start(*self._warm_start_settings)
        # The loss is seen under this very name.
        if not any(x.op.name == "loss" for x in ops.get_collection(ops.GraphKeys.SUMMARIES)):
            summary.scalar("loss", spec.loss)
        ops.add_to_collection(ops.GraphKeys.LOSSES, spec.loss)
        worker_hooks.extend(hooks)
        worker_hooks.append(basic_hooks.NanTensorHook(spec.loss))
        if config.log_step_count_steps is not None:
            worker_hooks.append(basic_hooks.LoggingTensorHook({"loss": spec.loss, "step": global_step_tensor},
                                                              every_n_iter=config.log_step_count_steps))
        worker_hooks.extend(spec.training_hooks)
        if not (spec.scaffold.saver or ops.get_collection(ops.GraphKeys.SAVERS)):
            ops.add_to_collection(ops.GraphKeys.SAVERS, saver_lib.Saver(
                sharded=True, max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours, defer_build=True,
                save_relative_paths=True))
        chief_hooks = self._saving_hooks(spec, worker_hooks + list(spec.training_chief_hooks), saving_listeners)
        # Iterators are saved before the model: what the model is restored to has been saved of them too.
        input_hooks = tuple(h for h in worker_hooks if isinstance(h, iterator_ops.CheckpointInputPipelineHook))
        if self._config.is_chief and chief_hooks:
            worker_hooks[:] = [hook for hook in worker_hooks if hook not in input_hooks]
            chief_hooks = input_hooks + chief_hooks
        summary_steps, count_steps = self._summary_steps(spec, worker_hooks)
        with monitored_session.MonitoredTrainingSession(
                master=config.master, is_chief=config.is_chief, checkpoint_dir=self._model_dir, scaffold=spec.scaffold,
                hooks=worker_hooks, chief_only_hooks=chief_hooks + tuple(spec.training_chief_hooks),
                save_checkpoint_secs=0,  # a hook does it
                save_summaries_steps=summary_steps, config=self._session_config,
                max_wait_secs=config.session_creation_timeout_secs, log_step_count_steps=count_steps) as session:
            loss = None
            any_step_done = False
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
                any_step_done = True
        if not any_step_done:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _saving_hooks(self, spec, all_hooks, saving_listeners):
        """The hook that saves, unless the model has one, with the listeners."""
        savers = [hook for hook in all_hooks if isinstance(hook, basic_hooks.CheckpointSaverHook)]
        made = ()
        secs, steps = self._config.save_checkpoints_secs, self._config.save_checkpoints_steps
        if not savers and (secs or steps):
            made = (basic_hooks.CheckpointSaverHook(self._model_dir, save_secs=secs, save_steps=steps,
                                                    scaffold=spec.scaffold),)
            savers = made
        if saving_listeners:
            if not savers:
                raise ValueError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                                 "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
            # One is enough.
            listeners = savers[0]._listeners
            listeners.extend(listener for listener in saving_listeners if listener not in listeners)
        return made

    def _summary_steps(self, spec, worker_hooks):
        """How often summaries and speed are written; with a master, which also evaluates, a worker writes them."""
        config = self._config
        jobs = config.cluster_spec.jobs if config.cluster_spec else ()
        if not (run_config.TaskType.WORKER in jobs and run_config.TaskType.MASTER in jobs):
            return config.save_summary_steps, config.log_step_count_steps
        if config.task_type == run_config.TaskType.WORKER and config.task_id == 0:
            if config.save_summary_steps and config.save_summary_steps > 0:
                worker_hooks.append(basic_hooks.SummarySaverHook(
                    save_steps=config.save_summary_steps, output_dir=config.model_dir, scaffold=spec.scaffold))
            if config.log_step_count_steps and config.log_step_count_steps > 0:
                worker_hooks.append(basic_hooks.StepCounterHook(
                    every_n_steps=config.log_step_count_steps, output_dir=config.model_dir))
        return 0, None

    # Evaluation

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """Metrics over the input, or `steps` batches of it, as a dict; also summaries in `eval_dir(name)`."""
        with context.graph_mode():
            hooks = _check_hooks_type(hooks)
            hooks.extend(self._convert_eval_steps_to_hooks(steps))
            checkpoint_path = checkpoint_path or self._latest_checkpoint_to("evaluate")
            with ops.Graph().as_default():
                scaffold, update_op, eval_dict, all_hooks = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
                return self._evaluate_run(checkpoint_path=checkpoint_path, scaffold=scaffold, update_op=update_op,
                                          eval_dict=eval_dict, all_hooks=all_hooks, output_dir=self.eval_dir(name))

    def _latest_checkpoint_to(self, purpose):
        path = checkpoint_management.latest_checkpoint(self._model_dir)
        if not path:
            logging.info("Could not find trained model in model_dir: %s, running initialization to %s.",
                         self._model_dir, purpose)
        return path

    def _convert_eval_steps_to_hooks(self, steps):
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError("Must specify steps > 0, given: {}".format(steps))
        return [evaluation._StopAfterNEvalsHook(num_evals=steps)]

    def _evaluate_build_graph(self, input_fn, hooks=None, checkpoint_path=None):
        """The graph of an evaluation: scaffold, update operation, {name: value} and hooks."""
        random_seed.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(ops.get_default_graph())
        scaffold, evaluation_hooks, input_hooks, update_op, eval_dict = self._call_model_fn_eval(input_fn, self.config)
        # Only now are there variables.
        self._maybe_warm_start(checkpoint_path)
        if ops.GraphKeys.GLOBAL_STEP in eval_dict:
            raise ValueError("Metric with name `global_step` is not allowed, because Estimator already defines a "
                             "default metric with the same name.")
        eval_dict[ops.GraphKeys.GLOBAL_STEP] = training_util.get_global_step(ops.get_default_graph())
        all_hooks = list(input_hooks) + list(hooks) + list(evaluation_hooks or [])
        if scaffold and scaffold.local_init_op:
            # There are more local variables than the model knew of.
            evaluation._get_or_create_eval_step()
            scaffold = monitored_session.Scaffold(
                local_init_op=control_flow_ops.group(scaffold.local_init_op,
                                                     monitored_session.Scaffold.default_local_init_op()),
                copy_from_scaffold=scaffold)
        return scaffold, update_op, eval_dict, all_hooks

    def _call_model_fn_eval(self, input_fn, config):
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.EVAL)
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, config)
        update_op, eval_dict = _extract_metric_update_ops(
            _verify_and_create_loss_metric(spec.eval_metric_ops, spec.loss))
        return spec.scaffold, spec.evaluation_hooks, input_hooks, update_op, eval_dict

    def _evaluate_run(self, checkpoint_path, scaffold, update_op, eval_dict, all_hooks, output_dir):
        results = evaluation._evaluate_once(
            checkpoint_path=checkpoint_path, master=self._config.evaluation_master, scaffold=scaffold,
            eval_ops=update_op, final_ops=eval_dict, hooks=all_hooks, config=self._session_config)
        step = results[ops.GraphKeys.GLOBAL_STEP]
        writers.write_dict_to_summary(output_dir=output_dir, dictionary=results, current_global_step=step)
        if checkpoint_path:
            writers.write_checkpoint_path_to_summary(output_dir=output_dir, checkpoint_path=checkpoint_path,
                                                     current_global_step=step)
        return results

    def _maybe_warm_start(self, checkpoint_path):
        if not checkpoint_path and self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_starting_util.warm_start(*self._warm_start_settings)

    # Prediction

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """Yields predictions, example by example, or batch by batch.

        predict_keys: Which of the predictions; all if None.
        """
        with context.graph_mode():
            hooks = _check_hooks_type(hooks)
            checkpoint_path = checkpoint_path or self._latest_checkpoint_to("predict")
            with ops.Graph().as_default() as g:
                random_seed.set_random_seed(self._config.tf_random_seed)
                self._create_and_assert_global_step(g)
                features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
                spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
                self._maybe_warm_start(checkpoint_path)
                predictions = self._extract_keys(spec.predictions, predict_keys)
                all_hooks = list(input_hooks) + hooks + list(spec.prediction_hooks or [])
                creator = monitored_session.ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint_path, master=self._config.master, scaffold=spec.scaffold,
                    config=self._session_config)
                with monitored_session.MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                    while not session.should_stop():
                        values = session.run(predictions)
                        if not yield_single_examples:
                            yield values
                        elif not isinstance(predictions, dict):
                            yield from values
                        else:
                            for i in range(self._extract_batch_length(values)):
                                yield {key: value[i] for key, value in values.items()}

    def _get_features_from_input_fn(self, input_fn, mode):
        features, _, hooks = estimator_util.parse_input_fn_result(self._call_input_fn(input_fn, mode))
        self._validate_features_in_predict_input(features)
        return features, hooks

    def _validate_features_in_predict_input(self, result):
        if not _has_dataset_or_queue_runner(result):
            logging.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
                            "yields forever. This is probably a mistake.")

    def _extract_batch_length(self, preds_evaluated):
        lengths = [(key, value.shape[0]) for key, value in preds_evaluated.items()]
        for key, length in lengths:
            if length != lengths[0][1]:
                raise ValueError("Batch length of predictions should be same. %s has different batch length than "
                                 "others." % key)
        return lengths[0][1]

    def _extract_keys(self, predictions, predict_keys):
        if not predict_keys:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
        chosen = {key: value for key, value in predictions.items() if key in predict_keys}
        if not chosen:
            raise ValueError("Expected to run at least one output from %s, provided %s." %
                             (predictions.keys(), predict_keys))
        return chosen

    # Export

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                           checkpoint_path=None, experimental_mode=ModeKeys.PREDICT):
        """Writes a SavedModel to a directory below `export_dir_base` that is named by the second; gives its path.

        serving_input_receiver_fn: Gives a ServingInputReceiver.
        assets_extra: {path below assets.extra: file}.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra=assets_extra,
            as_text=as_text, checkpoint_path=checkpoint_path, strip_default_attrs=True)

    def experimental_export_all_saved_models(self, export_dir_base, input_receiver_fn_map, assets_extra=None,
                                             as_text=False, checkpoint_path=None):
        """The same with a graph for each mode of the map."""
        return self._export_all_saved_models(export_dir_base, input_receiver_fn_map, assets_extra=assets_extra,
                                             as_text=as_text, checkpoint_path=checkpoint_path,
                                             strip_default_attrs=True)

    def export_savedmodel(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                          checkpoint_path=None, strip_default_attrs=False):
        """As `export_saved_model`; attributes that have their defaults are kept."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base, {ModeKeys.PREDICT: serving_input_receiver_fn}, assets_extra=assets_extra,
            as_text=as_text, checkpoint_path=checkpoint_path, strip_default_attrs=strip_default_attrs)

    def _checkpoint_to_export(self):
        path = checkpoint_management.latest_checkpoint(self._model_dir)
        if path:
            return path
        if not self._warm_start_settings:
            raise ValueError("Couldn't find trained model at {}.".format(self._model_dir))
        path = self._warm_start_settings.ckpt_to_initialize_from
        return checkpoint_management.latest_checkpoint(path) if gfile.IsDirectory(path) else path

    def _export_all_saved_models(self, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False,
                                 checkpoint_path=None, strip_default_attrs=True):
        with context.graph_mode():
            checkpoint_path = checkpoint_path or self._checkpoint_to_export()
            export_dir = export_utils.get_timestamped_export_dir(export_dir_base)
            temporary = export_utils.get_temp_export_dir(export_dir)
            builder = saved_model_builder.SavedModelBuilder(temporary)
            # The graph of training has most variables, so it goes first.
            modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
                     if input_receiver_fn_map.get(mode)]
            if not modes:
                raise ValueError("No valid modes for exporting found. Got {}.".format(input_receiver_fn_map.keys()))
            for mode in modes:
                self._add_meta_graph_for_mode(builder, input_receiver_fn_map, checkpoint_path,
                                              save_variables=mode == modes[0], mode=mode,
                                              strip_default_attrs=strip_default_attrs)
            builder.save(as_text)
            for name, source in (assets_extra or {}).items():
                target = os.path.join(temporary, b"assets.extra", compat.as_bytes(name))
                gfile.MakeDirs(os.path.dirname(target))
                gfile.Copy(source, target)
            gfile.Rename(temporary, export_dir)
            return export_dir

    def _add_meta_graph_for_mode(self, builder, input_receiver_fn_map, checkpoint_path, save_variables=True,
                                 mode=ModeKeys.PREDICT, export_tags=None, check_variables=True,
                                 strip_default_attrs=True):
        if save_variables and not check_variables:
            raise ValueError("If `save_variables` is `True, `check_variables`must not be `False`.")
        with ops.Graph().as_default() as g:
            self._create_and_assert_global_step(g)
            random_seed.set_random_seed(self._config.tf_random_seed)
            receiver = input_receiver_fn_map[mode]()
            spec = self._call_model_fn(features=receiver.features, labels=getattr(receiver, "labels", None), mode=mode,
                                       config=self.config)
            outputs = export_utils.export_outputs_for_mode(
                mode=spec.mode, serving_export_outputs=spec.export_outputs, predictions=spec.predictions,
                loss=spec.loss, metrics=spec.eval_metric_ops)
            signatures = export_utils.build_all_signature_defs(
                receiver.receiver_tensors, outputs, getattr(receiver, "receiver_tensors_alternatives", None),
                serving_only=mode == ModeKeys.PREDICT)
            with tf_session.Session(config=self._session_config) as session:
                local_init_op = spec.scaffold.local_init_op
                if local_init_op is None:
                    local_init_op = monitored_session.Scaffold.default_local_init_op()
                # The model's own saver restores here, and goes into the SavedModel.
                saver = spec.scaffold.saver or saver_lib.Saver(sharded=True)
                if check_variables:
                    try:
                        saver.restore(session, checkpoint_path)
                    except errors.NotFoundError as e:
                        raise ValueError(
                            "Could not load all requested variables from checkpoint. Please make sure your model_fn "
                            "does not expect variables that were not saved in the checkpoint.\n\nEncountered error "
                            "with mode `{}` while restoring checkpoint from: `{}`. Full Traceback:\n\n{}".format(
                                mode, checkpoint_path, e)) from e
                builder._add_train_op(spec.train_op)
                graph = dict(tags=export_tags or export_utils.EXPORT_TAG_MAP[mode], signature_def_map=signatures,
                             assets_collection=ops.get_collection(ops.GraphKeys.ASSET_FILEPATHS),
                             main_op=local_init_op, saver=saver, strip_default_attrs=strip_default_attrs)
                if save_variables:
                    builder.add_meta_graph_and_variables(session, **graph)
                else:
                    builder.add_meta_graph(**graph)

    # Calls of the user's functions

    def _get_features_and_labels_from_input_fn(self, input_fn, mode):
        return estimator_util.parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _strategy(self, mode):
        """The distribution strategy of a mode, or None."""
        return {model_fn_lib.ModeKeys.TRAIN: self._config.train_distribute,
                model_fn_lib.ModeKeys.EVAL: self._config.eval_distribute}.get(mode)

    def _call_input_fn(self, input_fn, mode, input_context=None):
        available = dict(mode=mode, params=self.params, config=self.config)
        if input_context is None and self._strategy(mode):
            input_context = distribute_lib.InputContext()
        if input_context is not None:
            available["input_context"] = input_context
        with ops.device("/cpu:0"):
            return input_fn(**model_fn_lib.accepted(input_fn, **available))

    def _call_model_fn(self, features, labels, mode, config):
        kwargs = model_fn_lib.accepted(self._model_fn, labels=labels, mode=mode, params=self.params, config=config)
        if labels is not None and "labels" not in kwargs:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        logging.info("Calling model_fn.")
        strategy = self._strategy(mode)
        with strategy.scope() if strategy else contextlib.nullcontext():
            spec = (strategy.run(self._model_fn, kwargs=dict(features=features, **kwargs)) if strategy
                    else self._model_fn(features=features, **kwargs))
        logging.info("Done calling model_fn.")
        if not isinstance(spec, model_fn_lib.EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _create_global_step(self, graph):
        return training_util.create_global_step(graph)

    def _create_and_assert_global_step(self, graph):
        step = self._create_global_step(graph)
        assert step is training_util.get_global_step()
        assert step.dtype.is_integer
        return step

    def _assert_members_are_not_overridden(self):
        """ValueError if a subclass has a member of the same name: what it needs goes into its model function."""
        if self.__class__.__name__ == "TPUEstimator":
            return
        members = {name for name in dir(Estimator) if not name.startswith("__")} - _MAY_BE_OVERRIDDEN
        overridden = [name for name in members & set(self.__class__.__dict__)
                      if getattr(Estimator, name) != getattr(self.__class__, name)]
        if overridden:
            raise ValueError("Subclasses of Estimator cannot override members of Estimator. {} does override {}".format(
                self.__class__, overridden))


def maybe_overwrite_model_dir_and_session_config(config, model_dir):
    """The configuration with a directory and a ConfigProto."""
    if config is None:
        config = run_config.RunConfig()
        logging.info("Using default config.")
    if not isinstance(config, run_config.RunConfig):
        raise ValueError("config must be an instance of `RunConfig`, but provided %s." % config)
    if config.session_config is None:
        config = run_config.RunConfig.replace(config, session_config=run_config.get_default_session_config())
    model_dir = run_config.path_to_str(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                         "constructor: '{}', in `RunConfig`: '{}' ".format(model_dir, config.model_dir))
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", model_dir)
    return run_config.RunConfig.replace(config, model_dir=model_dir) if model_dir else config


def _replica_device_setter(config):
    if config.num_ps_replicas == 0:
        return None
    worker = "/job:%s/task:%d" % (config.task_type, config.task_id) if config.task_type else "/job:worker"
    return device_setter.replica_device_setter(
        ps_tasks=config.num_ps_replicas, worker_device=worker, merge_devices=True,
        ps_ops=list(device_setter.STANDARD_PS_OPS), cluster=config.cluster_spec)


def _check_hooks_type(hooks):
    """A new list of the hooks."""
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, session_run_hook.SessionRunHook):
            raise TypeError("Hooks must be a SessionRunHook, given: {}".format(hook))
    return hooks


def _check_listeners_type(saving_listeners):
    """A new list of the listeners."""
    listeners = list(saving_listeners or [])
    for listener in listeners:
        if not isinstance(listener, basic_hooks.CheckpointSaverListener):
            raise TypeError("saving_listeners must be a list of CheckpointSaverListener, given: {}".format(listener))
    return listeners


def _load_global_step_from_checkpoint_dir(checkpoint_dir):
    """The step of the newest checkpoint; 0 if there is none, or it does not say."""
    path = checkpoint_management.latest_checkpoint(checkpoint_dir)
    if path is None:
        return 0
    try:
        return py_checkpoint_reader.NewCheckpointReader(path).get_tensor(ops.GraphKeys.GLOBAL_STEP)
    except errors.OpError:
        return 0


def _verify_and_create_loss_metric(eval_metric_ops, loss):
    key = model_fn_lib.LOSS_METRIC_KEY
    if key in eval_metric_ops:
        raise ValueError('Metric with name "%s" is not allowed, because Estimator already defines a default metric '
                         "with the same name." % key)
    eval_metric_ops[key] = metrics_means.mean(loss)
    return eval_metric_ops


def _extract_metric_update_ops(eval_dict):
    """One operation for all updates, and {name: value}; in order of names, so that graphs are equal."""
    ordered = sorted(eval_dict.items())
    update_op = control_flow_ops.group(*[update for _, (_, update) in ordered]) if ordered else None
    return update_op, {name: value for name, (value, _) in ordered}


def _has_dataset_or_queue_runner(features):
    tensors = [x for x in nest.flatten(features) if isinstance(x, ops.Tensor)]
    if any(t.op.type == "IteratorGetNext" for t in tensors):
        return True
    return ops.get_default_graph().get_collection(ops.GraphKeys.QUEUE_RUNNERS)


class WarmStartSettings(
        collections.namedtuple("WarmStartSettings", ["ckpt_to_initialize_from", "vars_to_warm_start",
                                                     "var_name_to_vocab_info", "var_name_to_prev_var_name"])):
    """What variables begin with: the arguments of `tf.train.warm_start`."""

    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
                var_name_to_prev_var_name=None):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


def _get_saved_model_ckpt(saved_model_dir):
    """The checkpoint inside of a SavedModel, or None."""
    index = os.path.join(compat.as_text(saved_model_utils.get_variables_dir(saved_model_dir)), "variables.index")
    return saved_model_utils.get_variables_path(saved_model_dir) if gfile.Exists(index) else None


def _get_default_warm_start_settings(warm_start_from):
    """Settings of a path, or as they are given."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got {}".format(
            type(warm_start_from)))
    inside = _get_saved_model_ckpt(warm_start_from)
    if inside:
        logging.info("Warm-starting from a SavedModel")
    return WarmStartSettings(ckpt_to_initialize_from=inside or warm_start_from)
