"""DenseFeatures as in version 2: variables are named by scopes of names."""
from penstock._src.feature_column import dense_features
from penstock._src.feature_column import layers
from penstock._src.graph import ops


class DenseFeatures(dense_features.DenseFeatures):
    """A layer that joins dense columns."""

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns=feature_columns, trainable=trainable, name=name, **kwargs)
        self._state_manager = layers.StateManagerImplV2(self, self.trainable)

    def build(self, _):
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with ops.name_scope(column.name):
                column.create_state(self._state_manager)
        self.built = True
