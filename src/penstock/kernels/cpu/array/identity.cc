// Kernels that hand their input over.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/tensor/special_values.h"

namespace penstock {

namespace {

struct NoOp {
  void operator()(KernelContext&) const {}
};

struct Forward {
  void operator()(KernelContext& k) const {
    for (int i = 0; i < k.num_inputs(); ++i) k.Forward(i, i);
  }
};

struct GuaranteeConst {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).dtype() != DT_RESOURCE, "Input tensor cannot be a resource variable handle.");
    k.Forward(0, 0);
  }
};

struct DeepCopy {
  void operator()(KernelContext& k) const { k.SetOutput(0, k.input(0).Clone()); }
};

struct EnsureShape {
  PartialShape expected;

  explicit EnsureShape(const NodeView& node) : expected(node.attr<PartialShape>("shape")) {}
  void operator()(KernelContext& k) const {
    k.Require(expected.IsCompatibleWith(k.shape(0)), "Shape of tensor ", k.node().name(), " ", k.shape(0),
              " is not compatible with expected shape ", expected, ".");
    k.Forward(0, 0);
  }
};

struct CheckNumerics {
  std::string message;
  bool signs;  // version 2 tells +Inf from -Inf

  explicit CheckNumerics(const NodeView& node)
      : message(node.attr<std::string>("message")), signs(node.op().name == "CheckNumericsV2") {}
  void operator()(KernelContext& k) const {
    const SpecialValues found = CountSpecialValues(k.input(0));
    if (found.any()) {
      std::vector<std::string> kinds;
      if (signs) {
        if (found.negative_infinity) kinds.push_back("-Inf");
        if (found.positive_infinity) kinds.push_back("+Inf");
      } else if (found.negative_infinity || found.positive_infinity) {
        kinds.push_back("Inf");
      }
      if (found.nan) kinds.push_back("NaN");
      throw InvalidArgument(message, " : Tensor had ", StrJoin(kinds, " and "), " values");
    }
    k.Forward(0, 0);
  }
};

}  // namespace

void RegisterIdentityKernels(KernelRegistry& kernels) {
  kernels.Add<NoOp>("NoOp");
  for (const char* op : {"Identity", "IdentityN", "Snapshot", "StopGradient", "PreventGradient",
                         "PlaceholderWithDefault", "DebugGradientIdentity", "Copy", "CopyHost"}) {
    kernels.Add<Forward>(op);
  }
  kernels.Add<GuaranteeConst>("GuaranteeConst");
  kernels.Add<DeepCopy>("DeepCopy");
  kernels.Add<EnsureShape>("EnsureShape");
  kernels.Add<CheckNumerics>("CheckNumerics", Floats{});
  kernels.Add<CheckNumerics>("CheckNumericsV2", Floats{});
}

}  // namespace penstock
