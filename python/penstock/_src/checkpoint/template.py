"""tf.make_template: a function whose variables are made by its first call and shared by the later ones."""
import functools
import traceback

from penstock._src.graph import ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import tf_logging as logging
from penstock._src.ops.state import base as trackable


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """`func_` with `kwargs` bound, in a variable scope of its own that its first call (or this one) opens."""
    return make_template_internal(name_, func_, create_scope_now_, unique_name_, custom_getter_, False, **kwargs)


def make_template_internal(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None,
                           create_graph_function_=False, **kwargs):
    """`make_template`; `create_graph_function_`: version 2's kind of function calls it."""
    if kwargs:
        func_ = functools.wraps(func_, updated=())(functools.partial(func_, **kwargs))
    if ops.executing_eagerly():
        if unique_name_ is not None:
            raise ValueError("unique_name_ cannot be used when eager exeuction is enabled.")
        return EagerTemplate(name_, func_, create_scope_now=create_scope_now_, custom_getter=custom_getter_,
                             create_graph_function=create_graph_function_)
    return Template(name_, func_, create_scope_now=create_scope_now_, unique_name=unique_name_,
                    custom_getter=custom_getter_, create_graph_function=create_graph_function_)


def _skip_common_stack_elements(trace, base):
    for i, (a, b) in enumerate(zip(trace, base)):
        if a != b:
            return trace[i:]
    return trace[-1:]


class Template(trackable.Trackable):
    """What make_template returns."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None,
                 create_graph_function=False):
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._stacktrace = traceback.format_stack()[:-2]
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._variable_scope = None
        if create_scope_now:
            scope_name = unique_name or variable_scope._get_unique_variable_scope(name)
            with variable_scope._pure_variable_scope(scope_name, custom_getter=custom_getter) as scope:
                self._variable_scope = scope
        self._variables_created = False  # the first call is over
        self._first_call = True          # no call has begun

    def __call__(self, *args, **kwargs):
        if self._variable_scope:
            with variable_scope.variable_scope(self._variable_scope, reuse=not self._first_call):
                return self._call_func(args, kwargs)
        with variable_scope.variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
            self._variable_scope = scope
            return self._call_func(args, kwargs)

    def _call_func(self, args, kwargs):
        from penstock._src.checkpoint import util as tracking_util
        try:
            if self._variables_created:
                return self._later_call(args, kwargs)
            if not self._first_call:
                # A call of itself inside the first call.
                return self._func(*args, **kwargs)
            self._first_call = False
            try:
                with tracking_util.capture_dependencies(self):
                    result = self._func(*args, **kwargs)
            except BaseException:
                self._first_call = True
                raise
            self._variables_created = True
            return result
        except Exception as e:
            # Where the template was made is not in the traceback of where it is called.
            made = "".join(_skip_common_stack_elements(self._stacktrace, traceback.format_stack()))
            e.args = ("%s\n\noriginally defined at:\n%s" % (e.args[0] if e.args else "", made),) + e.args[1:]
            raise

    def _made(self):
        """(all variables, trainable ones) that there are now."""
        return (ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES),
                ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES))

    def _later_call(self, args, kwargs):
        before, trainable_before = map(len, self._made())
        result = self._func(*args, **kwargs)
        everything, trainable = self._made()
        complaint = ("created when calling a template after the first time, perhaps you used tf.Variable when you "
                     "meant tf.get_variable: %s")
        if len(trainable) != trainable_before:
            raise ValueError("Trainable variable " + complaint % (trainable[trainable_before:],))
        if len(everything) != before:
            logging.info("New variables " + complaint, everything[before:])
        return result

    @property
    def name(self):
        return self._name

    @property
    def func(self):
        return self._func

    @property
    def variable_scope(self):
        """The scope of the variables; None before the first call."""
        return self._variable_scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self):
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name[-1] == "/" else name + "/"

    def _collection(self, key):
        return ops.get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def variables(self):
        return self.global_variables + self.local_variables

    @property
    def global_variables(self):
        return self._collection(ops.GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self):
        return self._collection(ops.GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self):
        return self._collection(ops.GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self):
        trainable = {id(v) for v in self.trainable_variables}
        return [v for v in self.global_variables if id(v) not in trainable]

    @property
    def weights(self):
        return self.variables

    @property
    def trainable_weights(self):
        return self.trainable_variables

    @property
    def non_trainable_weights(self):
        return self.non_trainable_variables


class EagerTemplate(Template):
    """A template that holds its variables itself, for eager execution."""

    def __init__(self, name, func, create_scope_now=False, custom_getter=None, create_graph_function=False):
        if not ops.executing_eagerly():
            raise RuntimeError("%s objects can only be used when eager execution is enabled, use tf.Template for graph "
                               "construction" % type(self))
        super().__init__(name, func, create_scope_now, None, custom_getter, create_graph_function)
        # A template that is made inside another keeps its variables with that one's.
        around = variable_scope._get_default_variable_store()
        self._template_store = variable_scope.EagerVariableStore(around if around._store_eager_variables else None)

    def __call__(self, *args, **kwargs):
        if self._variable_scope:
            scope = variable_scope.variable_scope(self._variable_scope, reuse=variable_scope.AUTO_REUSE)
        else:
            scope = variable_scope.variable_scope(None, self._name, custom_getter=self._custom_getter)
        # The store is opened inside: templates that are nested side by side get different names.
        with scope as self._variable_scope, self._template_store.as_default():
            return self._call_func(args, kwargs)

    def _made(self):
        store = self._template_store
        return self._in_scope(store.variables()), self._in_scope(store.trainable_variables())

    def _in_scope(self, variables):
        if not self._variables_created:
            return []
        prefix = self._variable_scope.name + "/"
        return [v for v in variables if v.name.startswith(prefix)]

    @property
    def global_variables(self):
        return self._in_scope(self._template_store.variables())

    @property
    def local_variables(self):
        return []

    @property
    def trainable_variables(self):
        return self._in_scope(self._template_store.trainable_variables())
