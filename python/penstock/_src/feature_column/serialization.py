"""Columns as configurations (`keras.layers.DenseFeatures` is saved with them)."""
from penstock._src.feature_column import base
from penstock._src.feature_column import categorical_columns as categorical
from penstock._src.feature_column import dense_columns as dense
from penstock._src.feature_column import sequence_feature_column as sequence
from penstock._src.ops.state import init_ops

_COLUMNS = {cls.__name__: cls for cls in (
    dense.BucketizedColumn, categorical.CrossedColumn, dense.EmbeddingColumn, categorical.HashedCategoricalColumn,
    categorical.IdentityCategoricalColumn, dense.IndicatorColumn, dense.NumericColumn,
    categorical.SequenceCategoricalColumn, base.SequenceDenseColumn, dense.SharedEmbeddingColumn,
    categorical.VocabularyFileCategoricalColumn, categorical.VocabularyListCategoricalColumn,
    categorical.WeightedCategoricalColumn, init_ops.TruncatedNormal, sequence.SequenceNumericColumn)}


def serialize_feature_column(fc):
    """{"class_name": ..., "config": ...}; the name of a feature as it is."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, base.FeatureColumn):
        return {"class_name": fc.__class__.__name__, "config": fc._get_config()}
    raise ValueError("Instance: {} is not a FeatureColumn".format(fc))


def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    """The column of a configuration; one that `columns_by_name` has is not made twice."""
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError("Improper config format: " + str(config))
    cls = (custom_objects or {}).get(config["class_name"]) or _COLUMNS.get(config["class_name"])
    if cls is None:
        raise ValueError("Unknown feature_column_v2: " + config["class_name"])
    if not issubclass(cls, base.FeatureColumn):
        raise ValueError("Expected FeatureColumn class, instead found: {}".format(cls))
    columns_by_name = {} if columns_by_name is None else columns_by_name
    column = cls._from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    return columns_by_name.setdefault(_column_name_with_class_name(column), column)


def _column_name_with_class_name(fc):
    return fc.__class__.__name__ + ":" + fc.name


def serialize_feature_columns(feature_columns):
    """A list of configurations."""
    return [serialize_feature_column(fc) for fc in feature_columns]


def deserialize_feature_columns(configs, custom_objects=None):
    """The columns of a list of configurations."""
    columns_by_name = {}
    return [deserialize_feature_column(config, custom_objects, columns_by_name) for config in configs]


def deserialize_object(config, custom_objects=None):
    """A function by its name in `custom_objects`, or an initializer by class and configuration."""
    custom_objects = custom_objects or {}
    if config is None:
        return None
    if isinstance(config, str):
        if config not in custom_objects:
            raise ValueError("Unknown function: " + config)
        return custom_objects[config]
    if not isinstance(config, dict) or "class_name" not in config:
        raise ValueError("Improper config format: " + str(config))
    cls = custom_objects.get(config["class_name"]) or getattr(init_ops, config["class_name"], None)
    if cls is None:
        raise ValueError("Unknown object: " + config["class_name"])
    return cls.from_config(config["config"])
