"""Notes on the nodes of syntax trees: a dict on the node, under a key of one of the enumerations below.

It is no field of the node's, so what is made of gast's nodes for Python has no notes.
"""
import ast
import enum

_FIELD = "___pyct_anno"


class NoValue(enum.Enum):
    """Keys of notes; their values are documentation."""

    def of(self, node, default=None):
        """The note of this key, or `default`."""
        return getanno(node, self, default=default)

    def add_to(self, node, value):
        """Writes the note of this key."""
        setanno(node, self, value)

    def exists(self, node):
        """Whether there is a note of this key."""
        return hasanno(node, self)

    def __repr__(self):
        return self.name


class Basic(NoValue):
    """Keys of what the code itself says."""
    QN = "the qualified name of an expression (qual_names)"
    SKIP_PROCESSING = "the node stays as it is"
    INDENT_BLOCK_REMAINDER = "(block, new names): the rest of the statement's block belongs into that block"
    ORIGIN = "where the code came from (origin_info)"
    DIRECTIVES = "what the program says to the conversion about this statement"
    EXTRA_LOOP_TEST = "a further condition under which a for loop goes on"


class Static(NoValue):
    """Keys of what the analyses find (static_analysis)."""
    IS_PARAM = "the name is a parameter of the function"
    SCOPE = "names that the node uses (activity)"
    ARGS_SCOPE = "names in the arguments of a call or function"
    COND_SCOPE = "names in the test of a conditional or loop"
    BODY_SCOPE = "names in the body"
    ORELSE_SCOPE = "names in the other branch"
    DEFINITIONS = "assignments from which a name may have its value (reaching_definitions)"
    ORIG_DEFINITIONS = "DEFINITIONS of the code before anything was rewritten"
    DEFINED_FNS_IN = "local functions that may be defined before the node (reaching_fndefs)"
    DEFINED_VARS_IN = "names that may have a value before the node (reaching_definitions)"
    LIVE_VARS_OUT = "names whose values may be read after the node (liveness)"
    LIVE_VARS_IN = "names whose values may be read from the node on (liveness)"
    TYPES = "types that the expression may have (type_inference)"
    CLOSURE_TYPES = "types that a local function's free names have where it is called (type_inference)"
    VALUE = "the value, if it is known (type_inference)"


FAIL = object()


def keys(node, field_name=_FIELD):
    """The keys of all notes of a node."""
    return frozenset(getattr(node, field_name, ()))


def getanno(node, key, default=FAIL, field_name=_FIELD):
    """A node's note. Without `default`: AttributeError if it has none at all, KeyError if it has not this one."""
    if default is FAIL:
        return getattr(node, field_name)[key]
    return getattr(node, field_name, {}).get(key, default)


def hasanno(node, key, field_name=_FIELD):
    """Whether a node has a note of that key."""
    return key in getattr(node, field_name, ())


def setanno(node, key, value, field_name=_FIELD):
    """Writes a note."""
    if not hasattr(node, field_name):
        setattr(node, field_name, {})
    getattr(node, field_name)[key] = value


def delanno(node, key, field_name=_FIELD):
    """Takes a note away."""
    notes = getattr(node, field_name)
    del notes[key]
    if not notes:
        delattr(node, field_name)


def copyanno(from_node, to_node, key, field_name=_FIELD):
    """Copies a note if it is there."""
    if hasanno(from_node, key, field_name):
        setanno(to_node, key, getanno(from_node, key, field_name=field_name), field_name)


def dup(node, copy_map, field_name=_FIELD):
    """Copies notes of all nodes of a tree to further keys; copy_map: key -> new key."""
    for child in ast.walk(node):
        for old, new in copy_map.items():
            if hasanno(child, old, field_name):
                setanno(child, new, getanno(child, old, field_name=field_name), field_name)
