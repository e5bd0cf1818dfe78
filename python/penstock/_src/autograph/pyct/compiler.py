"""loader, as version 1 calls it."""
from penstock._src.autograph.pyct import loader
from penstock._src.autograph.pyct import parser


def ast_to_source(node, indentation="  "):
    """The code of a node or a list of nodes. indentation: not used, it is 4 columns."""
    return parser.unparse(node, indentation)


def source_to_entity(source, delete_on_exit):
    """loader.load_source."""
    return loader.load_source(source, delete_on_exit)


def ast_to_object(nodes, indentation="  ", include_source_map=False, delete_on_exit=True):
    """loader.load_ast."""
    return loader.load_ast(nodes, indentation, include_source_map, delete_on_exit)
