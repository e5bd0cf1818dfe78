"""Variables and the steps of optimizers."""

from spec import Case, Ref, Res, T, Type, V, i32, i64


def _cases():
    made = []
    real = ("half", "bfloat16", "float32", "float64")

    def add(op, error=None, types=real, **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",), tolerance=1e-4))

    for op in ("Assign", "AssignAdd", "AssignSub"):
        for shape in ((), (2, 3), (0,)):
            add(op, ref=Ref(V(*shape)), value=V(*shape), types=None)
        add(op, ref=Ref(V(2, 3)), value=V(3), error="")
    for op in ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"):
        for shape in ((), (2, 3)):
            add(op, resource=Res(V(*shape)), value=V(*shape), types=None)
        add(op, resource=Res(V(2, 3)), value=V(3), error="") if op != "AssignVariableOp" else None
    add("CountUpTo", ref=Ref(V(values=2)), limit=5, types=("int32", "int64"))
    add("CountUpTo", ref=Ref(V(values=5)), limit=5, error="") if False else None

    def one(value):
        return V(values=value)

    def P():
        return V(2, 3, low=1 / 8, high=2)

    rules = {
        "GradientDescent": (["var"], [("alpha", 0.5), ("delta", None)], {}),
        "Momentum": (
            ["var", "accum"],
            [("lr", 0.5), ("grad", None), ("momentum", 0.75)],
            {"use_nesterov": (False, True)},
        ),
        "Adam": (
            ["var", "m", "v"],
            [
                ("beta1_power", 0.5),
                ("beta2_power", 0.75),
                ("lr", 0.5),
                ("beta1", 0.5),
                ("beta2", 0.75),
                ("epsilon", 0.125),
                ("grad", None),
            ],
            {"use_nesterov": (False, True)},
        ),
        "AdaMax": (
            ["var", "m", "v"],
            [("beta1_power", 0.5), ("lr", 0.5), ("beta1", 0.5), ("beta2", 0.75), ("epsilon", 0.125), ("grad", None)],
            {},
        ),
        "Adagrad": (["var", "accum"], [("lr", 0.5), ("grad", None)], {"update_slots": (True, False)}),
        "AdagradV2": (
            ["var", "accum"],
            [("lr", 0.5), ("epsilon", 0.125), ("grad", None)],
            {"update_slots": (True, False)},
        ),
        "Adadelta": (
            ["var", "accum", "accum_update"],
            [("lr", 0.5), ("rho", 0.75), ("epsilon", 0.125), ("grad", None)],
            {},
        ),
        "RMSProp": (
            ["var", "ms", "mom"],
            [("lr", 0.5), ("rho", 0.75), ("momentum", 0.5), ("epsilon", 0.125), ("grad", None)],
            {},
        ),
        "CenteredRMSProp": (
            ["var", "mg", "ms", "mom"],
            [("lr", 0.5), ("rho", 0.75), ("momentum", 0.5), ("epsilon", 4.0), ("grad", None)],
            {},
        ),
        "Ftrl": (
            ["var", "accum", "linear"],
            [("grad", None), ("lr", 0.5), ("l1", 0.125), ("l2", 0.25), ("lr_power", -0.5)],
            {},
        ),
        "FtrlV2": (
            ["var", "accum", "linear"],
            [("grad", None), ("lr", 0.5), ("l1", 0.125), ("l2", 0.25), ("l2_shrinkage", 0.125), ("lr_power", -0.5)],
            {},
        ),
        "ProximalGradientDescent": (["var"], [("alpha", 0.5), ("l1", 0.125), ("l2", 0.25), ("delta", None)], {}),
        "ProximalAdagrad": (["var", "accum"], [("lr", 0.5), ("l1", 0.125), ("l2", 0.25), ("grad", None)], {}),
        "AddSign": (
            ["var", "m"],
            [("lr", 0.5), ("alpha", 1.0), ("sign_decay", 0.5), ("beta", 0.75), ("grad", None)],
            {},
        ),
        "PowerSign": (
            ["var", "m"],
            [("lr", 0.5), ("logbase", 1.0), ("sign_decay", 0.5), ("beta", 0.75), ("grad", None)],
            {},
        ),
    }
    step = i64(4)
    for rule, kind in (
        ("ApplyAdagradDA", Ref),
        ("ResourceApplyAdagradDA", Res),
        ("SparseApplyAdagradDA", Ref),
        ("ResourceSparseApplyAdagradDA", Res),
    ):
        args = {name: kind(P()) for name in ("var", "gradient_accumulator", "gradient_squared_accumulator")}
        rows = {"indices": i32(1, 0)} if "Sparse" in rule else {}
        add(rule, grad=V(2, 3), lr=one(0.5), l1=one(0.125), l2=one(0.25), global_step=step, **rows, **args)
    for nesterov in (False, True):
        args = {"lr": one(0.5), "grad": V(2, 3), "momentum": one(0.75), "use_nesterov": nesterov}
        add("ResourceApplyKerasMomentum", var=Res(P()), accum=Res(P()), **args)
        add("ResourceSparseApplyKerasMomentum", var=Res(P()), accum=Res(P()), indices=i32(1, 0), **args)
        add("ResourceSparseApplyKerasMomentum", var=Res(P()), accum=Res(P()), indices=i32(1, 2), error="", **args)
    add(
        "ResourceApplyAdamWithAmsgrad",
        var=Res(P()),
        m=Res(P()),
        v=Res(P()),
        vhat=Res(P()),
        beta1_power=one(0.5),
        beta2_power=one(0.75),
        lr=one(0.5),
        beta1=one(0.5),
        beta2=one(0.75),
        epsilon=one(0.125),
        grad=V(2, 3),
    )
    add("VariableShape", input=Res(V(2, 3)), types=("float32",))
    add("VariableShape", input=Res(V()), out_type=Type("int64"), types=("float32",))
    add("ReadVariableOp", resource=Res(V(2, 3)), dtype=T)
    add("VarIsInitializedOp", resource=Res(V(2, 3)), types=("float32",))
    add("IsVariableInitialized", ref=Ref(V(2, 3)), types=("float32",))
    add("ResourceCountUpTo", resource=Res(V(values=2)), limit=5, T=T, types=("int32", "int64"))

    sparse_less = ("GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign")
    for rule, (variables, inputs, attrs) in rules.items():
        choices = [{}]
        for name, values in attrs.items():
            choices = [{name: value} for value in values]
        for attr in choices:
            for prefix, kind in (("Apply", Ref), ("ResourceApply", Res)):
                args = {name: kind(P()) for name in variables}
                args.update({name: V(2, 3) if value is None else one(value) for name, value in inputs})
                add(prefix + rule, **args, **attr)
            if rule in sparse_less:
                continue
            for prefix, kind in (("SparseApply", Ref), ("ResourceSparseApply", Res)):
                args = {name: kind(P()) for name in variables}
                args.update(
                    {
                        "grad" if name == "delta" else name: V(2, 3) if value is None else one(value)
                        for name, value in inputs
                    }
                )
                add(prefix + rule, indices=i32(1, 0), **args, **attr)
                bad = {name: kind(P()) for name in variables}
                bad.update(
                    {
                        "grad" if name == "delta" else name: V(2, 3) if value is None else one(value)
                        for name, value in inputs
                    }
                )
                add(prefix + rule, indices=i64(1, 2), error="", **bad, **attr)
    return made


CASES = _cases()
