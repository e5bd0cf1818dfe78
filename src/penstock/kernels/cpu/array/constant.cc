// Constants, placeholders, filled tensors.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/tensor/variant.h"

namespace penstock {

namespace {

struct Const {
  Tensor value;

  explicit Const(const NodeView& node) : value(node.attr<Tensor>("value")) {
    if (value.dtype() != node.output_type(0)) {
      throw InvalidArgument("Type mismatch between value (", value.dtype(), ") and dtype (", node.output_type(0), ")");
    }
  }
  void operator()(KernelContext& k) const { k.SetOutput(0, value); }
};

struct Placeholder {
  std::string message;

  explicit Placeholder(const NodeView& node) {
    const auto& shape = node.attr<PartialShape>("shape");
    message =
        StrCat("You must feed a value for placeholder tensor '", node.name(), "' with dtype ", node.output_type(0));
    if (shape.known_rank() && shape.rank() > 0) message += StrCat(" and shape ", shape);
  }
  void operator()(KernelContext&) const { throw InvalidArgument(message); }
};

struct Fill {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 1 || (k.input(0).rank() == 0 && k.input(0).num_elements() == 1),
              "dims must represent a vector, got shape ", k.shape(0));
    k.Require(k.input(1).rank() == 0 || (k.input(1).rank() == 1 && k.input(1).num_elements() == 1),
              "value must represent a scalar, got shape ", k.shape(1));
    Tensor& out = k.Output(0, k.ShapeInput(0));
    if (out.num_elements() > 0) FillElements(k, out.dtype(), out.mutable_raw(), k.input(1).raw(), out.num_elements());
  }
};

struct ZerosLike {
  void operator()(KernelContext& k) const {
    const Tensor& x = k.input(0);
    if (x.dtype() == DT_VARIANT) {
      Tensor zeros(DT_VARIANT, x.shape());
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const Variant& v = x.data<Variant>()[i];
        if (v.empty()) throw InvalidArgument("ZerosLike of an empty variant");
        zeros.mutable_data<Variant>()[i] = Variant(v.get()->ZerosLike());
      }
      return k.SetOutput(0, std::move(zeros));
    }
    Tensor& out = k.OutputLike(0, {0}, x.shape());
    ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
  }
};

template <class T>
struct OnesLike {
  void operator()(KernelContext& k) const {
    Tensor& out = k.OutputLike(0, {0}, k.shape(0));
    const T one = static_cast<T>(1);
    FillElements(k, out.dtype(), out.mutable_raw(), &one, out.num_elements());
  }
};

struct Empty {
  bool init;

  explicit Empty(const NodeView& node) : init(node.attr<bool>("init")) {}
  void operator()(KernelContext& k) const {
    Tensor& out = k.Output(0, k.ShapeInput(0));
    // Memory is not handed out with what somebody left in it.
    (void)init;
    ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
  }
};

}  // namespace

void RegisterConstantKernels(KernelRegistry& kernels) {
  kernels.Add<Const>("Const");
  kernels.Add<Const>("HostConst");
  kernels.Add<Placeholder>("Placeholder");
  kernels.Add<Placeholder>("PlaceholderV2");
  kernels.Add<Fill>("Fill");
  kernels.Add<ZerosLike>("ZerosLike");
  kernels.Add<OnesLike>("OnesLike", PodTypes{});
  kernels.Add<Empty>("Empty");
}

}  // namespace penstock
