"""Names of optional features, which programs pass on."""
import enum


class Feature(enum.Enum):
    """Parts of the conversion that may be asked for; all of them are always there."""
    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """All features but some."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(set(cls.all()) - set(excluded) - {cls.ALL})
