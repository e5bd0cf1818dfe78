"""The debugger's terminal as a prompt."""
from penstock._src.debug.cli import base_ui
from penstock._src.debug.cli import debugger_cli_common


class ReadlineUI(base_ui.BaseUI):
    """Asks for commands line by line; the tabulator completes them."""

    def __init__(self, on_ui_exit=None, config=None):
        super().__init__(on_ui_exit=on_ui_exit, config=config)
        self._init_input()

    def _init_input(self):
        import readline
        readline.parse_and_bind("set editing-mode emacs")
        readline.set_completer_delims("\n")
        readline.set_completer(self._readline_complete)
        readline.parse_and_bind("tab: complete")
        self._input = input

    def _readline_complete(self, text, state):
        context, prefix, before = self._analyze_tab_complete_input(text)
        candidates, _ = self._tab_completion_registry.get_completions(context, prefix)
        return (before + candidates[state]) if candidates and state < len(candidates) else None

    def run_ui(self, init_command=None, title=None, title_color=None, enable_mouse_on_start=True):
        """Shows the title and what `init_command` says, then asks until a command leaves; returns its exit token."""
        print(title)
        if init_command is not None:
            self._dispatch_command(init_command)
        exit_token = None
        while exit_token is None:
            exit_token = self._dispatch_command(self._get_user_command())
        if self._on_ui_exit:
            self._on_ui_exit()
        return exit_token

    def _get_user_command(self):
        print("")
        try:
            return self._input(self.CLI_PROMPT).strip()
        except EOFError:
            return self.CLI_EXIT_COMMANDS[0]

    def _dispatch_command(self, command):
        """Runs a line and shows its answer; the exit token if it leaves the terminal."""
        if command in self.CLI_EXIT_COMMANDS:
            return debugger_cli_common.EXPLICIT_USER_EXIT
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as e:
            print(e)
            return None
        if not prefix:
            return None
        if self._command_handler_registry.is_registered(prefix):
            try:
                output = self._command_handler_registry.dispatch_command(prefix, args)
            except debugger_cli_common.CommandLineExit as e:
                return e.exit_token
        else:
            output = debugger_cli_common.RichTextLines([self.ERROR_MESSAGE_PREFIX +
                                                        'Invalid command prefix "%s"' % prefix])
        self._display_output(output)
        if path:
            try:
                output.write_to_file(path)
                print("Wrote output to %s" % path)
            except Exception:  # whatever hinders it, the terminal goes on
                print("Failed to write output to %s" % path)
        return None

    def _display_output(self, screen_output):
        for line in screen_output.lines:
            print(line)
