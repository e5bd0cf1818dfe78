"""Code as syntax trees of the package gast, which are the same for all versions of Python, and back."""
import ast
import io
import tokenize

import gast

from penstock._src.autograph.pyct import errors
from penstock._src.autograph.pyct import inspect_utils
from penstock._src.autograph.pyct import sources

PY2_PREAMBLE = PY3_PREAMBLE = STANDARD_PREAMBLE = ""
STANDARD_PREAMBLE_LEN = 0


def dedent_block(code_string):
    """Code whose first statement begins at column 0. Strings of several lines stay as they are, joined lines are one.

    errors.UnsupportedLanguageElementError if tabs and spaces are mixed.
    """
    code_string = code_string.replace("\\\n", "")
    indentation, inside, levels = None, set(), []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code_string).readline):
            if token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)):
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
            elif token.type == tokenize.INDENT:
                levels.append(token.string)
            if indentation is None and token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT,
                                                          tokenize.STRING):
                indentation = token.string if token.type == tokenize.INDENT else ""
    except (tokenize.TokenError, IndentationError):
        pass  # what a lambda is cut out of may be incomplete
    if not indentation:
        return code_string
    if any(("\t" in level) != ("\t" in indentation) or " " in level and "\t" in level for level in levels):
        raise errors.UnsupportedLanguageElementError("tabs and spaces are mixed in the indentation of the code")
    lines = code_string.split("\n")
    for i, line in enumerate(lines):
        if i + 1 not in inside:
            depth = len(line) - len(line.lstrip())
            lines[i] = line[min(depth, len(indentation)):]
    return "\n".join(lines)


def parse_entity(entity, future_features):
    """(the gast node, the source that it was read from) of a function, method, lambda or class.

    future_features: names to import from __future__ before it. errors.InaccessibleSourceCodeError if there is no
    source; errors.UnsupportedLanguageElementError if it does not tell which lambda it is.
    """
    if inspect_utils.islambda(entity):
        return _parse_lambda(entity)
    try:
        source = inspect_utils.getimmediatesource(entity)
    except OSError as e:
        raise errors.InaccessibleSourceCodeError(
            f"Unable to locate the source code of {entity}: {e}. Functions typed into a prompt have none: define them "
            "in a file, or decorate the call with @tf.autograph.experimental.do_not_convert") from e
    source = "\n".join([*(f"from __future__ import {name}" for name in future_features), dedent_block(source)])
    return parse(source, preamble_len=len(future_features)), source


def _parse_lambda(function):
    node, lines = sources.lambda_of(function)
    first, last = node.lineno - 1, node.end_lineno
    segment = [line.rstrip("\n").encode() for line in lines[first:last]]  # columns are bytes
    segment[-1] = segment[-1][:node.end_col_offset]
    segment[0] = segment[0][node.col_offset:]
    source = "\n".join(part.decode().rstrip() for part in segment)
    ast.increment_lineno(node, -first)
    return gast.ast_to_gast(node), source


def parse(src, preamble_len=0, single_node=True):
    """The statement of some code as a gast node; all of them as a list unless `single_node`.

    preamble_len: how many statements at its beginning are left out. ValueError if there is not exactly one.
    """
    nodes = gast.parse(src).body[preamble_len:]
    if not single_node:
        return nodes
    if len(nodes) != 1:
        raise ValueError(f"expected exactly one node, got {nodes}")
    return nodes[0]


def parse_expression(src):
    """An expression as a gast node. ValueError if the code is something else."""
    node = parse(src.strip())
    if not isinstance(node, gast.Expr):
        raise ValueError(f"expected an expression, got {node}")
    return node.value


def unparse(node, indentation=None, include_encoding_marker=True):
    """The code of a node or a list of nodes, of gast or Python. indentation: not used, it is 4 columns."""
    nodes = node if isinstance(node, (list, tuple)) else (node,)
    code = ["# coding=utf-8"] if include_encoding_marker else []
    for part in nodes:
        part = gast.gast_to_ast(part) if type(part).__module__.startswith("gast") else part
        code.append(ast.unparse(ast.fix_missing_locations(part)).strip())
    return "\n".join(code)
