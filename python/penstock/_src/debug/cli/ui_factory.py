"""Terminals by name."""
SUPPORTED_UI_TYPES = ["curses", "readline"]


def get_ui(ui_type, on_ui_exit=None, available_ui_types=None, config=None):
    """A terminal: "curses" and "readline" both are a prompt. ValueError for other names."""
    from penstock._src.debug.cli import readline_ui
    if ui_type and ui_type not in (available_ui_types or SUPPORTED_UI_TYPES):
        raise ValueError("Invalid ui_type: '%s'" % ui_type)
    return readline_ui.ReadlineUI(on_ui_exit=on_ui_exit, config=config)
