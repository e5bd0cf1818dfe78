"""Graphs of SavedModels by their tags."""
from penstock._src.saved_model import loader_impl


def read_saved_model(saved_model_dir):
    """The SavedModel message of a directory."""
    return loader_impl.parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir):
    """The tags of each graph, in the file's order."""
    return [list(graph.meta_info_def.tags) for graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir, tag_set):
    """The graph with these tags, given as "tag1,tag2" (or as ""). RuntimeError if there is none."""
    wanted = {tag for tag in tag_set.split(",") if tag}
    for graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    raise RuntimeError("MetaGraphDef associated with tag-set %s could not be found in SavedModel" % tag_set)
