"""simple_save: a SavedModel with one signature."""
from penstock._src.graph import ops
from penstock._src.saved_model import builder_impl
from penstock._src.saved_model import signature_constants
from penstock._src.saved_model import signature_def_utils_impl
from penstock._src.saved_model import tag_constants


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Writes the session's graph and variables for serving: {name: tensor} to be fed, and to be fetched."""
    signature = signature_def_utils_impl.predict_signature_def(inputs, outputs)
    builder = builder_impl.SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, tags=[tag_constants.SERVING],
        signature_def_map={signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=ops.get_collection(ops.GraphKeys.ASSET_FILEPATHS), main_op=legacy_init_op,
        clear_devices=True)
    builder.save()
