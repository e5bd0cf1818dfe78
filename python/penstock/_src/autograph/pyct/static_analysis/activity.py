"""Which names each statement reads, writes and deletes. Names must have been resolved before (qual_names.resolve)."""
import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import qual_names
from penstock._src.autograph.pyct import transformer
from penstock._src.autograph.pyct.static_analysis.annos import NodeAnno

_SETS = ("isolated_names", "read", "modified", "deleted", "bound", "annotations")


class Scope:
    """The names that a piece of code uses, as sets of QNs.

    read, modified, deleted; bound: those that Python takes for its own; globals, nonlocals: declared so; annotations:
    read as types; isolated_names: known in this piece only; params: QN -> the function whose parameter it is.
    parent: the scope around it. isolated: it is a function's or class's, so what it binds is not the parent's.
    function_name: of the function that it belongs to. `finalize` hands on to the parent what is its concern.
    """

    def __init__(self, parent, isolated=True, function_name=None):
        self.parent, self.isolated, self.function_name = parent, isolated, function_name
        for name in (*_SETS, "globals", "nonlocals"):
            setattr(self, name, set())
        self.params = {}
        self.is_final = False

    @property
    def enclosing_scope(self):
        """The scope of the function around it, or itself."""
        assert self.is_final
        return self if self.isolated or self.parent is None else self.parent

    @property
    def referenced(self):
        """The names read here or in the scopes around."""
        return self.read if self.parent is None else self.read | self.parent.referenced

    @property
    def free_vars(self):
        """The names that are those of a function around."""
        scope = self.enclosing_scope
        return scope.read - scope.bound

    def copy_from(self, other):
        """Becomes what another scope is, as do the scopes around."""
        assert not self.is_final
        if self.parent is not None:
            self.parent.copy_from(other.parent)
        for name in _SETS:
            setattr(self, name, set(getattr(other, name)))
        self.params = dict(other.params)

    @classmethod
    def copy_of(cls, other):
        """A copy, with copies of the scopes around."""
        made = cls(None if other.parent is None else cls.copy_of(other.parent))
        made.copy_from(other)
        return made

    def merge_from(self, other):
        """Adds the names of another scope, and those around it to those around this one."""
        assert not self.is_final
        if self.parent is not None:
            self.parent.merge_from(other.parent)
        for name in _SETS:
            getattr(self, name).update(getattr(other, name))
        self.params.update(other.params)

    def finalize(self):
        """Nothing is added from now on; the parent gets to know of the names."""
        assert not self.is_final
        self.is_final = True
        if self.parent is None:
            return
        assert not self.parent.is_final
        if self.isolated:
            self.parent.read |= self.read - self.bound
            self.parent.annotations |= self.annotations - self.bound
            return
        for name in ("read", "modified", "bound"):
            getattr(self.parent, name).update(getattr(self, name) - self.isolated_names)
        for name in ("globals", "nonlocals", "annotations"):
            getattr(self.parent, name).update(getattr(self, name))

    def mark_param(self, name, owner):
        """Says that a name is a parameter of a function."""
        self.params[name] = owner

    def __repr__(self):
        return f"Scope{{r={tuple(self.read)}, w={tuple(self.modified)}}}"


class _Comprehension:
    """The targets of a comprehension: names of its own."""
    no_root = True

    def __init__(self):
        self.targets = set()


class _FunctionOrClass:
    """What a statement belongs to."""

    def __init__(self):
        self.node = None


class ActivityAnalyzer(transformer.Base):
    """Writes scopes on nodes: anno.Static.SCOPE on statements, tests and arguments, NodeAnno's on those with blocks."""

    def __init__(self, context, parent_scope=None):
        super().__init__(context)
        self.scope = Scope(parent_scope, isolated=True)
        self._in_aug_assign = False
        self._in_annotation = False
        self._annotations_only = False

    # Names

    def _sets_attribute_of_self(self, name):
        owners = [entry.node for entry in self.state[_FunctionOrClass].stack[-2:]]
        return len(self.state[_FunctionOrClass].stack) > 2 and isinstance(owners[0], gast.ClassDef) and isinstance(
            owners[1], gast.FunctionDef) and owners[1].name == "__init__" and str(name.parent) == "self"

    def _track(self, node):
        name = anno.Basic.QN.of(node)
        if name is None or self._annotations_only and not self._in_annotation:
            return
        for comprehension in self.state[_Comprehension]:
            if name in comprehension.targets or name.owner_set & comprehension.targets:
                return
        scope = self.scope
        if isinstance(node.ctx, gast.Store):
            if self.state[_Comprehension].level:
                self.state[_Comprehension].targets.add(name)
                return
            scope.modified.add(name)
            scope.bound.add(name)
            if isinstance(node, gast.Attribute) and self._sets_attribute_of_self(name):
                scope.modified.add(name.parent)
            if self._in_aug_assign:
                scope.read.add(name)
        elif isinstance(node.ctx, gast.Load):
            scope.read.add(name)
            if self._in_annotation:
                scope.annotations.add(name)
        elif isinstance(node.ctx, gast.Param):
            scope.bound.add(name)
            scope.mark_param(name, self.state[_FunctionOrClass].node)
        elif isinstance(node.ctx, gast.Del):  # which reads it, too: it must be there
            for names in (scope.read, scope.bound, scope.deleted):
                names.add(name)
        else:
            raise ValueError(f'"{name}" has the unknown context {node.ctx}')

    def _annotation(self, node):
        self._in_annotation = True
        node = self.visit(node)
        self._in_annotation = False
        return node

    def visit_Name(self, node):
        if node.annotation:
            node.annotation = self._annotation(node.annotation)
        self._track(node)
        return node

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        self._track(node)
        return node

    visit_Subscript = visit_Attribute

    def _binds(self, name):
        self.scope.modified.add(name)
        self.scope.bound.add(name)

    def visit_alias(self, node):
        self._binds(qual_names.QN(node.asname or node.name.split(".")[0]))
        return node

    # Simple statements

    def _enter(self, isolated=False, function_name=None):
        self.scope = Scope(self.scope, isolated=isolated, function_name=function_name)

    def _exit(self, node=None, key=anno.Static.SCOPE):
        """Ends a scope; writes it on a node."""
        ended = self.scope
        ended.finalize()
        self.scope = ended.parent
        if node is not None:
            anno.setanno(node, key, ended)
        return ended

    def _statement(self, node):
        self._enter()
        node = self.generic_visit(node)
        self._exit(node)
        return node

    visit_Import = visit_ImportFrom = visit_Expr = visit_Raise = visit_Return = visit_Assign = _statement
    visit_Delete = visit_Assert = visit_withitem = _statement

    def visit_Global(self, node):
        self._enter()
        names = set(map(qual_names.QN, node.names))
        self.scope.read |= names
        self.scope.globals |= names
        self._exit(node)
        return node

    def visit_Nonlocal(self, node):
        self._enter()
        names = set(map(qual_names.QN, node.names))
        self.scope.read |= names
        self.scope.bound |= names
        self.scope.nonlocals |= names
        self._exit(node)
        return node

    def visit_AnnAssign(self, node):
        self._enter()
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        node.annotation = self._annotation(node.annotation)
        self._exit(node)
        return node

    def visit_AugAssign(self, node):
        self._enter()
        self._in_aug_assign = True
        node.target = self.visit(node.target)
        self._in_aug_assign = False
        node.value = self.visit(node.value)
        self._exit(node)
        return node

    def visit_NamedExpr(self, node):
        self._enter()
        node.value = self.visit(node.value)
        self._binds(anno.getanno(node.target, anno.Basic.QN))  # also from within a comprehension
        self._exit(node)
        return node

    def visit_Call(self, node):
        self._enter()
        node.args = self.visit_block(node.args)
        node.keywords = self.visit_block(node.keywords)
        self._exit(node, NodeAnno.ARGS_SCOPE)
        node.func = self.visit(node.func)
        return node

    # Comprehensions

    def _comprehension(self, node):
        with self.state[_Comprehension]:
            node.generators = self.visit_block(node.generators)  # first: they say which names are its own
            return self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_comprehension(self, node):
        node.iter = self.visit(node.iter)
        node.target = self.visit(node.target)
        node.ifs = self.visit_block(node.ifs)
        return node

    # Statements with blocks

    def _block(self, node, block, key):
        self._enter()
        block[:] = self.visit_block(block)
        self._exit(node, key)

    def visit_If(self, node):
        self._enter()
        node.test = self.visit(node.test)
        anno.setanno(node, NodeAnno.COND_SCOPE, self._exit(node.test))
        self._block(node, node.body, NodeAnno.BODY_SCOPE)
        self._block(node, node.orelse, NodeAnno.ORELSE_SCOPE)
        return node

    visit_While = visit_If

    def visit_For(self, node):
        self._enter()
        node.target = self.visit(node.target)
        node.iter = self.visit(node.iter)
        self._exit(node.iter)
        self._enter()
        self.visit(node.target)
        if anno.hasanno(node, anno.Basic.EXTRA_LOOP_TEST):
            self._statement(anno.getanno(node, anno.Basic.EXTRA_LOOP_TEST))
        self._exit(node, NodeAnno.ITERATE_SCOPE)
        self._block(node, node.body, NodeAnno.BODY_SCOPE)
        self._block(node, node.orelse, NodeAnno.ORELSE_SCOPE)
        return node

    visit_AsyncFor = visit_For

    def visit_With(self, node):
        self._enter()
        node = self.generic_visit(node)
        self._exit(node, NodeAnno.BODY_SCOPE)
        return node

    visit_AsyncWith = visit_With

    def visit_ExceptHandler(self, node):
        self._enter()
        if node.name is not None:  # it ends with the handler
            self.scope.isolated_names.add(anno.getanno(node.name, anno.Basic.QN))
        node = self.generic_visit(node)
        self._exit()
        return node

    # Functions and classes

    def _parameters(self, a):
        for field in ("posonlyargs", "args", "kwonlyargs"):
            setattr(a, field, [self.visit(x) for x in getattr(a, field)])
        for field in ("vararg", "kwarg"):
            if getattr(a, field) is not None:
                setattr(a, field, self.visit(getattr(a, field)))

    def _defaults_and_annotations(self, a):
        """What runs where the function is defined."""
        a.kw_defaults = [default and self.visit(default) for default in a.kw_defaults]
        a.defaults = [self.visit(default) for default in a.defaults]
        self._annotations_only = True
        self._parameters(a)
        self._annotations_only = False

    def _function_scopes(self, node, name, visit_body):
        """Of the arguments, the body, and both."""
        self._enter(True, name)
        self._enter(False, name)
        self._parameters(node.args)
        self._exit(node.args)
        self._enter(False, name)
        visit_body()
        self._exit(node, NodeAnno.BODY_SCOPE)
        return self._exit(node, NodeAnno.ARGS_AND_BODY_SCOPE)

    def visit_FunctionDef(self, node):
        with self.state[_FunctionOrClass] as owner:
            owner.node = node
            self._enter()
            node.decorator_list = self.visit_block(node.decorator_list)
            if node.returns:
                node.returns = self._annotation(node.returns)
            self._defaults_and_annotations(node.args)
            self._binds(qual_names.QN(node.name))
            self._exit(node)

            def body():
                node.body = self.visit_block(node.body)

            self._function_scopes(node, node.name, body)
        return node

    def visit_Lambda(self, node):
        with self.state[_FunctionOrClass] as owner:
            owner.node = node
            self._enter()
            self._defaults_and_annotations(node.args)
            self._exit(node)

            def body():
                node.body = self.visit(node.body)
                if not anno.hasanno(node.body, anno.Static.SCOPE):
                    anno.setanno(node.body, anno.Static.SCOPE, self.scope)

            scope = self._function_scopes(node, None, body)
            self.scope.read |= scope.read - scope.bound  # it is taken to be called where it stands
        return node

    def visit_ClassDef(self, node):
        with self.state[_FunctionOrClass] as owner:
            owner.node = node
            self._enter()
            node.decorator_list = self.visit_block(node.decorator_list)
            self._binds(qual_names.QN(node.name))
            node.bases = self.visit_block(node.bases)
            node.keywords = self.visit_block(node.keywords)
            self._exit(node)
            self._enter(isolated=True)
            node.body = self.visit_block(node.body)
            self._exit()
        return node


def resolve(node, context, parent_scope=None):
    """Writes the scopes on the nodes of a tree, and returns it. context: a transformer.Context."""
    return ActivityAnalyzer(context, parent_scope).visit(node)
