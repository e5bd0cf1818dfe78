// Tensors that stay in a session from one run to the next, found by a handle: "NODE;NUMBER;DEVICE".
#include <atomic>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

constexpr char kContainer[] = "_session_tensors";

class SessionTensor : public Resource {
 public:
  explicit SessionTensor(Tensor value) : value_(std::move(value)) {}
  const Tensor& value() const { return value_; }
  std::string DebugString() const override { return "a tensor of the session"; }

 private:
  const Tensor value_;
};

struct GetHandle {
  bool resource;
  explicit GetHandle(const NodeView& node) : resource(node.output_type(0) == DT_RESOURCE) {}
  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> number{0};
    const std::string handle = StrCat(k.node().name(), ";", number.fetch_add(1), ";", k.device().name());
    Ref<SessionTensor> kept = MakeRef<SessionTensor>(k.input(0));
    k.resources().Put(kContainer, handle, kept);
    if (!resource) return k.SetOutput(0, Tensor(TString(handle)));
    Tensor result(DT_RESOURCE, Shape());
    *result.mutable_data<ResourceHandle>() = {k.device().name(), kContainer, handle, "tensorflow::Tensor", {}, kept};
    k.SetOutput(0, std::move(result));
  }
};

std::string HandleOf(KernelContext& k) {
  k.Require(k.shape(0).rank() == 0, "handle must be a scalar, but has shape ", k.shape(0));
  return k.input(0).data<TString>()->str();
}

[[noreturn]] void ThrowNotKept(const std::string& handle) {
  throw InvalidArgument("The tensor with handle '", handle, "' is not in the session store.");
}

struct GetTensor {
  void operator()(KernelContext& k) const {
    const std::string handle = HandleOf(k);
    const Ref<SessionTensor> kept = k.resources().FindAs<SessionTensor>(kContainer, handle);
    if (!kept) ThrowNotKept(handle);
    const DataType type = k.node().output_type(0);
    k.Require(kept->value().dtype() == type, "The tensor with handle '", handle, "' is of type ", kept->value().dtype(),
              ", not ", type);
    k.SetOutput(0, kept->value());
  }
};

struct DeleteTensor {
  void operator()(KernelContext& k) const {
    const std::string handle = HandleOf(k);
    if (!k.resources().Remove(kContainer, handle)) ThrowNotKept(handle);
  }
};

}  // namespace

void RegisterSessionTensorKernels(KernelRegistry& kernels) {
  kernels.Add<GetHandle>("GetSessionHandle").HostOutput(0);
  kernels.Add<GetHandle>("GetSessionHandleV2");
  kernels.Add<GetTensor>("GetSessionTensor").HostInput(0);
  kernels.Add<DeleteTensor>("DeleteSessionTensor").HostInput(0);
}

}  // namespace penstock
