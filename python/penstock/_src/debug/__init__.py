"""tfdbg, TensorFlow's debugger of version 1 (tensorflow.python.debug): sessions that show or dump what nodes gave."""
from penstock._src.debug.lib.debug_data import DebugDumpDir, DebugTensorDatum, has_inf_or_nan, load_tensor_from_event
from penstock._src.debug.lib.debug_data import load_tensor_from_event_file
from penstock._src.debug.lib.debug_utils import add_debug_tensor_watch, watch_graph, watch_graph_with_blacklists
from penstock._src.debug.wrappers.dumping_wrapper import DumpingDebugWrapperSession
from penstock._src.debug.wrappers.framework import WatchOptions
from penstock._src.debug.wrappers.hooks import DumpingDebugHook, LocalCLIDebugHook
from penstock._src.debug.wrappers.local_cli_wrapper import LocalCLIDebugWrapperSession

__all__ = ["DebugDumpDir", "DebugTensorDatum", "DumpingDebugHook", "DumpingDebugWrapperSession", "LocalCLIDebugHook",
           "LocalCLIDebugWrapperSession", "WatchOptions", "add_debug_tensor_watch", "has_inf_or_nan",
           "load_tensor_from_event", "load_tensor_from_event_file", "watch_graph", "watch_graph_with_blacklists"]
