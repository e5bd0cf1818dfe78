"""tf.make_template: a function whose variables are made by its first call and shared by the later ones."""
import functools
import traceback

from penstock.framework import ops
from penstock.ops import variable_scope
from penstock.platform import tf_logging as logging


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """`func_` with `kwargs` bound, in a variable scope of its own that its first call (or this one) opens."""
    if kwargs:
        func_ = functools.wraps(func_, updated=())(functools.partial(func_, **kwargs))
    return Template(name_, func_, create_scope_now=create_scope_now_, unique_name=unique_name_,
                    custom_getter=custom_getter_)


def make_template_internal(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None,
                           create_graph_function_=False, **kwargs):
    return make_template(name_, func_, create_scope_now_, unique_name_, custom_getter_, **kwargs)


def _without_common_part(trace, base):
    for i, (a, b) in enumerate(zip(trace, base)):
        if a != b:
            return trace[i:]
    return trace[-1:]


class Template(object):
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
        try:
            if self._variables_created:
                return self._later_call(args, kwargs)
            if not self._first_call:
                # A call of itself inside the first call.
                return self._func(*args, **kwargs)
            self._first_call = False
            try:
                result = self._func(*args, **kwargs)
            except BaseException:
                self._first_call = True
                raise
            self._variables_created = True
            return result
        except Exception as e:
            # Where the template was made is not in the traceback of where it is called.
            made = "".join(_without_common_part(self._stacktrace, traceback.format_stack()))
            e.args = ("%s\n\noriginally defined at:\n%s" % (e.args[0] if e.args else "", made),) + e.args[1:]
            raise

    def _later_call(self, args, kwargs):
        everything = ops.get_collection_ref(ops.GraphKeys.GLOBAL_VARIABLES)
        trainable = ops.get_collection_ref(ops.GraphKeys.TRAINABLE_VARIABLES)
        before, trainable_before = len(everything), len(trainable)
        result = self._func(*args, **kwargs)
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
        trainable = set(self.trainable_variables)
        return [v for v in self.global_variables if v not in trainable]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
