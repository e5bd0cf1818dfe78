"""Which TensorFlow a program was written for, told by the names that it uses."""
import ast
import re

# Attributes of the module that version 2 does not have at its top level.
_ONLY_V1 = frozenset("""
    app assign assign_add assign_sub ConfigProto contrib flags get_collection get_default_graph get_variable gfile
    global_variables global_variables_initializer initialize_all_variables InteractiveSession layers local_variables
    local_variables_initializer log logging losses multinomial placeholder placeholder_with_default Print random_normal
    random_uniform reset_default_graph scan_v1 Session set_random_seed sparse_placeholder to_float to_int32 to_int64
    trainable_variables truncated_normal truncated_normal_initializer variable_scope xavier_initializer""".split())


def decide(source):
    """("v1" or "v2", why) by the names that a program uses of TensorFlow."""
    names = _module_names(source)
    found = sorted(name for name in names if name in _ONLY_V1)
    if found:
        return "v1", "it uses tf.%s" % found[0]
    if "compat.v1" in names:
        return "v1", "it imports tensorflow.compat.v1"
    return "v2", "nothing in it belongs to version 1 alone"


def _module_names(source):
    """Names taken from the TensorFlow module, "compat.v1" among them if that is imported."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # Python will say what is wrong when it runs the script.
        text = source.decode(errors="replace") if isinstance(source, bytes) else source
        return set(re.findall(r"\btf\.(\w+)", text))
    bound, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.name == "tensorflow":
                    bound.add(item.asname or "tensorflow")
                elif item.name.startswith("tensorflow."):
                    bound.update([item.asname] if item.asname and "compat.v1" in item.name else ["tensorflow"])
                    names.add("compat.v1" if item.name.startswith("tensorflow.compat.v1")
                              else item.name.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tensorflow":
            parts = node.module.split(".")
            if node.module.startswith("tensorflow.compat") and (parts[2:3] == ["v1"] or any(
                    item.name == "v1" for item in node.names)):
                names.add("compat.v1")
            elif len(parts) > 1:
                names.add(parts[1])
            else:
                names.update(item.name for item in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            names.add(node.attr)
    return names
