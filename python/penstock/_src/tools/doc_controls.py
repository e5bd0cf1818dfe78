"""tensorflow.tools.docs.doc_controls: what a program says about the pages that are made of its docstrings."""


def _as_it_is(obj):
    """The same object."""
    return obj


do_not_generate_docs = do_not_doc_inheritable = do_not_doc_in_subclasses = doc_private = _as_it_is
for_subclass_implementers = doc_in_current_and_subclasses = do_not_doc = _as_it_is
