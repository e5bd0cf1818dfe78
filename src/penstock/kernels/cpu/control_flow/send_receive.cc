// Send and Receive over the step's rendezvous.
#include <cstdio>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

std::string Prefix(const NodeView& node) {
  char incarnation[17];  // with leading zeros: tasks compare keys as text
  std::snprintf(incarnation, sizeof(incarnation), "%016llx",
                static_cast<unsigned long long>(node.attr<int64_t>("send_device_incarnation")));
  return StrCat(node.attr<std::string>("send_device"), ";", incarnation, ";", node.attr<std::string>("recv_device"),
                ";", node.attr<std::string>("tensor_name"), ";0:");
}

Rendezvous& RendezvousOf(KernelContext& k) {
  if (!k.step().rendezvous) throw Internal("this step has no rendezvous");
  return *k.step().rendezvous;
}

// Runs for a dead input too, which is then without a value: the receiver must learn of it.
struct Send {
  std::string prefix;
  explicit Send(const NodeView& node) : prefix(Prefix(node)) {}
  void operator()(KernelContext& k) const {
    const Tensor& value = k.input(0);
    RendezvousOf(k).Send(StrCat(prefix, k.frame_iter), value, !value.initialized());
  }
};

class Receive : public AsyncKernel {
 public:
  explicit Receive(const NodeView& node) : prefix_(Prefix(node)) {}
  void RunAsync(KernelContext& k, Done done) override {
    RendezvousOf(k).ReceiveAsync(StrCat(prefix_, k.frame_iter),
                                 [&k, done = std::move(done)](Status status, Tensor value, bool is_dead) {
                                   if (status.ok() && !is_dead) k.SetOutput(0, std::move(value));
                                   done(std::move(status));
                                 });
  }

 private:
  const std::string prefix_;
};

}  // namespace

void RegisterSendReceiveKernels(KernelRegistry& kernels) {
  kernels.Add<Send>("_Send");
  kernels.Add<Send>("_HostSend").HostInput(0);
  kernels.Add<Receive>("_Recv");
  kernels.Add<Receive>("_HostRecv").HostOutput(0);
}

}  // namespace penstock
