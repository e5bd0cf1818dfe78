// What a running kernel may use besides its tensors, as interfaces; runtime/ implements them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/base/threads.h"
#include "penstock/device/resource_manager.h"
#include "penstock/op/attr_value.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

// Says when a step is to end early. What may still run after the step (a time limit, a late answer from elsewhere)
// holds its own reference.
class CancellationManager final : public RefCounted {
 public:
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Runs the registered callbacks on this thread; the first call only.
  void Cancel();
  using Token = int64_t;
  // False: already cancelled, and `callback` was not kept.
  bool Register(std::function<void()> callback, Token* token);
  // Waits for a running callback; true if it was removed before it ran.
  bool Deregister(Token token);

 private:
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  Token next_ = 0;
  std::map<Token, std::function<void()>> callbacks_;
  bool is_running_ = false;
  std::thread::id running_;
  std::condition_variable finished_;
};

// Meeting point of a value's sender and receiver, by key. All crossings of devices and machines go through one.
class Rendezvous : public RefCounted {
 public:
  using Received = std::function<void(Status, Tensor, bool is_dead)>;
  virtual void Send(const std::string& key, Tensor value, bool is_dead) = 0;  // Aborted if it was aborted
  virtual void ReceiveAsync(const std::string& key, Received done) = 0;
  virtual void Abort(Status status) = 0;  // fails all that wait and all that come
};

// A variable's slot: what a reference output names. The value is replaced or, when nobody else holds its buffer,
// updated in place, under the mutex.
class VariableSlot : public Resource {
 public:
  std::mutex mutex;
  Tensor value;  // dtype DT_INVALID until initialised
  DataType dtype = DT_INVALID;
  PartialShape shape;
  int64_t version = 0;  // grows with each change: caches of packed weights key on it
  std::string name;
  std::string DebugString() const override { return "variable " + name; }
};

class KernelContext;

// Runs a function of the step's library.
class FunctionCaller {
 public:
  virtual ~FunctionCaller() = default;
  using Results = std::function<void(Status, std::vector<Tensor>)>;
  virtual void CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller, Results done) = 0;
};

// What all kernels of one step share.
struct StepServices {
  int64_t step_id = 0;
  Rendezvous* rendezvous = nullptr;
  Ref<CancellationManager> cancellation;  // null: nothing ends the step early
  FunctionCaller* functions = nullptr;
  ResourceManager* step_resources = nullptr;            // TensorArrays, stacks: gone with the step
  ThreadPool* intra_op = nullptr;                       // for KernelContext::Parallel
  std::function<void(std::function<void()>)> schedule;  // runs a closure on the inter-op pool
  std::string session_handle;
  int call_depth = 0;        // nested function calls; ends endless recursion
  int interrupts_seen = -1;  // SIGINTs when the step began; -1: it is not interruptible
};

}  // namespace penstock
