"""Will the guest come back? A linear model and a network learn it together, with tf.estimator and feature columns.

    python -m penstock examples/wide_and_deep.py --steps 400

The guests are made up: age, city, the drinks they had, and whether they came back. The model is trained and evaluated
by turns, exported at its end, and asked again from what was exported. It is a program of TensorFlow 1.
"""
import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

CITIES = ["Bern", "Genf", "Basel", "Chur", "Thun"]
DRINKS = ["tea", "coffee", "cocoa"]


def guests(number, seed):
    """(features, who came back): the young come back for cocoa, people of Chur for tea."""
    random = np.random.RandomState(seed)
    x = {"age": random.randint(15, 80, number).astype(np.float32), "city": random.choice(CITIES, number),
         "drink": random.choice(DRINKS, number)}
    score = (2.0 * (x["drink"] == "cocoa") * (x["age"] < 30) + 2.0 * (x["drink"] == "tea") * (x["city"] == "Chur") +
             0.5 * (x["city"] == "Thun") + random.normal(0, 0.4, number))
    return x, (score > 1).astype(np.int64)


def columns():
    """Columns of the linear model, of the network."""
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: x / 100.0)
    ages = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [20, 30, 40, 60])
    city = tf.feature_column.categorical_column_with_vocabulary_list("city", CITIES)
    drink = tf.feature_column.categorical_column_with_vocabulary_list("drink", DRINKS)
    crossed = [tf.feature_column.crossed_column([ages, drink], 64),
               tf.feature_column.crossed_column([city, drink], 64)]
    deep = [age, tf.feature_column.embedding_column(city, 3), tf.feature_column.indicator_column(drink)]
    return [ages, city, drink] + crossed, deep


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--model_dir", default=None, help="where checkpoints and events go; a temporary one otherwise")
    args = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)

    wide, deep = columns()
    model_dir = args.model_dir or tempfile.mkdtemp()
    config = tf.estimator.RunConfig(model_dir, tf_random_seed=1, save_checkpoints_steps=max(1, args.steps // 2))
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, linear_optimizer=tf.train.FtrlOptimizer(0.1), dnn_feature_columns=deep,
        dnn_hidden_units=[16, 8], dnn_optimizer=tf.train.AdagradOptimizer(0.05), config=config)
    train, test = guests(4000, 0), guests(1000, 1)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(wide + deep))
    metrics, exports = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(tf.estimator.inputs.numpy_input_fn(
            train[0], train[1], batch_size=100, num_epochs=None, shuffle=False), max_steps=args.steps),
        tf.estimator.EvalSpec(tf.estimator.inputs.numpy_input_fn(test[0], test[1], shuffle=False), steps=None,
                              exporters=tf.estimator.FinalExporter("model", receiver), throttle_secs=0))
    print("step %d: right %.3f (always no: %.3f), area under the curve %.3f" % (
        metrics["global_step"], metrics["accuracy"], metrics["accuracy_baseline"], metrics["auc"]))

    with tf.Session(graph=tf.Graph()) as sess:
        graph = tf.saved_model.loader.load(sess, ["serve"], os.fsdecode(exports[0]))
        signature = graph.signature_def["predict"]
        for age, city, drink in ((20, "Basel", "cocoa"), (70, "Basel", "cocoa"), (70, "Chur", "tea")):
            example = tf.train.Example(features=tf.train.Features(feature={
                "age": tf.train.Feature(float_list=tf.train.FloatList(value=[age])),
                "city": tf.train.Feature(bytes_list=tf.train.BytesList(value=[city.encode()])),
                "drink": tf.train.Feature(bytes_list=tf.train.BytesList(value=[drink.encode()]))}))
            chance = sess.run(signature.outputs["logistic"].name,
                              {signature.inputs["examples"].name: [example.SerializeToString()]})
            print("%d, %-5s, %-5s comes back: %2.0f %%" % (age, city, drink, 100 * chance[0, 0]))


if __name__ == "__main__":
    main()
