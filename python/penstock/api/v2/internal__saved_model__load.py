"""tf.__internal__.saved_model.load."""
FROM = {
    "ops.state.revived_types": """
        VersionedTypeRegistration get_setter register_revived_type registered_identifiers""",
}
