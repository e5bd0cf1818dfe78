"""What `tf.io.parse_example` needs for a canned estimator: columns, label and weight."""
from penstock._src.feature_column import feature_column as fc
from penstock._src.feature_column import feature_column_v2 as fc_v2
from penstock._src.graph import dtypes
from penstock._src.ops.lookup import parsing_ops


def classifier_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.int64, label_default=None,
                                  weight_column=None):
    """Of a classifier."""
    label = parsing_ops.FixedLenFeature((1,), label_dtype, label_default)
    return _with_label_and_weight(fc.make_parse_example_spec(feature_columns), label_key, label, weight_column)


def regressor_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.float32, label_default=None,
                                 label_dimension=1, weight_column=None):
    """Of a regressor."""
    label = parsing_ops.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label_and_weight(fc.make_parse_example_spec(feature_columns), label_key, label, weight_column)


def _with_label_and_weight(spec, label_key, label, weight_column):
    if label_key in spec:
        raise ValueError("label should not be used as feature. label_key: {}, features: {}".format(label_key,
                                                                                                 spec.keys()))
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = fc_v2.numeric_column(weight_column)
    if not isinstance(weight_column, fc_v2.NumericColumn):
        raise ValueError("weight_column should be an instance of tf.feature_column.numeric_column. Given type: {} "
                         "value: {}".format(type(weight_column), weight_column))
    if weight_column.key in spec:
        raise ValueError("weight_column should not be used as feature. weight_column: {}, features: {}".format(
            weight_column.key, spec.keys()))
    spec.update(weight_column.parse_example_spec)
    return spec
