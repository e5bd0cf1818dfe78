import pytest

from penstock._src.files import own_flags as flags


@pytest.fixture
def values():
    found = flags.FlagValues()
    flags.DEFINE_string("name", "a", "a name", flag_values=found)
    flags.DEFINE_integer("count", 3, "how many", flag_values=found)
    flags.DEFINE_float("rate", 0.5, "how fast", flag_values=found)
    flags.DEFINE_boolean("loud", False, "whether", flag_values=found)
    flags.DEFINE_list("items", "x,y", "what", flag_values=found)
    return found


def test_defaults(values):
    assert values(["prog"]) == ["prog"]
    assert (values.name, values.count, values.rate, values.loud, values.items) == ("a", 3, 0.5, False, ["x", "y"])


def test_forms(values):
    rest = values(["prog", "--name=b", "-count", "7", "word", "--loud", "--rate=1e-3", "--", "--name=c"])
    assert rest == ["prog", "word", "--name=c"]
    assert (values.name, values.count, values.rate, values.loud) == ("b", 7, 1e-3, True)
    values(["prog", "--noloud"])
    assert values.loud is False


def test_errors(values):
    with pytest.raises(flags.UnrecognizedFlagError, match="bogus"):
        values(["prog", "--bogus=1"])
    assert values(["prog", "--bogus=1"], known_only=True) == ["prog", "--bogus=1"]
    with pytest.raises(flags.IllegalFlagValueError, match="count"):
        values(["prog", "--count=many"])
    with pytest.raises(flags.DuplicateFlagError):
        flags.DEFINE_string("name", "", "", flag_values=values)
    with pytest.raises(AttributeError):
        values.unknown  # noqa: B018


def test_required(values):
    flags.DEFINE_string("path", None, "where", flag_values=values)
    flags.mark_flag_as_required("path", values)
    with pytest.raises(flags.IllegalFlagValueError, match="path"):
        values(["prog"])
    assert values(["prog", "--path=p"]) == ["prog"]
