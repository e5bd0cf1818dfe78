"""tf.keras.callbacks: what a training tells those who watch it."""


class Callback:
    """To be subclassed: each method is called at its point of a training, with a dict of what is known by then."""

    def __init__(self):
        self.validation_data = self.model = self.params = None

    def set_params(self, params):
        """Takes the training's parameters, a dict."""
        self.params = params

    def set_model(self, model):
        """Takes the model."""
        self.model = model

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch."""

    def on_batch_begin(self, batch, logs=None):
        """Before a batch of training."""

    def on_batch_end(self, batch, logs=None):
        """After a batch of training."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before a batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """After a batch of training."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before a batch of an evaluation."""

    def on_test_batch_end(self, batch, logs=None):
        """After a batch of an evaluation."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a batch of a prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After a batch of a prediction."""

    def on_train_begin(self, logs=None):
        """Before the training."""

    def on_train_end(self, logs=None):
        """After the training."""

    def on_test_begin(self, logs=None):
        """Before an evaluation."""

    def on_test_end(self, logs=None):
        """After an evaluation."""

    def on_predict_begin(self, logs=None):
        """Before a prediction."""

    def on_predict_end(self, logs=None):
        """After a prediction."""
