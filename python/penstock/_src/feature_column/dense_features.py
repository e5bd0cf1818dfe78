"""DenseFeatures: what dense columns give, side by side."""
from penstock._src.feature_column import base
from penstock._src.feature_column import layers
from penstock._src.graph import ops


class DenseFeatures(layers.BaseFeaturesLayer):
    """A layer that joins dense columns.

        columns = [tf.feature_column.numeric_column("price"), tf.feature_column.embedding_column(words, dimension=16)]
        inputs = tf.keras.layers.DenseFeatures(columns)(features)
    """

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns=feature_columns, trainable=trainable, name=name,
                         expected_column_type=base.DenseColumn, **kwargs)

    @property
    def _is_feature_layer(self):
        return True

    def _target_shape(self, input_shape, total_elements):
        return (input_shape[0], total_elements)

    def call(self, features, cols_to_output_tensors=None):
        """The matrix; `cols_to_output_tensors`, a dict, gets each column's part."""
        layers.require_dict(features)
        cache = base.FeatureTransformationCache(features)
        outputs = []
        for column in self._feature_columns:
            with ops.name_scope(column.name):
                tensor = self._process_dense_tensor(column, column.get_dense_tensor(cache, self._state_manager))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = tensor
                outputs.append(tensor)
        return self._verify_and_concat_tensors(outputs)
