"""Keys of notes that the analyses write, besides those of anno.Static."""
from penstock._src.autograph.pyct.anno import NoValue


class NodeAnno(NoValue):
    """Keys of scopes (activity.Scope) and of what names are."""
    IS_LOCAL = "the name is local to the function"
    IS_PARAM = "the name is a parameter of the function"
    IS_MODIFIED_SINCE_ENTRY = "the name was assigned in the function"
    ARGS_SCOPE = "names in the arguments of a call"
    COND_SCOPE = "names in the test of a conditional or loop"
    ITERATE_SCOPE = "names in the assignment to a for loop's variables"
    ARGS_AND_BODY_SCOPE = "names in the arguments and the body of a function or lambda"
    BODY_SCOPE = "names in the body"
    ORELSE_SCOPE = "names in the other branch"
