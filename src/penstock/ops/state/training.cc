// The update rules of optimizers. Each exists for reference and resource variables, dense and (most) for sparse
// gradients; one table row defines all four.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

enum Forms { kRef = 1, kResource = 2, kSparse = 4, kSparseRef = 8, kAll = 15, kDense = 3 };

struct Rule {
  const char* name;
  const char* variables;  // in the order of the inputs
  const char* rest;       // scalars and "grad"; "global_step" is an int64
  const char* attr;       // besides use_locking
  int forms;
  const char* doc;
};

constexpr Rule kRules[] = {
    {"GradientDescent", "var", "alpha delta", "", kDense, "var -= alpha * delta"},
    {"ProximalGradientDescent", "var", "alpha l1 l2 delta", "", kAll,
     "Gradient descent with the proximal step of l1 and l2 regularisation (FOBOS)."},
    {"Adadelta", "var accum accum_update", "lr rho epsilon grad", "", kAll, "The Adadelta update."},
    {"Adagrad", "var accum", "lr grad", "update_slots: bool = true", kAll,
     "accum += grad^2; var -= lr * grad / sqrt(accum)"},
    {"AdagradV2", "var accum", "lr epsilon grad", "update_slots: bool = true", kAll,
     "accum += grad^2; var -= lr * grad / (sqrt(accum) + epsilon)"},
    {"ProximalAdagrad", "var accum", "lr l1 l2 grad", "", kAll, "Adagrad with the proximal step of l1 and l2."},
    {"AdagradDA", "var gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step", "", kAll,
     "Adagrad by dual averaging."},
    {"Ftrl", "var accum linear", "grad lr l1 l2 lr_power", "multiply_linear_by_lr: bool = false", kAll,
     "Follow the regularised leader, proximal."},
    {"FtrlV2", "var accum linear", "grad lr l1 l2 l2_shrinkage lr_power", "multiply_linear_by_lr: bool = false", kAll,
     "Follow the regularised leader, with l2 shrinkage."},
    {"Momentum", "var accum", "lr grad momentum", "use_nesterov: bool = false", kAll,
     "accum = momentum * accum + grad; var -= lr * accum"},
    {"KerasMomentum", "var accum", "lr grad momentum", "use_nesterov: bool = false", kResource | kSparse,
     "accum = momentum * accum - lr * grad; var += accum"},
    {"Adam", "var m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad", "use_nesterov: bool = false", kDense,
     "The Adam update."},
    {"AdamWithAmsgrad", "var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad", "", kResource,
     "Adam with the largest second moment so far."},
    {"AdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad", "", kDense, "The AdaMax update."},
    {"RMSProp", "var ms mom", "lr rho momentum epsilon grad", "", kAll, "The RMSProp update."},
    {"CenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad", "", kAll,
     "RMSProp with the variance of the gradients instead of their square."},
    {"AddSign", "var m", "lr alpha sign_decay beta grad", "", kDense, "The AddSign update."},
    {"PowerSign", "var m", "lr logbase sign_decay beta grad", "", kDense, "The PowerSign update."},
};

// Variables and the gradient have one shape (a sparse gradient: rows of it); all else is scalar.
void ApplyShape(ShapeContext& c) {
  const OpDef& op = c.op();
  PartialShape var = c.in(0);
  const bool sparse = op.InputIndex("indices") >= 0;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    const ArgDef& arg = op.inputs[i];
    const bool variable = arg.is_ref || arg.type == DT_RESOURCE;
    const bool gradient = arg.name == "grad" || arg.name == "delta";
    if (variable) {
      if (arg.type == DT_RESOURCE) {
        const PartialShape shape = c.in_handle(i).empty() ? PartialShape() : c.in_handle(i)[0].shape;
        var = i == 0 ? shape : var.MergeWith(shape);
      } else {
        var = var.MergeWith(c.in(i));
      }
    } else if (gradient && !sparse) {
      var = var.MergeWith(c.in(i));
    } else if (gradient) {
      if (c.in(i).known_rank() && c.in(i).rank() == 0)
        throw InvalidArgument("Shape must be at least rank 1 but is rank 0");
      if (var.known_rank() && c.in(i).known_rank()) {
        PartialShape rows = c.in(i);
        rows.set_dim(0, -1);
        var = var.MergeWith(rows);
      }
    } else if (arg.name == "indices") {
      const PartialShape indices = c.WithRank(i, 1);
      const PartialShape& grad = c.in(i - 1);  // comes right before
      if (grad.known_rank() && indices.known_rank()) ShapeContext::MergeDim(grad[0], indices[0]);
    } else {
      c.WithRank(i, 0);
    }
  }
  if (c.num_outputs() > 0) c.out(0, var);
}

void AddRule(OpRegistry& ops, const Rule& rule, bool resource, bool sparse) {
  OpBuilder op = ops.Add(StrCat(resource ? "Resource" : "", sparse ? "Sparse" : "", "Apply", rule.name));
  for (std::string_view variable : StrSplit(rule.variables, ' ')) {
    op.Input(StrCat(variable, resource ? ": resource" : ": Ref(T)"));
  }
  for (std::string_view input : StrSplit(rule.rest, ' ')) {
    const bool gradient = input == "grad" || input == "delta";
    op.Input(StrCat(gradient && sparse ? "grad" : input, input == "global_step" ? ": int64" : ": T"));
    if (gradient && sparse) op.Input("indices: Tindices");
  }
  if (!resource) op.Output("out: Ref(T)");
  op.Attr("T: numbertype");
  if (sparse) op.Attr("Tindices: {int32, int64}");
  op.Attr("use_locking: bool = false");
  if (*rule.attr) op.Attr(rule.attr);
  if (resource) op.Stateful();
  op.Shape(ApplyShape).Doc(rule.doc);
}

}  // namespace

void RegisterTrainingOps(OpRegistry& ops) {
  for (const Rule& rule : kRules) {
    if (rule.forms & kRef) AddRule(ops, rule, false, false);
    if (rule.forms & kResource) AddRule(ops, rule, true, false);
    if (rule.forms & kSparseRef) AddRule(ops, rule, false, true);
    if (rule.forms & kSparse) AddRule(ops, rule, true, true);
  }
}

}  // namespace penstock
