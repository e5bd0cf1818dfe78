"""Loads a SavedModel of version 1 as an object of version 2."""
import functools

from penstock._src.graph import context
from penstock._src.function import lift_to_graph
from penstock._src.tf_function import wrap_function
from penstock._src.graph import constant_op
from penstock._src.graph import composite_tensor
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.saved_model import function_deserialization
from penstock._src.saved_model import loader_impl
from penstock._src.saved_model import signature_serialization
from penstock._src.saved_model import utils_impl
from penstock._src.checkpoint import saver as tf_saver
from penstock._src.training import scaffold
from penstock._src.ops.state import tracking
from penstock._src.base import nest


class _Initializer(tracking.CapturableResource):
    """What runs a model's initialization, with the paths of its files."""

    def __init__(self, init_fn, asset_paths):
        super().__init__()
        self._asset_paths = asset_paths
        self._init_fn = init_fn

    def _create_resource(self):
        return constant_op.constant(1.0)  # it has no state of its own

    def _initialize(self):
        return self._init_fn(*[path.asset_path for path in self._asset_paths])


def _named_inputs(name, feed):
    """(names, tensors) of an input, which may be made of several."""
    if isinstance(feed, sparse_tensor.SparseTensor):
        return ([f"{name}_indices", f"{name}_values", f"{name}_dense_shape"],
                [feed.indices, feed.values, feed.dense_shape])
    if isinstance(feed, composite_tensor.CompositeTensor):
        parts = nest.flatten(feed, expand_composites=True)
        return [f"{name}_component_{i}" for i in range(len(parts))], parts
    return [name], [feed]


class _EagerSavedModelLoader(loader_impl.SavedModelLoader):
    """Wraps the graph into functions."""

    def get_meta_graph_def_from_tags(self, tags):
        if tags is not None:
            return super().get_meta_graph_def_from_tags(tags)
        graphs = self._saved_model.meta_graphs
        if len(graphs) != 1:
            raise ValueError("Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there "
                             f"is more than one MetaGraph. Got `tags=None`, but there are {len(graphs)} MetaGraphs in "
                             f"the SavedModel with tag sets: {[list(g.meta_info_def.tags) for g in graphs]}. Pass a "
                             "`tags=` argument to load this SavedModel.")
        return graphs[0]

    @staticmethod
    def _import(returns, meta_graph_def):
        returns.append(tf_saver._import_meta_graph_with_return_elements(meta_graph_def)[0])

    @staticmethod
    def _restore_function(wrapped, saver):
        if saver is None:
            return None
        filename = wrapped.graph.as_graph_element(saver.saver_def.filename_tensor_name)
        return wrapped.prune(feeds=[filename], fetches=[
            filename, wrapped.graph.as_graph_element(saver.saver_def.restore_op_name)])

    def _restore_variables(self, wrapped, restore):
        initializer, _ = restore(constant_op.constant(self._variables_path))
        if not ops.executing_eagerly():
            # Version 1.15 and version 2 look in different places for what no variable stands for. What is run as
            # tables are initialized would undo what a later checkpoint restored.
            if not tf2.enabled():
                ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, initializer)
            ops.add_to_collection("saved_model_initializers", initializer)
            for variable in wrapped.graph.get_collection_ref(ops.GraphKeys.GLOBAL_VARIABLES):
                variable._initializer_op = initializer.op

    @staticmethod
    def _signatures(wrapped, meta_graph_def):
        functions = {}
        for key, signature in meta_graph_def.signature_def.items():
            names, feeds = [], []
            for name, info in sorted(signature.inputs.items()):
                more_names, more_feeds = _named_inputs(name, utils_impl.get_element_from_tensor_info(
                    info, wrapped.graph) if info.WhichOneof("encoding") == "name" else
                    utils_impl.get_tensor_from_tensor_info(info, wrapped.graph))
                names, feeds = names + more_names, feeds + more_feeds
            fetches = {name: utils_impl.get_element_from_tensor_info(info, wrapped.graph)
                       if info.WhichOneof("encoding") == "name" else
                       utils_impl.get_tensor_from_tensor_info(info, wrapped.graph)
                       for name, info in signature.outputs.items()}
            specs = {name: TensorSpec(feed.shape, feed.dtype, name) for name, feed in zip(names, feeds)}
            try:
                function = wrapped.prune(feeds=feeds, fetches=fetches, input_signature=((), specs))
            except lift_to_graph.UnliftableError as e:
                raise lift_to_graph.UnliftableError(
                    "A SavedModel signature needs an input for each placeholder the signature's outputs use. An output "
                    f"for signature '{key}' depends on a placeholder which is not an input (i.e. the placeholder is "
                    f"not fed a value).\n\n{e}") from None
            function._arg_keywords = names
            function._num_positional_args = len(names)
            functions[key] = function
        return functions

    def load(self, tags, skip_restoring_checkpoint=False):
        """The object."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        suffix = f"_load_{ops.uid()}"
        functions = function_deserialization.load_function_def_library(
            meta_graph_def.graph_def.library, load_shared_name_suffix=suffix)
        del meta_graph_def.graph_def.library.function[:]
        for function in functions.values():
            meta_graph_def.graph_def.library.function.add().CopyFrom(function.function_def)
        for node in meta_graph_def.graph_def.node:
            function_deserialization.fix_node_def(node, functions, suffix)
        returns = []
        wrapped = wrap_function.wrap_function(functools.partial(self._import, returns, meta_graph_def), signature=[])
        for function in functions.values():
            # What is pruned from the graph calls them, and keeps them in the library.
            wrapped.graph._functions[function._definition.text] = function._definition
        restore = self._restore_function(wrapped, returns[0])
        if restore is not None and not skip_restoring_checkpoint:
            self._restore_variables(wrapped, restore)
        with wrapped.graph.as_default():
            init_op = loader_impl.get_init_op(meta_graph_def)
            if init_op is None:
                init_op = scaffold.Scaffold.default_local_init_op()
            # What is pruned to gives something.
            anchor = constant_op.constant(0.0, name="dummy_fetch")
        root = tracking.AutoTrackable()
        if restore is not None:
            root.restore = lambda path: restore(constant_op.constant(path))
        feeds, paths = [], []
        for name, path in loader_impl.get_asset_tensors(self._export_dir, meta_graph_def).items():
            feeds.append(wrapped.graph.as_graph_element(name))
            paths.append(tracking.TrackableAsset(path))
        init_fn = wrapped.prune(feeds=feeds, fetches=[anchor, wrapped.graph.as_graph_element(init_op)])
        initializer = _Initializer(init_fn, paths)
        local_init_op, _ = initializer._initialize()
        if not context.executing_eagerly():
            ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, local_init_op)
            for variable in wrapped.graph.get_collection_ref(ops.GraphKeys.LOCAL_VARIABLES):
                variable._initializer_op = local_init_op.op
        root.initializer = initializer
        root.asset_paths = paths
        root.signatures = signature_serialization.create_signature_map(self._signatures(wrapped, meta_graph_def))
        root.variables = list(wrapped.graph.variables)
        root.tensorflow_version = meta_graph_def.meta_info_def.tensorflow_version
        root.tensorflow_git_version = meta_graph_def.meta_info_def.tensorflow_git_version
        root.graph = wrapped.graph
        root.prune = wrapped.prune
        return root


def load(export_dir, tags, skip_restoring_checkpoint=False):
    """The graph with these tags (or the only one) as an object: `signatures`, `variables`, `prune`, `graph`, ..."""
    return _EagerSavedModelLoader(export_dir).load(tags=tags, skip_restoring_checkpoint=skip_restoring_checkpoint)
