"""tf.autograph.experimental."""
from penstock._src.autograph.core.converter import Feature  # noqa: F401
from penstock._src.autograph.impl.api import do_not_convert  # noqa: F401
from penstock._src.autograph.lang.directives import set_loop_options  # noqa: F401
