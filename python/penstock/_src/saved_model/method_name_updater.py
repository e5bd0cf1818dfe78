"""Renames what the signatures of a SavedModel do."""
import os

from penstock._src.files import file_io
from penstock._src.checkpoint import constants
from penstock._src.saved_model import loader_impl
from penstock._src.base import compat


class MethodNameUpdater:
    """Changes the method names of signatures and writes the SavedModel again."""

    def __init__(self, export_dir):
        self._export_dir = export_dir
        self._saved_model = loader_impl.parse_saved_model(export_dir)
        self._is_text = not file_io.file_exists(os.path.join(
            compat.as_str_any(export_dir), constants.SAVED_MODEL_FILENAME_PB))

    def replace_method_name(self, signature_key, method_name, tags=None):
        """For a signature of the graphs with these tags (None: of all). ValueError if there is none."""
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        wanted = None if tags is None else set([tags] if isinstance(tags, str) else tags)
        found = False
        for meta_graph in self._saved_model.meta_graphs:
            if wanted is None or set(meta_graph.meta_info_def.tags) == wanted:
                if signature_key not in meta_graph.signature_def:
                    raise ValueError("MetaGraphDef associated with tags %s does not have a signature_def with key: "
                                     "'%s'. This means either you specified the wrong signature key or forgot to put "
                                     "the signature_def with the corresponding key in your SavedModel." %
                                     (meta_graph.meta_info_def.tags, signature_key))
                meta_graph.signature_def[signature_key].method_name = method_name
                found = True
        if not found:
            raise ValueError("MetaGraphDef associated with tags %s could not be found in SavedModel." % (tags,))

    def save(self, new_export_dir=None):
        """Writes it, in the same directory or another, without variables and files."""
        directory = new_export_dir or self._export_dir
        if not file_io.file_exists(directory):
            file_io.recursive_create_dir(directory)
        binary = os.path.join(directory, constants.SAVED_MODEL_FILENAME_PB)
        text = os.path.join(directory, constants.SAVED_MODEL_FILENAME_PBTXT)
        if self._is_text:
            file_io.atomic_write_string_to_file(text, str(self._saved_model))
        else:
            file_io.atomic_write_string_to_file(binary, self._saved_model.SerializeToString(deterministic=True))
