"""Arguments that go by two names."""


def pick(new_name, new, old_name, old):
    """The value of an argument that has an old name as well; giving both is an error."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old
