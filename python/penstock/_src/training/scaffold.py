"""Scaffold: the operations that a training session needs besides the model's own."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import resources
from penstock._src.ops.lookup import tables_initializer
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock._src.summary import summary
from penstock._src.checkpoint import saver as training_saver


def _default_init_op():
    return control_flow_ops.group(variables.global_variables_initializer(),
                                  resources.initialize_resources(resources.shared_resources()),
                                  *ops.get_collection("saved_model_initializers"))


def _default_ready_op():
    return array_ops.concat([variables.report_uninitialized_variables(), resources.report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op():
    return array_ops.concat([variables.report_uninitialized_variables(variables.global_variables()),
                             resources.report_uninitialized_resources(resources.shared_resources())], 0)


class Scaffold:
    """Initializers, checks for readiness, merged summaries and the saver: given, from collections, or made.

    Args:
      init_op: Initializes the model, fed with `init_feed_dict`; then `init_fn(scaffold, session)` is called.
      ready_op, ready_for_local_init_op: Give the names of variables that are not initialized.
      local_init_op: Runs in each new session, fed with `local_init_feed_dict`.
      copy_from_scaffold: Where to take what is not given.
    """

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        given = dict(init_op=init_op, init_feed_dict=init_feed_dict, user_init_fn=init_fn, ready_op=ready_op,
                     ready_for_local_init_op=ready_for_local_init_op, local_init_op=local_init_op,
                     summary_op=summary_op, saver=saver, local_init_feed_dict=local_init_feed_dict)
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        for name, value in given.items():
            if value is None and copy_from_scaffold is not None:
                value = getattr(copy_from_scaffold, "_" + name)
            setattr(self, "_" + name, value)
        user_init_fn = self._user_init_fn
        self._init_fn = (lambda sess: user_init_fn(self, sess)) if user_init_fn else None

    def finalize(self):
        """Makes what is missing and finalizes the graph."""
        keys = ops.GraphKeys
        for name, key, make in (("init_op", keys.INIT_OP, _default_init_op),
                                ("ready_op", keys.READY_OP, _default_ready_op),
                                ("ready_for_local_init_op", keys.READY_FOR_LOCAL_INIT_OP,
                                 _default_ready_for_local_init_op),
                                ("local_init_op", keys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
                                ("summary_op", keys.SUMMARY_OP, summary.merge_all)):
            if getattr(self, "_" + name) is None:
                setattr(self, "_" + name, Scaffold.get_or_default(name, key, make))
        if self._saver is None:
            self._saver = training_saver._get_saver_or_default()
        self._saver = _name_based(self._saver)
        self._saver.build()
        ops.get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self):
        """A function of a session, or None."""
        return self._init_fn

    @property
    def init_op(self):
        """Initializes the model."""
        return self._init_op

    @property
    def ready_op(self):
        """Gives the names of variables that are not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        """Gives the names of variables that `local_init_op` lacks."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self):
        """Runs in each new session."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self):
        """What `local_init_op` is fed with."""
        return self._local_init_feed_dict

    @property
    def summary_op(self):
        """All summaries merged."""
        return self._summary_op

    @property
    def saver(self):
        """The saver."""
        return self._saver

    @property
    def init_feed_dict(self):
        """What `init_op` is fed with."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The only item of a collection; made, and put there, if it is empty."""
        found = ops.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError("More than one item in the collection \"%s\". Please indicate which one to use by "
                               "passing it to the tf.Scaffold constructor as:  tf.Scaffold(%s=item to use)",
                               collection_key, arg_name)
        if found:
            return found[0]
        op = default_constructor()
        if op is not None:
            ops.add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op():
        """Initializes local variables, tables and local resources."""
        return control_flow_ops.group(variables.local_variables_initializer(), tables_initializer.tables_initializer(),
                                      resources.initialize_resources(resources.local_resources()))


def _name_based(saver):
    """A Saver for the objects of a tf.train.Checkpoint; a Saver as it is."""
    if not hasattr(saver, "_frozen_saveable_objects"):
        return saver
    return training_saver.Saver(var_list=saver._frozen_saveable_objects(), sharded=True)
