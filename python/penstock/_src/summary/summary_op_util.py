"""Tags and name scopes of summaries."""
import contextlib
import re

from penstock._src.graph import ops
from penstock._src.base import tf_logging

_ILLEGAL = re.compile(r"[^-/\w\.]")


def collect(val, collections, default_collections):
    """Adds a summary to collections of the graph; `collections` None: to the default ones."""
    for key in default_collections if collections is None else collections:
        ops.add_to_collection(key, val)


def skip_summary():
    """Whether summaries are left out here: those of all replicas but the first, and there is one."""
    return False


def clean_tag(name):
    """A name that the graph allows: other characters become underscores, leading slashes go."""
    if name is None:
        return None
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        tf_logging.info("Summary name %s is illegal; using %s instead." % (name, cleaned))
    return cleaned


@contextlib.contextmanager
def summary_scope(name, family=None, default_name=None, values=None):
    """Enters a name scope for a summary; gives its tag and the scope. TensorBoard groups tags by their families."""
    name = clean_tag(name)
    family = clean_tag(family)
    base = name if family is None else "%s/%s" % (family, name)
    with ops.name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else "%s/%s" % (family, tag)), scope
