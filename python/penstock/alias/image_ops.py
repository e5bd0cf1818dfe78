"""All image functions in one module, as `tf.image` has them."""
from penstock._src.ops.image.image_boxes import *  # noqa: F401,F403
from penstock._src.ops.image.image_color import *  # noqa: F401,F403
from penstock._src.ops.image.image_files import *  # noqa: F401,F403
from penstock._src.ops.image.image_quality import *  # noqa: F401,F403
from penstock._src.ops.image.image_shape import *  # noqa: F401,F403

