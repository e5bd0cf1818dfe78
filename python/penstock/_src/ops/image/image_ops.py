"""All image functions in one module, as `tf.image` has them."""
from penstock.ops.image_boxes import *  # noqa: F401,F403
from penstock.ops.image_color import *  # noqa: F401,F403
from penstock.ops.image_files import *  # noqa: F401,F403
from penstock.ops.image_quality import *  # noqa: F401,F403
from penstock.ops.image_shape import *  # noqa: F401,F403

