// Functions that datasets call with elements.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/data/stats.h"

namespace penstock::data {

// A function and the values that it takes besides the element: part of a dataset.
struct CapturedFunction {
  std::shared_ptr<const FuncRef> function;  // one for each kernel: iterators find by it what they have bound
  std::vector<Tensor> captured;
  std::string transformation;  // for messages: "MapDataset:1"
  FunctionLibraryPtr library;  // that the function is of; null: the session's
};

// The same, ready to be called: part of an iterator. Thread-safe.
class BoundCall {
 public:
  BoundCall(const CapturedFunction& function, const Iterator& iterator) : BoundCall(function, iterator.place()) {}
  BoundCall(const CapturedFunction& function, const Place& place);
  ~BoundCall() { place_.context->Unbind(function_->function.get()); }
  BoundCall(const BoundCall&) = delete;
  // `results` may be the element that the arguments are of.
  void operator()(std::span<const Tensor> args, Element* results) const;
  // The same with several lists of arguments, one after the other.
  void operator()(std::initializer_list<std::span<const Tensor>> args, Element* results) const;
  // Calls it even if the iteration is cancelled, for what was begun and has to be ended; its results are dropped.
  void CallAnyway(std::span<const Tensor> args) const;
  const std::vector<DataType>& result_types() const { return bound_->result_types(); }
  bool may_wait() const { return bound_->may_wait(); }
  // The only result, a scalar. InvalidArgument, saying what returned it, if it is something else.
  bool Predicate(std::span<const Tensor> args) const;
  int64_t Int(std::span<const Tensor> args, std::string_view what) const;

 private:
  void Call(std::span<const Tensor> args, Element* results) const;
  std::shared_ptr<const BoundFunction> bound_;
  const CapturedFunction* function_;  // of the dataset, which the iterator keeps
  Place place_;
  const IteratorStats stats_;
  mutable std::atomic<int64_t> calls_{0};  // that were counted
};

// Replaces the element by what the function makes of it. Where the function may not end the dataset, InvalidArgument
// stands for OutOfRange.
void MapElement(const BoundCall& call, bool may_end, Element* element);
// By their places: what the function makes of the elements of `input`.
Accessor AccessMapped(const Dataset& input, const CapturedFunction& function, bool may_end, const Place& place);

// Whether an error says that the function has no more elements.
inline bool IsEnd(const Error& error) { return error.code() == Code::kOutOfRange; }

}  // namespace penstock::data
