"""What is asked for of the conversion, and what programs derive converters of their own from."""
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


class ConversionOptions:
    """How a function is converted; the conversion here is always recursive and has all features.

    recursive: what it calls is converted, too. user_requested: the program asked for this function.
    internal_convert_user_code: calls of the program's functions are converted. optional_features: a Feature or several.
    """

    def __init__(self, recursive=False, user_requested=False, internal_convert_user_code=True,
                 optional_features=Feature.ALL):
        features = () if optional_features is None else optional_features
        self.recursive, self.user_requested = recursive, user_requested
        self.internal_convert_user_code = internal_convert_user_code
        self.optional_features = frozenset((features,) if isinstance(features, Feature) else features)

    def as_tuple(self):
        """All of it as a tuple."""
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __hash__(self):
        return hash(self.as_tuple())

    def __eq__(self, other):
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __str__(self):
        return "ConversionOptions[{}]"

    def uses(self, feature):
        """Whether a Feature is asked for."""
        return Feature.ALL in self.optional_features or feature in self.optional_features

    def call_options(self):
        """The options for what a converted function calls."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)

    def to_ast(self):
        """A gast expression that makes the same options, by the name `ag__`."""
        from penstock._src.autograph.pyct import parser
        if self == STANDARD_OPTIONS:
            return parser.parse_expression("ag__.STD")
        features = "".join(f"ag__.{feature}, " for feature in sorted(self.optional_features, key=str))
        return parser.parse_expression(
            f"ag__.ConversionOptions(recursive={self.recursive}, user_requested={self.user_requested}, "
            f"optional_features=({features}), internal_convert_user_code={self.internal_convert_user_code})")


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)


class ProgramContext:
    """What the functions of a program are converted with. autograph_module: not used."""

    def __init__(self, options, autograph_module=None):
        self.options = options
        self.autograph_module = autograph_module
