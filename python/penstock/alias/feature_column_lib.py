"""All that `tf.feature_column` and layers of columns are made of."""
from penstock._src.feature_column.dense_features import *  # noqa: F401,F403
from penstock._src.feature_column.feature_column import *  # noqa: F401,F403
from penstock._src.feature_column.feature_column_v2 import *  # noqa: F401,F403
from penstock._src.feature_column.sequence_feature_column import *  # noqa: F401,F403
from penstock._src.feature_column.serialization import *  # noqa: F401,F403
