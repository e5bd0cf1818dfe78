"""tf.__internal__.nest."""
FROM = {
    "base.nest": """
        flatten_up_to get_traverse_shallow_structure is_attrs=_is_attrs is_mapping=_is_mapping list_to_tuple
        map_structure_up_to sequence_like=_sequence_like yield_flat_paths""",
}
