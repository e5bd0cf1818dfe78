"""Local functions as parts of what was converted."""
import ast

from penstock._src.autograph.converters import code


def transform(node, ctx):
    """A tree whose local functions are marked as converted (by `ag__`), so that calls do not convert them again.

    Functions need nothing else here: they have no scope of their own that return_statements would have to leave.
    """
    functions = [(node, 0)]
    while functions:
        part, depth = functions.pop()
        if type(part).__name__ == "FunctionDef":
            if depth:
                part.decorator_list.append(code.expression("ag__.autograph_artifact", part))
            depth += 1
        if type(part).__name__ != "ClassDef":  # whose methods are converted when they are called
            functions.extend((child, depth) for child in ast.iter_child_nodes(part))
    return node
