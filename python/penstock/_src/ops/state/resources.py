"""Resources other than variables that have to be initialised: tables, boosted trees and the like."""
import collections
import os

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops

_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Enters a resource, with the operations that make it and that tell whether it is there, in a collection."""
    key = ops.GraphKeys.RESOURCES if is_shared else ops.GraphKeys.LOCAL_RESOURCES
    ops.add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources():
    """The resources that all tasks see."""
    return ops.get_collection(ops.GraphKeys.RESOURCES)


def local_resources():
    """The resources of this session."""
    return ops.get_collection(ops.GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """A 1-D string tensor: the names of the handles of resources (all, if None) that are not initialised."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with ops.name_scope(name):
        with ops.device(os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")):
            if not resource_list:
                return constant_op.constant([], dtype=dtypes.string)
            missing = gen.logical_not(array_ops.stack([r.is_initialized for r in resource_list]))
            names = constant_op.constant([r.handle.name for r in resource_list])
            return array_ops.boolean_mask(names, missing)


def initialize_resources(resource_list, name="init"):
    """An operation that makes the resources."""
    if not resource_list:
        return control_flow_ops.no_op(name=name)
    return control_flow_ops.group(*[r.create for r in resource_list], name=name)
