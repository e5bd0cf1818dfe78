"""AtomicFunction: a trace's definition, for who calls it with the values that it captures."""


class AtomicFunction:
    """What a trace computes when nothing is differentiated: `ConcreteFunction.inference_fn`."""

    def __init__(self, concrete):
        self._concrete = concrete

    @property
    def name(self):
        """The name in the library, as bytes."""
        return self._concrete.name

    @property
    def function_type(self):
        """What it takes, gives and captures."""
        return self._concrete.function_type

    @property
    def graph(self):
        """The body."""
        return self._concrete.graph

    @property
    def definition(self):
        """The FunctionDef."""
        return self._concrete.function_def

    cached_definition = definition

    @property
    def attributes(self):
        """{name: AttrValue} of the definition."""
        return self.definition.attr

    def call_flat(self, *args):
        """The flat results for flat tensors: the arguments', then those of what is captured."""
        return self._concrete._call_flat_tensors(self._concrete._tensors(args, len(args)))

    def call_with_captures(self, args, kwargs, captures):
        """The results for arguments and for tensors in the place of what is captured."""
        concrete = self._concrete
        return concrete._build(concrete._call_flat_tensors([*concrete._flat_inputs(args, kwargs), *captures]))

    def __call__(self, *args, **kwargs):
        """call_with_captures of a function that captures nothing. ValueError: it does."""
        if self.function_type.captures:
            raise ValueError("The FunctionType defines captured inputs. Use call_with_captures instead.")
        return self.call_with_captures(args, kwargs, ())

    def __repr__(self):
        return f"AtomicFunction(name={self.name}, function_type={self.function_type!r})"
