"""Names of what is fetched and fed."""
import collections
import json

GRPC_URL_PREFIX = "grpc://"

RunKey = collections.namedtuple("RunKey", ["feed_names", "fetch_names"])


def get_graph_element_name(elem):
    """The name of a tensor, operation or variable; of anything else its text."""
    return elem.name if hasattr(elem, "name") else str(elem)


def get_flattened_names(feeds_or_fetches):
    """The names in nested lists, tuples and values of dicts."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if not isinstance(feeds_or_fetches, (list, tuple)):
        return [get_graph_element_name(feeds_or_fetches)]
    return [name for item in feeds_or_fetches for name in get_flattened_names(item)]


def get_run_key(feed_dict, fetches):
    """A text that tells runs apart by what they are fed and asked for."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
