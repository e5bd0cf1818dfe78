"""A terminal of the debugger, whatever it is shown on: commands, completion, settings."""
import argparse

from penstock._src.debug.cli import cli_config
from penstock._src.debug.cli import command_parser
from penstock._src.debug.cli import debugger_cli_common


class BaseUI:
    """Commands and completions; subclasses show them in `run_ui`."""

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX, INFO_MESSAGE_PREFIX = "ERROR: ", "INFO: "

    def __init__(self, on_ui_exit=None, config=None):
        self._on_ui_exit = on_ui_exit
        self._config = config or cli_config.CLIConfig()
        registry = debugger_cli_common.CommandHandlerRegistry
        self._command_handler_registry = registry()
        self._tab_completion_registry = debugger_cli_common.TabCompletionRegistry()
        self._tab_completion_registry.register_tab_comp_context(
            [""], self.CLI_EXIT_COMMANDS + [registry.HELP_COMMAND] + registry.HELP_COMMAND_ALIASES)
        self._config_argparser = argparse.ArgumentParser(description="config command", usage=argparse.SUPPRESS)
        subparsers = self._config_argparser.add_subparsers()
        setter = subparsers.add_parser("set")
        setter.add_argument("property_name")
        setter.add_argument("property_value")
        subparsers.add_parser("show")
        self.register_command_handler("config", self._config_command_handler, self._config_argparser.format_help(),
                                      prefix_aliases=["cfg"])

    config = property(lambda self: self._config, doc="The settings.")

    def set_help_intro(self, help_intro):
        """RichTextLines that stand before the help for all commands."""
        self._command_handler_registry.set_help_intro(help_intro=help_intro)

    def register_command_handler(self, prefix, handler, help_info, prefix_aliases=None):
        """Adds a command (CommandHandlerRegistry), completed at a line's start."""
        self._command_handler_registry.register_command_handler(prefix, handler, help_info,
                                                                prefix_aliases=prefix_aliases)
        self._tab_completion_registry.extend_comp_items("", [prefix] + list(prefix_aliases or ()))

    def register_tab_comp_context(self, *args, **kwargs):
        """Adds completions (TabCompletionRegistry)."""
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    def run_ui(self, init_command=None, title=None, title_color=None, enable_mouse_on_start=True):
        """Runs until a command leaves the terminal; returns its exit token."""
        raise NotImplementedError("run_ui() is not implemented in BaseUI")

    def _parse_command(self, command):
        """(command, arguments, file behind ">" or None)."""
        words = command_parser.parse_command(command)
        if not words:
            return "", [], None
        words, path = command_parser.extract_output_file_path(words)
        return words[0], words[1:], path

    def _analyze_tab_complete_input(self, text):
        """(context word, the word to complete, what stands before that word)."""
        words = text.lstrip().split(" ")
        if len(words) == 1:
            return "", words[0], ""
        return words[0], words[-1], " ".join(words[:-1]) + " "

    def _config_command_handler(self, args, screen_info=None):
        parsed = self._config_argparser.parse_args(args)
        name = getattr(parsed, "property_name", None)
        if name is not None:
            self._config.set(name, parsed.property_value)
        return self._config.summarize(highlight=name)
