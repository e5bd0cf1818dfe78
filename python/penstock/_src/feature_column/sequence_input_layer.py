"""`tf.contrib.feature_column.sequence_input_layer`: columns of sequences as a function with variable scopes."""
from penstock._src.feature_column import base
from penstock._src.feature_column.sequence_feature_column import _assert_all_equal_and_return
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variable_scope


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """The joined columns, [batch, steps, depth], and the lengths, which must be equal."""
    feature_columns = base.normalize_feature_columns(feature_columns, base._FeatureColumn)
    for column in feature_columns:
        if not isinstance(column, base._SequenceDenseColumn):
            raise ValueError("All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                             "sequence_categorical_column with an embedding_column or indicator_column. Given (type "
                             "{}): {}".format(type(column), column))
    with variable_scope.variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        builder = base._LazyBuilder(features)
        outputs, lengths = [], []
        ordered = sorted(feature_columns, key=lambda column: column.name)
        for column in ordered:
            with variable_scope.variable_scope(None, default_name=column._var_scope_name):
                tensor, length = column._get_sequence_dense_tensor(builder, weight_collections=weight_collections,
                                                                   trainable=trainable)
                shape = array_ops.shape(tensor)
                outputs.append(array_ops.reshape(
                    tensor, shape=[shape[0], shape[1], column._variable_shape.num_elements()]))
                lengths.append(length)
        base.verify_static_batch_size_equality(outputs, ordered)
        base.verify_static_batch_size_equality(lengths, ordered)
        return array_ops.concat(outputs, -1), _assert_all_equal_and_return(lengths)
