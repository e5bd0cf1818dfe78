"""tf.flags: command-line flags. absl's if it is installed, so that a program and absl share them, else our own."""
try:
    from absl.flags import (  # noqa: F401
        DEFINE, DEFINE_alias, DEFINE_bool, DEFINE_boolean, DEFINE_enum, DEFINE_enum_class, DEFINE_float, DEFINE_integer,
        DEFINE_list, DEFINE_multi_enum, DEFINE_multi_float, DEFINE_multi_integer, DEFINE_multi_string,
        DEFINE_spaceseplist,
        DEFINE_string, FLAGS, DuplicateFlagError, Error, Flag, FlagValues, IllegalFlagValueError,
        UnparsedFlagAccessError,
        UnrecognizedFlagError, ValidationError, adopt_module_key_flags, declare_key_flag, mark_flag_as_required,
        mark_flags_as_required, register_validator, validator)
except ImportError:
    from penstock.platform.own_flags import *  # noqa: F401, F403
    from penstock.platform.own_flags import FLAGS  # noqa: F401
