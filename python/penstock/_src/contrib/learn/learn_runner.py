"""tf.contrib.learn.learn_runner: runs what this task of a cluster has to do in an Experiment."""
from penstock._src.contrib.learn import run_config as run_config_lib
from penstock._src.contrib.learn.experiment import Experiment
from penstock._src.contrib.training import hparam


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an Experiment and calls one of its methods, whose result it returns.

    experiment_fn: (run_config, hparams) -> Experiment, or (output_dir) -> Experiment; one of `run_config` and
    `output_dir` is given. schedule: the method's name; by default what the task in TF_CONFIG has to do, and
    "train_and_evaluate" without a cluster. ValueError for a method that is not there, TypeError if none is made.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not output_dir and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`" if output_dir is None else
                         "Must specify an output directory")
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "%s" is not callable.' % experiment_fn)
    if run_config is not None:
        experiment = _with_config(experiment_fn, run_config, hparams)
    elif hparams is not None:
        raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
    else:
        experiment = _checked(experiment_fn(output_dir=output_dir))
    schedule = schedule or _default_schedule(run_config or experiment.estimator.config)
    method = getattr(experiment, schedule, None)
    if method is None:
        raise ValueError("Schedule references non-existent task %s" % schedule)
    if not callable(method):
        raise TypeError("Schedule references non-callable member %s" % schedule)
    return method()


def tune(experiment_fn, tuner):
    """Runs trials, `tuner.run_experiment(experiment_fn)`, as long as there is a `tuner.next_trial()`."""
    def with_check(run_config, hparams):
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _with_config(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(with_check)


def _with_config(experiment_fn, run_config, hparams):
    if not isinstance(run_config, run_config_lib.RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, hparam.HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    expected = run_config.uid()
    experiment = _checked(experiment_fn(run_config, hparams))
    used = experiment.estimator.config
    if not hasattr(used, "uid"):
        raise RuntimeError("Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It is "
                           "likely a different `RunConfig` is passed to `Estimator` or the `config` constructor "
                           "argument in `Estimator` is not set.")
    if used.uid() != expected:
        raise RuntimeError("`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. "
                           "expected {}, but got {}".format(expected, used.uid()))
    return experiment


def _checked(experiment):
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance, got %s instead." % type(experiment))
    return experiment


def _default_schedule(config):
    tasks = config.cluster_spec.as_dict().values() if config.cluster_spec else ()
    if sum(map(len, tasks)) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    types = run_config_lib.TaskType
    schedules = {types.MASTER: "train_and_evaluate", types.PS: "run_std_server", types.WORKER: "train"}
    if config.task_type not in schedules:
        raise ValueError("No default schedule for task type: %s" % config.task_type)
    return schedules[config.task_type]
