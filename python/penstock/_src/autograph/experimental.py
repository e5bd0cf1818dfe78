"""tf.autograph.experimental."""
from penstock.autograph.core.converter import Feature  # noqa: F401
from penstock.autograph.impl.api import do_not_convert  # noqa: F401
from penstock.autograph.lang.directives import set_loop_options  # noqa: F401
