"""Functions that Keras registers for the other modules, by name."""

_functions: dict = {}


def _register(name):
    def register(function):
        _functions[name] = function
    register.__doc__ = f"Makes `function` the one that `{name}()` gives."
    return register


def _get(name):
    def get():
        return _functions.get(name)
    get.__doc__ = "The function that was registered last, or None."
    return get


register_call_context_function, get_call_context_function = _register("get_call_context_function"), _get(
    "get_call_context_function")
register_clear_session_function, get_clear_session_function = _register("get_clear_session_function"), _get(
    "get_clear_session_function")
register_get_session_function, get_get_session_function = _register("get_get_session_function"), _get(
    "get_get_session_function")
register_load_model_function, get_load_model_function = _register("get_load_model_function"), _get(
    "get_load_model_function")
