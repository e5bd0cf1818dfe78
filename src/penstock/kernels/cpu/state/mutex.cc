// Locks of critical sections. Who waits for one is an entry of a list and holds no thread.
#include <utility>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/wait_list.h"
#include "penstock/kernels/cpu/state/named_resource.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

class Mutex : public Resource {
 public:
  explicit Mutex(std::string name) : name_(std::move(name)), waiting_(true) {}
  std::string DebugString() const override { return StrCat("Mutex ", name_); }
  void Lock(const Ref<CancellationManager>& cancellation, WaitList::Done done) {
    waiting_.Add(
        ShareRef(this), cancellation, "MutexLock", [this] { return std::exchange(locked_, true) == false; },
        std::move(done));
  }
  void Unlock() {
    {
      std::lock_guard lock(waiting_.mutex());
      locked_ = false;
    }
    waiting_.Flush();
  }

 private:
  const std::string name_;
  WaitList waiting_;
  bool locked_ = false;  // guarded by the list's mutex
};

// Unlocks when the last copy of the value is dropped.
class Lock final : public VariantValue {
 public:
  explicit Lock(Ref<Mutex> mutex) : mutex_(std::move(mutex)) {}
  ~Lock() override { mutex_->Unlock(); }
  std::string_view TypeName() const override { return "tensorflow::Mutex::SharedLockReleaser"; }

 private:
  const Ref<Mutex> mutex_;
};

class MutexKernel : public NamedResourceKernel<Mutex> {
 public:
  explicit MutexKernel(const NodeView& node) : NamedResourceKernel(node, "tensorflow::Mutex") {}

 protected:
  Ref<Mutex> Make(KernelContext&, const std::string& name) const override { return MakeRef<Mutex>(name); }
  void CheckSharing(KernelContext&, const Mutex&) const override {}
};

class MutexLock : public AsyncKernel {
 public:
  explicit MutexLock(const NodeView&) {}
  void RunAsync(KernelContext& k, Done done) override {
    const Ref<Mutex> mutex = k.Lookup<Mutex>(0);
    mutex->Lock(k.step().cancellation, [&k, mutex, done = std::move(done)](Status status) {
      if (status.ok()) {
        Tensor lock(DT_VARIANT, Shape());
        *lock.mutable_data<Variant>() = Variant(MakeRef<Lock>(mutex));
        k.SetOutput(0, std::move(lock));
      }
      done(std::move(status));
    });
  }
};

struct ConsumeMutexLock {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0 && k.input(0).data<Variant>()->as<Lock>(),
              "Expected input to be a SharedLockReleaser object, but got a ", k.input(0).dtype(), " of shape ",
              k.shape(0));
    k.Take(0);
  }
};

}  // namespace

void RegisterMutexKernels(KernelRegistry& kernels) {
  kernels.Add<MutexKernel>("MutexV2");
  kernels.Add<MutexLock>("MutexLock");
  kernels.Add<ConsumeMutexLock>("ConsumeMutexLock");
}

}  // namespace penstock
