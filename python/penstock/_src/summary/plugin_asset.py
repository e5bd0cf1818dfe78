"""Files that a plugin of TensorBoard wants beside the event file."""
import abc

from penstock._src.graph import ops

_PREFIX = "_plugin_asset_"


def get_plugin_asset(plugin_asset_cls, graph=None):
    """The graph's only instance of a PluginAsset class, made if there is none."""
    graph = graph or ops.get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError("Class %s has no plugin_name" % plugin_asset_cls.__name__)
    name = _PREFIX + plugin_asset_cls.plugin_name
    found = graph.get_collection(name)
    if not found:
        instance = plugin_asset_cls()
        graph.add_to_collection(name, instance)
        graph.add_to_collection(_PREFIX, plugin_asset_cls.plugin_name)
        return instance
    if len(found) != 1:
        raise ValueError("Collection for %s had %d items, expected 1" % (name, len(found)))
    if not isinstance(found[0], plugin_asset_cls):
        raise ValueError("Plugin name collision between classes %s and %s" %
                         (plugin_asset_cls.__name__, found[0].__class__.__name__))
    return found[0]


def get_all_plugin_assets(graph=None):
    """All PluginAssets of a graph."""
    graph = graph or ops.get_default_graph()
    assets = []
    for name in graph.get_collection(_PREFIX):
        found = graph.get_collection(_PREFIX + name)
        if len(found) != 1:
            raise ValueError("Collection for %s had %d items, expected 1" % (name, len(found)))
        assets.append(found[0])
    return assets


class PluginAsset(abc.ABC):
    """What a plugin stores. Subclasses set `plugin_name`."""

    plugin_name = None

    @abc.abstractmethod
    def assets(self):
        """{file name: contents}, written when the graph is added to a FileWriter."""
        raise NotImplementedError()
