"""Small models of each kind, trained with Keras on whatever `import tensorflow` gives; prints what training returned.

`python programs.py [eager]` with TensorFlow prints what recorded.json holds."""
import json
import sys

import numpy as np
import tensorflow as tf
import keras
from keras import layers

EAGERLY = "eager" in sys.argv
random = np.random.RandomState(0)
ROWS, CLASSES = random.randn(96, 10).astype("float32"), random.randint(0, 3, 96)
IMAGES, KINDS = random.rand(64, 14, 14, 1).astype("float32"), np.eye(4)[random.randint(0, 4, 64)].astype("float32")
WORDS, LABELS = random.randint(1, 50, (64, 12)), random.randint(0, 2, (64, 1)).astype("float32")
WORDS[:20, 8:] = 0


def mlp():
    model = keras.Sequential([
        layers.Input((10,)), layers.Dense(32), layers.BatchNormalization(), layers.ReLU(), layers.Dropout(0.3),
        layers.Dense(3, activation="softmax")])
    return model, ROWS, CLASSES, "sparse_categorical_crossentropy", keras.optimizers.SGD(0.1, momentum=0.9)


def cnn():
    x = inputs = layers.Input((14, 14, 1))
    x = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(16, 3, strides=2)(layers.MaxPooling2D()(x))
    x = layers.Activation("gelu")(layers.BatchNormalization()(x))
    x = layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, x), IMAGES, KINDS, "categorical_crossentropy", "rmsprop"


def other_convolutions():
    model = keras.Sequential([
        layers.Input((14, 14, 1)), layers.SeparableConv2D(4, 3), layers.DepthwiseConv2D(3),
        layers.Conv2DTranspose(3, 3, strides=2), layers.Flatten(), layers.Dense(4, activation="softmax")])
    return model, IMAGES, KINDS, "kl_divergence", "adamax"


def lstm():
    model = keras.Sequential([
        layers.Input((12,)), layers.Embedding(50, 8, mask_zero=True), layers.LSTM(16),
        layers.Dense(1, activation="sigmoid")])
    return model, WORDS, LABELS, "binary_crossentropy", "adam"


def gru():
    model = keras.Sequential([
        layers.Input((12,)), layers.Embedding(50, 8), layers.Bidirectional(layers.GRU(8, return_sequences=True)),
        layers.GRU(4), layers.Dense(1)])
    return model, WORDS, LABELS, "mse", keras.optimizers.Adagrad(0.05)


def simple_rnn():
    model = keras.Sequential([
        layers.Input((12,)), layers.Embedding(50, 8), layers.SimpleRNN(8, dropout=0.2), layers.Dense(1)])
    return model, WORDS, LABELS, "mae", "nadam"


def attention():
    inputs = layers.Input((12,))
    x = layers.Embedding(50, 16)(inputs)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = layers.Dense(1, activation="sigmoid")(layers.GlobalMaxPooling1D()(x))
    return keras.Model(inputs, x), WORDS, LABELS, "binary_crossentropy", keras.optimizers.AdamW(1e-2)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(8, activation="tanh", kernel_regularizer="l2")
        self.out = layers.Dense(3)

    def call(self, x):
        return self.out(self.hidden(x))


def subclassed():
    return Subclassed(), ROWS, CLASSES, keras.losses.SparseCategoricalCrossentropy(from_logits=True), "ftrl"


def train(make):
    """Losses and metrics of two epochs over a tf.data pipeline, evaluation, and the sum of predictions."""
    keras.utils.set_random_seed(7)
    model, x, y, loss, optimizer = make()
    model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"], run_eagerly=EAGERLY)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=3).batch(16).prefetch(2)
    history = model.fit(data, epochs=2, verbose=0, validation_data=(x[:32], y[:32])).history
    numbers = {name: np.round(values, 5).tolist() for name, values in sorted(history.items())}
    numbers["evaluated"] = np.round(model.evaluate(x, y, batch_size=16, verbose=0), 5).tolist()
    numbers["predicted"] = round(float(np.abs(model.predict(x[:8], verbose=0)).sum()), 4)
    return numbers


if __name__ == "__main__":
    makers = (mlp, cnn, other_convolutions, lstm, gru, simple_rnn, attention, subclassed)
    print(json.dumps({make.__name__: train(make) for make in makers}, indent=1))
