"""if, while and for as calls of operators, with functions for their tests, branches and bodies."""
import ast
import re

from penstock._src.autograph.converters import code
from penstock._src.autograph.converters.names import Liveness, Names, qualified
from penstock._src.base import tf2

# Arguments of set_loop_options, by whether the program is one of version 2.
_LOOP_OPTIONS = {
    False: ("parallel_iterations", "back_prop", "swap_memory", "maximum_iterations", "shape_invariants"),
    True: ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants"),
}
PART = re.compile(r"(get_state|set_state|if_body|else_body|loop_test|loop_body|extra_test)(_\d+)?")  # their names


class ControlFlow:
    """Converts the blocks of one function. `state` collects the names that must exist when it begins."""

    def __init__(self, body, namer, declared_global, local):
        names = Names(body)
        self._namer = namer
        self._local = frozenset(local)
        self._foreign = set()  # lists and dicts of surrounding functions and the module whose elements are set
        self._global = frozenset(declared_global)
        self._declared = names.declared
        self._liveness = Liveness(body, names.inner)
        self.state = []

    def block(self, body):
        """The block with its conditionals and loops converted."""
        result = []
        for node in body:
            if isinstance(node, ast.If):
                result.extend(self._if(node))
            elif isinstance(node, ast.While):
                result.extend(self._while(node))
            elif isinstance(node, ast.For):
                result.extend(self._for(node))
            else:
                for field in ("body", "orelse", "finalbody"):
                    if isinstance(getattr(node, field, None), list) and not isinstance(
                            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                        setattr(node, field, self.block(getattr(node, field)))
                for handler in getattr(node, "handlers", ()):
                    handler.body = self.block(handler.body)
                result.append(node)
        return result

    # What a statement changes

    def _changed(self, *blocks):
        names, attributes, containers = [], [], set()
        for block in blocks:
            found = Names(block)
            elements = found.elements
            containers.update(elements)
            self._foreign.update(e for e in elements if "." not in e and e not in self._local)
            names += [n for n in found.written + list(filter(self._is_plain, elements)) if n not in names]
            attributes += [a for a in found.attributes + elements if not self._is_plain(a) and a not in attributes]
        attributes = [a for a in attributes if a.split(".")[0] not in names
                      and not any(a.startswith(other + ".") for other in attributes)]
        return names, attributes, containers

    def _split(self, changed, live_after, live_inside):
        """(what is needed behind the statement, what only its own code needs), names before attributes."""
        names, attributes, containers = changed
        own = [n for n in names if n not in self._global]
        behind = [n for n in own if n in live_after or n in containers and n in live_inside]  # it may have other names
        inside = [n for n in own if n not in behind and n in live_inside]
        for name in behind + inside:
            if name not in self.state and name not in self._declared:
                self.state.append(name)
        return behind + attributes, inside

    def _is_plain(self, name):
        """Whether state is set by assigning to this name."""
        return "." not in name and name not in self._foreign

    # Functions

    def _sharing(self, names, old):
        plain = [n for n in names if self._is_plain(n)]
        lines = []
        if plain:
            lines.append("nonlocal " + ", ".join(plain))
        return code.statements("\n".join(lines), old) if lines else []

    def _globals(self, body, old):
        written = [n for n in Names(body).written if n in self._global]
        return [code.statement("global " + ", ".join(written), old)] if written else []

    def _state_functions(self, names, old):
        get, put = self._namer.new_symbol("get_state", ()), self._namer.new_symbol("set_state", ())
        values = ", ".join(n if self._is_plain(n) else f"ag__.ldu(lambda: {n}, {n!r})" for n in names)
        made = [code.statement(f"def {get}():\n    return ({values}{',' if names else ''})", old)]
        setter = code.statement(f"def {put}(vars_):\n    pass", old)
        if names:
            setter.body = self._sharing(names, old)
            if all(map(self._is_plain, names)):
                setter.body += code.statements(f"({', '.join(names)},) = vars_", old)
            else:
                for i, n in enumerate(names):
                    line = f"{n} = vars_[{i}]"
                    if n in self._foreign:
                        line = f"ag__.refill({n}, vars_[{i}])"
                    elif "." in n:  # an attribute that was not there stays so
                        owner, attribute = n.rsplit(".", 1)
                        line = (f"if ag__.is_undefined(vars_[{i}]):\n    ag__.forget(lambda: {owner}, {attribute!r})\n"
                                f"else:\n    {line}")
                    setter.body += code.statements(line, old)
        return made + [setter], get, put

    def _function(self, name, arguments, body, shared, old):
        made = code.statement(f"def {name}({', '.join(arguments)}):\n    pass", old)
        made.body = self._globals(body, old) + self._sharing(shared, old) + (
            body or [code.at(ast.Pass(), old)])
        return made

    @staticmethod
    def _symbols(names):
        return "(" + "".join(f"{n!r}, " for n in names) + ")"

    @staticmethod
    def _take_options(node):
        """What set_loop_options says in a loop's body, as keywords of a dict; the call goes away."""
        for i, statement in enumerate(node.body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            name = qualified(call.func) if isinstance(call, ast.Call) else None
            if name is None or name.split(".")[-1] != "set_loop_options":
                continue
            node.body[i] = code.at(ast.Pass(), statement)
            keywords = [code.at(ast.keyword(name, value), value)
                        for name, value in zip(_LOOP_OPTIONS[tf2.enabled()], call.args)]
            keywords += call.keywords
            for keyword in keywords:
                if keyword.arg == "shape_invariants" and isinstance(keyword.value, (ast.List, ast.Tuple)):
                    for pair in keyword.value.elts:  # by name: the variables have other values by then
                        if isinstance(pair, (ast.Tuple, ast.List)) and qualified(pair.elts[0]):
                            pair.elts[0] = code.at(ast.Constant(qualified(pair.elts[0])), pair)
            return keywords
        return []

    def _options(self, options, old, iterates=None):
        keywords = list(options)
        if iterates is not None:
            keywords.append(code.at(ast.keyword("iterate_names", ast.Constant(iterates)), old))
        keys = [code.at(ast.Constant(k.arg), old) for k in keywords]
        return code.at(ast.Dict(keys, [k.value for k in keywords]), old)

    # Statements

    def _if(self, node):
        after = self._liveness.after[node]
        entering = self._liveness.block(node.body, after) | self._liveness.block(node.orelse, after)
        behind, inside = self._split(self._changed(node.body, node.orelse), after, entering)
        names = behind + inside
        body, orelse = self.block(node.body), self.block(node.orelse)
        result, get, put = self._state_functions(names, node)
        then, other = self._namer.new_symbol("if_body", ()), self._namer.new_symbol("else_body", ())
        result.append(self._function(then, (), body, names, node))
        result.append(self._function(other, (), orelse, names, node))
        call = code.statement(f"ag__.if_stmt(_, {then}, {other}, {get}, {put}, {self._symbols(names)}, {len(behind)})",
                              node)
        call.value.args[0] = node.test
        return result + [call]

    def _while(self, node):
        after, head = self._liveness.after[node], self._liveness.entering[node]
        behind, inside = self._split(self._changed(node.body), after, head)
        names = behind + inside
        options = self._take_options(node)
        body = self.block(node.body)
        result, get, put = self._state_functions(names, node)
        test, loop = self._namer.new_symbol("loop_test", ()), self._namer.new_symbol("loop_body", ())
        condition = node.test
        if getattr(node, "stops", None):
            condition = code.at(ast.BoolOp(ast.And(), [
                *[code.expression(f"not {name}", node) for name in node.stops], condition]), node)
        result.append(self._function(test, (), [code.at(ast.Return(condition), node)], (), node))
        result.append(self._function(loop, (), body, names, node))
        call = code.statement(f"ag__.while_stmt({test}, {loop}, {get}, {put}, {self._symbols(names)}, _)", node)
        call.value.args[5] = self._options(options, node)
        return result + [call]

    def _for(self, node):
        after, head = self._liveness.after[node], self._liveness.entering[node]
        targets = Names(node.target)
        first = code.at(ast.Assign([node.target], code.expression("itr", node)), node)
        inner_live = self._liveness.block(node.body, after | head) | head
        behind, inside = self._split(self._changed([first], node.body), after, inner_live - set(targets.written) | head)
        names = behind + inside
        options = self._take_options(node)
        body = self.block(node.body)
        result, get, put = self._state_functions(names, node)
        loop = self._namer.new_symbol("loop_body", ())
        item = self._namer.new_symbol("itr", ())
        first.value.id = item
        result.append(self._function(loop, (item,), [first, *body], names, node))
        extra = "None"
        if getattr(node, "stops", None):
            extra = self._namer.new_symbol("extra_test", ())
            test = code.expression(" and ".join(f"not {name}" for name in node.stops), node)
            result.append(self._function(extra, (), [code.at(ast.Return(test), node)], (), node))
        call = code.statement(f"ag__.for_stmt(_, {extra}, {loop}, {get}, {put}, {self._symbols(names)}, _)", node)
        call.value.args[0] = node.iter
        call.value.args[6] = self._options(options, node, code.text_of(node.target))
        return result + [call]
