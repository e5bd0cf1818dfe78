// Kernels that hand their input over.
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/copy.h"

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

// Whether elements are NaN, +Inf or -Inf, as bits 1, 2 and 4. Only the exponent is looked at in the fast loop.
template <class T, class I>
int FindSpecial(std::span<const T> x, I exponent) {
  const I* bits = reinterpret_cast<const I*>(x.data());
  bool any = false;
  for (size_t i = 0; i < x.size(); ++i) any |= (bits[i] & exponent) == exponent;
  if (!any) return 0;
  int found = 0;
  for (const T v : x) {
    const double d = static_cast<double>(v);
    if (std::isnan(d)) found |= 1;
    if (std::isinf(d)) found |= d > 0 ? 2 : 4;
  }
  return found;
}

int FindSpecial(const Tensor& x) {
  switch (x.dtype()) {
    case DT_HALF:
      return FindSpecial<Half, uint16_t>(x.flat<Half>(), 0x7C00);
    case DT_BFLOAT16:
      return FindSpecial<BFloat16, uint16_t>(x.flat<BFloat16>(), 0x7F80);
    case DT_FLOAT:
      return FindSpecial<float, uint32_t>(x.flat<float>(), 0x7F800000u);
    default:
      return FindSpecial<double, uint64_t>(x.flat<double>(), 0x7FF0000000000000u);
  }
}

struct CheckNumerics {
  std::string message;
  bool signs;  // version 2 tells +Inf from -Inf

  explicit CheckNumerics(const NodeView& node)
      : message(node.attr<std::string>("message")), signs(node.op().name == "CheckNumericsV2") {}
  void operator()(KernelContext& k) const {
    if (const int found = FindSpecial(k.input(0))) {
      std::vector<std::string> kinds;
      if (signs) {
        if (found & 4) kinds.push_back("-Inf");
        if (found & 2) kinds.push_back("+Inf");
        if (found & 1) kinds.push_back("NaN");
      } else {
        if (found & 6) kinds.push_back("Inf");
        if (found & 1) kinds.push_back("NaN");
      }
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
