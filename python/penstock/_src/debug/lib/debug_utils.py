"""Asks a run, through its RunOptions, to send tensors to the debugger."""
import re


def _listed(value):
    return [value] if isinstance(value, str) else list(value or ())


def add_debug_tensor_watch(run_options, node_name, output_slot=0, debug_ops="DebugIdentity", debug_urls=None,
                           tolerate_debug_op_creation_failures=False, global_step=-1):
    """Adds one tensor to what is watched; node "*" with slot -1 stands for all that no other watch names."""
    run_options.debug_options.global_step = global_step
    run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name, output_slot=output_slot, debug_ops=_listed(debug_ops), debug_urls=_listed(debug_urls),
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures)


def _watch(run_options, graph, wanted, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step,
           reset_disk_byte_usage):
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    for op in graph.get_operations():
        for slot, output in enumerate(op.outputs):
            if wanted(op, output):
                add_debug_tensor_watch(run_options, op.name, slot, debug_ops, debug_urls,
                                       tolerate_debug_op_creation_failures, global_step)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph(run_options, graph, debug_ops="DebugIdentity", debug_urls=None, node_name_regex_whitelist=None,
                op_type_regex_whitelist=None, tensor_dtype_regex_whitelist=None,
                tolerate_debug_op_creation_failures=False, global_step=-1, reset_disk_byte_usage=False):
    """Watches the tensors of a graph whose node's name, op and type match all regular expressions that are given."""
    tests = [re.compile(r) if r else None
             for r in (node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)]

    def wanted(op, output):
        return all(test is None or test.match(text)
                   for test, text in zip(tests, (op.name, op.type, output.dtype.name)))

    _watch(run_options, graph, wanted, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step,
           reset_disk_byte_usage)
    if not any(tests):  # what is not in the Python graph too
        add_debug_tensor_watch(run_options, "*", -1, debug_ops, debug_urls, tolerate_debug_op_creation_failures,
                               global_step)


def watch_graph_with_blacklists(run_options, graph, debug_ops="DebugIdentity", debug_urls=None,
                                node_name_regex_blacklist=None, op_type_regex_blacklist=None,
                                tensor_dtype_regex_blacklist=None, tolerate_debug_op_creation_failures=False,
                                global_step=-1, reset_disk_byte_usage=False):
    """Watches the tensors of a graph that match none of the regular expressions."""
    tests = [re.compile(r) if r else None
             for r in (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)]

    def wanted(op, output):
        return not any(test is not None and test.match(text)
                       for test, text in zip(tests, (op.name, op.type, output.dtype.name)))

    _watch(run_options, graph, wanted, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step,
           reset_disk_byte_usage)
