"""tf.__internal__.saved_model.load."""
FROM = {
    "saved_models.revived_types": "VersionedTypeRegistration register_revived_type registered_identifiers",
}
