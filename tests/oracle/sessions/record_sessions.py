"""Random programs of version 1's sessions: monitored training, savers, moving averages, estimators.

    python record_sessions.py OUT.json.gz      # with TensorFlow 1.15.5: runs them, and writes what they gave

A program is drawn from a family's OPTIONS by its number; what it gives are losses, variables, files, the tensors of its
last checkpoint, events, and errors.
"""
import glob
import gzip
import json
import os
import random
import re
import shutil
import sys
import tempfile

import numpy as np

PROGRAMS = 36


def draw(options, number):
    """{name: one of the option's values}, the same for a number in every Python."""
    numbers = random.Random(number)
    return {name: values[int(numbers.random() * len(values))] for name, values in sorted(options.items())}


# What programs leave behind


def files_below(directory):
    """Names of files, without times, hosts and numbers of shards."""
    names = []
    for place, _, found in os.walk(directory):
        for name in found:
            name = os.path.relpath(os.path.join(place, name), directory)
            name = re.sub(r"events\.out\.tfevents\.\d+\.[^/]*$", "events", name)
            names.append(re.sub(r"data-\d{5}-of-\d{5}$", "data", re.sub(r"\d{10,}", "TIME", name)))
    return sorted(set(names))


def tensors_of(tf, prefix):
    """{name: [shape, type, sum of the values]} of a checkpoint."""
    reader = tf.train.NewCheckpointReader(prefix)
    types = reader.get_variable_to_dtype_map()
    found = {}
    for name, shape in reader.get_variable_to_shape_map().items():
        value = reader.get_tensor(name)
        numbers = value.dtype.kind in "fiub"
        found[name] = [shape, types[name].name, float(np.sum(value.astype(float))) if numbers else repr(value.tolist())]
    return found


def events_in(tf, directory):
    """[step, tag, kind, value] of the summaries in a directory; speeds have no value."""
    found = []
    for path in glob.glob(os.path.join(directory, "events*")):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                kind = value.WhichOneof("value")
                number = {"simple_value": value.simple_value, "histo": value.histo.num}.get(kind)
                timed = value.tag.endswith("/sec") or "queue" in value.tag
                found.append([event.step, value.tag, kind, None if timed else number])
    return sorted(found, key=lambda record: record[:2])


def error_of(function):
    """What a function gives, or its error's class and the first line of its message, without paths."""
    try:
        return function()
    except Exception as e:
        return ["raises", type(e).__name__, re.sub(r"/\S+", "PATH", str(e).split("\n")[0])[:100]]


# Models


def regression(seed):
    """12 points [3] and their values."""
    numbers = np.random.RandomState(seed)
    x = numbers.randn(12, 3).astype(np.float32)
    return x, (x.dot(numbers.randn(3, 1)) + 0.5).astype(np.float32)


def optimizer_of(tf, name):
    """An optimizer by its name."""
    return {
        "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
        "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        "Adam": lambda: tf.train.AdamOptimizer(0.05),
        "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
        "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
        "Ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    }[name]()


def partitioner_of(tf, name):
    """A partitioner by its name."""
    return {None: None, "fixed": tf.fixed_size_partitioner(2), "columns": tf.fixed_size_partitioner(2, axis=1),
            "by size": tf.variable_axis_size_partitioner(32),
            "at most": tf.min_max_variable_partitioner(max_partitions=3, min_slice_size=8)}[name]


OPTIMIZERS = ["gradient descent", "momentum", "Adam", "Adagrad", "RMSProp", "Ftrl"]
MODEL = {"hidden": [0, 4], "partitioner": [None, None, "fixed", "by size", "at most"], "resource": [None, True],
         "optimizer": OPTIMIZERS, "data": list(range(9))}


def model(tf, chosen):
    """(prediction, loss) of a small network."""
    x, y = map(tf.constant, regression(chosen["data"]))
    with tf.variable_scope("net", partitioner=partitioner_of(tf, chosen["partitioner"]),
                           use_resource=chosen["resource"]):
        if chosen["hidden"]:
            x = tf.layers.dense(x, chosen["hidden"], tf.nn.tanh,
                                kernel_initializer=tf.random_uniform_initializer(-1, 1, seed=5), name="hidden")
        out = tf.layers.dense(x, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=3), name="out")
    return out, tf.reduce_mean(tf.square(out - y), name="loss")


# Families

MONITORED = dict(
    MODEL, save_steps=[None, 2, 3, 5], summary_steps=[None, 1, 4], log_steps=[2, 100], last_step=[4, 6, 9],
    counts=["last_step", "num_steps"], sessions=[1, 2], clips=[True, False], step_function=[True, False, False],
    hooks=[(), ("saver",), ("summary", "final"), ("saver", "logging"), ("steps", "mine"), ("mine", "final"),
           ("nan", "logging"), ("nan", "saver", "mine", "final")],
    saver=[None, {"max_to_keep": 1}, {"max_to_keep": 2, "pad_step_number": True}, {"sharded": True}])


def hooks_of(tf, chosen, step, loss, directory, calls):
    """The hooks of a program of the family; they note in `calls` what happens."""
    class Listener(tf.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            calls.append(["before", int(global_step_value)])

        def after_save(self, session, global_step_value):
            calls.append(["after", int(global_step_value)])

        def end(self, session, global_step_value):
            calls.append(["end", int(global_step_value)])

    class Mine(tf.train.SessionRunHook):
        def begin(self):
            calls.append("begin")

        def after_create_session(self, session, coord):
            calls.append("created")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(step)

        def after_run(self, run_context, run_values):
            calls.append(["ran", int(run_values.results)])

        def end(self, session):
            calls.append(["done", int(session.run(step))])

    return {
        "saver": lambda: tf.train.CheckpointSaverHook(directory, save_steps=4, listeners=[Listener()],
                                                      checkpoint_basename="extra.ckpt"),
        "summary": lambda: tf.train.SummarySaverHook(save_steps=2, output_dir=directory + "/extra",
                                                     summary_op=tf.summary.scalar("extra", loss * 2)),
        "steps": lambda: tf.train.StepCounterHook(every_n_steps=2, output_dir=directory + "/steps"),
        "final": lambda: tf.train.FinalOpsHook(step.read_value()),
        "nan": lambda: tf.train.NanTensorHook(loss, fail_on_nan_loss=False),
        "logging": lambda: tf.train.LoggingTensorHook(
            {"loss": loss}, every_n_iter=3, at_end=True,
            formatter=lambda values: calls.append(sorted(values)) or "logged"),
        "mine": Mine,
    }


def monitored(tf, chosen, directory):
    """Trains in MonitoredTrainingSessions, one behind the other."""
    given = {}
    for number in range(chosen["sessions"]):
        calls, losses = [], []
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            out, loss = model(tf, chosen)
            step = tf.train.get_or_create_global_step()
            optimizer = optimizer_of(tf, chosen["optimizer"])
            gradients = optimizer.compute_gradients(loss)
            if chosen["clips"]:
                gradients = [(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in gradients]
            train = optimizer.apply_gradients(gradients, global_step=step)
            tf.summary.scalar("loss", loss)
            tf.summary.histogram("out", out)
            last = chosen["last_step"] * (number + 1 if chosen["counts"] == "last_step" else 1)
            made = hooks_of(tf, chosen, step, loss, directory, calls)
            hooks = [tf.train.StopAtStepHook(**{chosen["counts"]: last})] + [made[name]() for name in chosen["hooks"]]
            saver = chosen["saver"]
            arguments = {
                "scaffold": tf.train.Scaffold(saver=tf.train.Saver(**saver)) if saver is not None else None,
                "save_checkpoint_steps": chosen["save_steps"], "save_summaries_steps": chosen["summary_steps"],
                "log_step_count_steps": chosen["log_steps"]}
            if chosen["save_steps"] is None:
                arguments["save_checkpoint_secs"] = None
            if chosen["summary_steps"] is None:
                arguments["save_summaries_secs"] = None
            with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, hooks=hooks, **arguments) as session:
                while not session.should_stop():
                    if chosen["step_function"]:
                        value = session.run_step_fn(lambda step_context: step_context.run_with_hooks([train, loss])[1])
                    else:
                        value = session.run([train, loss])[1]
                    losses.append(float(value))
            given["session %d" % number] = [losses, calls, [v.op.name for v in tf.global_variables()]]
            if "final" in chosen["hooks"]:
                final = hooks[1 + chosen["hooks"].index("final")]
                given["final %d" % number] = int(final.final_ops_values)
    given["files"] = files_below(directory)
    latest = tf.train.latest_checkpoint(directory)
    given["latest"] = latest and [os.path.basename(latest), tensors_of(tf, latest)]
    given["extra"] = events_in(tf, directory + "/extra")
    return given


SAVERS = {
    "resource": [True, False], "partitioner": [None, "fixed", "columns", "by size", "at most"],
    "type": ["float32", "float64", "int32", "int64"], "steps": [(1,), (1, 4, 5), (None, 2, 20, 200, 201)],
    "variables": ["all", "all", "renamed", "some"], "sharded": [False, False, True], "version": [2, 2, 1],
    "max_to_keep": [1, 2, 5, 0], "padded": [True, False], "relative": [True, False], "name": [None, "mine"],
    "meta": [True, True, False], "other": ["same", "partitioned", "shape", "missing"]}


def savers(tf, chosen, directory):
    """Saves, restores, restores elsewhere."""
    given = {}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        def variable(name, shape, dtype="float32"):
            initial = tf.random_uniform_initializer(0, 9, seed=len(name), dtype=tf.as_dtype(dtype))
            return tf.get_variable(name, shape, tf.as_dtype(dtype), initializer=initial,
                                   use_resource=chosen["resource"])

        with tf.variable_scope("part", partitioner=partitioner_of(tf, chosen["partitioner"])):
            a = variable("a", [6, 4])
        b, empty = variable("b", [3], chosen["type"]), variable("scope/empty", [0, 2])
        tf.get_variable("c", initializer=tf.constant([b"x", b"yy"]))
        saver = tf.train.Saver(
            {"all": None, "renamed": {"first": a, "second": b}, "some": [a, b, empty]}[chosen["variables"]],
            sharded=chosen["sharded"], write_version=chosen["version"], max_to_keep=chosen["max_to_keep"],
            pad_step_number=chosen["padded"], save_relative_paths=chosen["relative"], name=chosen["name"])
        given["nodes"] = [[op.name, op.type] for op in graph.get_operations() if op.name.startswith(("save/", "mine/"))]
        session.run(tf.global_variables_initializer())
        values = session.run([tf.convert_to_tensor(a), b])
        for step in chosen["steps"]:
            path = saver.save(session, directory + "/m", global_step=step, write_meta_graph=chosen["meta"])
        given["kept"] = [os.path.basename(kept) for kept in saver.last_checkpoints]
        given["files"] = files_below(directory)
        session.run(tf.global_variables_initializer())
        saver.restore(session, path)
        given["same"] = all(map(np.array_equal, session.run([tf.convert_to_tensor(a), b]), values))
        given["errors"] = [error_of(lambda: saver.restore(session, directory + "/none")),
                           error_of(lambda: saver.restore(session, None)),
                           error_of(lambda: saver.save(session, directory + "/no/such/m"))]
        with open(directory + "/checkpoint") as f:
            given["state"] = re.sub(r"/\S*/", "PATH/", re.sub(r"\d{10}\.\d+", "TIME", f.read()))
    if chosen["version"] == 2:
        given["tensors"] = tensors_of(tf, path)
        given["elsewhere"] = error_of(lambda: elsewhere(tf, chosen, path))
    return given


def elsewhere(tf, chosen, path):
    """Restores into a program with other variables; their sums."""
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("part", partitioner=partitioner_of(tf, "fixed" if chosen["other"] == "partitioned"
                                                                  else None)):
            a = tf.get_variable("a", [4, 6] if chosen["other"] == "shape" else [6, 4])
        b = tf.get_variable("absent" if chosen["other"] == "missing" else "b", [3], tf.as_dtype(chosen["type"]))
        tf.train.Saver({"first": a, "second": b} if chosen["variables"] == "renamed" else None).restore(session, path)
        return [float(np.sum(value)) for value in session.run([tf.convert_to_tensor(a), b])]


AVERAGES = dict(MODEL, decay=[0.5, 0.9, 0.99], counts=[True, False], unbiased=[True, False], steps=[2, 5, 8],
                name=["ExponentialMovingAverage", "average"], of_loss=[True, False])


def averages(tf, chosen, directory):
    """Keeps moving averages, and restores variables from them."""
    given = {}
    with tf.Graph().as_default(), tf.Session() as session:
        loss = model(tf, chosen)[1]
        step = tf.train.get_or_create_global_step()
        train = optimizer_of(tf, chosen["optimizer"]).minimize(loss, step)
        average = tf.train.ExponentialMovingAverage(chosen["decay"], num_updates=step if chosen["counts"] else None,
                                                    name=chosen["name"], zero_debias=chosen["unbiased"])
        trained = tf.trainable_variables()
        with tf.control_dependencies([train]):
            update = average.apply(trained + ([loss] if chosen["of_loss"] else []))
        given["names"] = [average.average_name(variable) for variable in trained]
        given["variables"] = [variable.op.name for variable in tf.global_variables()]
        session.run(tf.global_variables_initializer())
        for _ in range(chosen["steps"]):
            session.run(update)
        given["averages"] = [float(np.sum(value)) for value in session.run(list(map(average.average, trained)))]
        path = tf.train.Saver().save(session, directory + "/m", global_step=step)
        given["tensors"] = tensors_of(tf, path)
    with tf.Graph().as_default(), tf.Session() as session:
        loss = model(tf, chosen)[1]
        wanted = tf.train.ExponentialMovingAverage(chosen["decay"], name=chosen["name"]).variables_to_restore()
        given["wanted"] = sorted(wanted)
        tf.train.Saver(wanted).restore(session, path)
        given["restored"] = float(session.run(loss))
        tf.train.init_from_checkpoint(directory, {"net/": "net/"})
        session.run(tf.global_variables_initializer())
        given["initialized"] = float(session.run(loss))
    return given


ESTIMATORS = {
    "kind": ["LinearRegressor", "LinearClassifier", "DNNRegressor", "DNNClassifier", "DNNLinearCombinedRegressor",
             "DNNLinearCombinedClassifier", "BaselineRegressor"],
    "columns": ["number", "word", "hash", "all", "crossed"], "classes": [2, 3], "words": [True, False],
    "weighted": [True, False, False], "reduction": ["weighted_sum", "weighted_mean", "weighted_sum_over_batch_size"],
    "batch": [4, 7, 20], "steps": [3, 5], "again": [{"steps": 2}, {"max_steps": 6}, {"max_steps": 2}],
    "optimizer": OPTIMIZERS, "save_steps": [2, 100], "summary_steps": [1, 2], "keep": [1, 5], "seed": [1, 5],
    "batch_norm": [False, False, True], "input": ["numpy", "dataset"], "evaluation": [None, "second"],
    "exports": [True, False]}


def columns_of(tf, name):
    """(columns for a linear model, columns for a network)."""
    column = tf.feature_column
    number = column.numeric_column("x", shape=(2,))
    word = column.categorical_column_with_vocabulary_list("word", ["a", "b", "d"], num_oov_buckets=1)
    hashed = column.categorical_column_with_hash_bucket("name", 10)
    bucket = column.bucketized_column(column.numeric_column("z"), [0.0, 1.0])
    indicator = column.indicator_column(word)
    embedding = column.embedding_column(hashed, 3, combiner="sqrtn",
                                        initializer=tf.truncated_normal_initializer(seed=3))
    return {"number": ([number], [number]), "word": ([number, word], [number, indicator]),
            "hash": ([number, hashed], [number, embedding]),
            "all": ([number, word, hashed, bucket], [number, indicator, embedding, bucket]),
            "crossed": ([number, column.crossed_column(["word", "name"], 7)], [number, bucket])}[name]


def estimator_of(tf, chosen, directory):
    """(estimator, its input function of a number of epochs, the columns that examples are parsed for)."""
    kind, (linear, deep) = chosen["kind"], columns_of(tf, chosen["columns"])
    classifies = kind.endswith("Classifier")
    numbers = np.random.RandomState(4)
    x = {"x": numbers.randn(20, 2).astype(np.float32), "word": numbers.choice(["a", "b", "d", "q"], 20),
         "name": numbers.choice(["u", "v", "w"], 20), "z": numbers.randn(20).astype(np.float32),
         "weight": numbers.rand(20, 1).astype(np.float32) + 0.5}
    y = numbers.randint(0, chosen["classes"], 20) if classifies else (x["x"].sum(1) * 2 + 1).astype(np.float32)
    words = ["p", "q", "r"][:chosen["classes"]] if classifies and chosen["words"] else None
    if words:
        y = np.array(words)[y]
    config = tf.estimator.RunConfig(
        model_dir=directory, tf_random_seed=chosen["seed"], save_summary_steps=chosen["summary_steps"],
        save_checkpoints_steps=chosen["save_steps"], keep_checkpoint_max=chosen["keep"], log_step_count_steps=2)
    arguments = {"config": config}
    if kind != "BaselineRegressor":
        arguments.update(weight_column="weight" if chosen["weighted"] else None, loss_reduction=chosen["reduction"])
    if classifies:
        arguments.update(n_classes=chosen["classes"], label_vocabulary=words)
    if kind.startswith("Linear"):
        arguments.update(feature_columns=linear)
    elif kind.startswith("DNNLinear"):
        arguments.update(linear_feature_columns=linear, dnn_feature_columns=deep, dnn_hidden_units=[4],
                         dnn_optimizer=optimizer_of(tf, chosen["optimizer"]))
    elif kind.startswith("DNN"):
        arguments.update(feature_columns=deep, hidden_units=[4, 3], activation_fn=tf.nn.tanh,
                         optimizer=optimizer_of(tf, chosen["optimizer"]), batch_norm=chosen["batch_norm"])

    def inputs(epochs=None):
        if chosen["input"] == "numpy":
            return tf.estimator.inputs.numpy_input_fn(x, y, batch_size=chosen["batch"], num_epochs=epochs,
                                                      shuffle=False)
        return lambda: tf.data.Dataset.from_tensor_slices((x, y)).repeat(epochs).batch(chosen["batch"])

    return getattr(tf.estimator, kind)(**arguments), inputs, linear + deep


def estimators(tf, chosen, directory):
    """Trains, evaluates, predicts and exports with canned estimators."""
    given = {}
    estimator, inputs, columns = estimator_of(tf, chosen, directory)
    estimator.train(inputs(), steps=chosen["steps"])
    estimator.train(inputs(), **chosen["again"])
    name = chosen["evaluation"]
    given["evaluation"] = {key: float(value) for key, value in estimator.evaluate(inputs(1), name=name).items()}
    predictions = list(estimator.predict(inputs(1)))
    given["predictions"] = [len(predictions)] + [
        {key: np.asarray(value).tolist() if np.asarray(value).dtype.kind in "fi" else str(np.asarray(value).tolist())
         for key, value in prediction.items()} for prediction in predictions[:2]]
    given["latest"] = [os.path.basename(estimator.latest_checkpoint()), tensors_of(tf, estimator.latest_checkpoint())]
    given["events"] = events_in(tf, directory)
    given["evaluations"] = events_in(tf, directory + "/eval" + ("_" + name if name else ""))
    if chosen["exports"] and chosen["kind"] != "BaselineRegressor":
        receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
            tf.feature_column.make_parse_example_spec(list(set(columns))))
        path = estimator.export_saved_model(directory + "/exported", receiver)
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.loader.load(session, ["serve"], path.decode() if isinstance(path, bytes) else path)
        given["signatures"] = {
            key: [signature.method_name, sorted(signature.inputs),
                  sorted([name, info.dtype] for name, info in signature.outputs.items())]
            for key, signature in loaded.signature_def.items()}
    given["files"] = files_below(directory)
    return given


FAMILIES = [(monitored, MONITORED), (savers, SAVERS), (averages, AVERAGES), (estimators, ESTIMATORS)]


def run(tf, number):
    """{family, what was chosen, what program `number` gave}."""
    family, options = FAMILIES[number % len(FAMILIES)]
    directory = tempfile.mkdtemp() + "/run"
    os.mkdir(directory)
    tf.reset_default_graph()
    chosen = draw(options, number)
    try:
        given = error_of(lambda: family(tf, chosen, directory))
    finally:
        shutil.rmtree(os.path.dirname(directory), ignore_errors=True)
    return json.loads(json.dumps({"family": family.__name__, "chosen": chosen, "gives": given}))


def main(path):
    """Runs all programs with TensorFlow and writes what they give."""
    import tensorflow as tf
    tf.logging.set_verbosity(tf.logging.FATAL)
    given = {}
    for number in range(PROGRAMS):
        given[str(number)] = run(tf, number)
        print(number, given[str(number)]["family"], str(given[str(number)]["gives"])[:100], flush=True)
    with gzip.open(path, "wt", encoding="utf-8") as f:
        json.dump(given, f, sort_keys=True)


if __name__ == "__main__":
    main(sys.argv[1])
