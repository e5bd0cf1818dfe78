#include "penstock/data/function.h"

#include <chrono>

namespace penstock::data {

BoundCall::BoundCall(const CapturedFunction& function, const Place& place)
    : bound_(place.context->Bind(function.function, function.library)),
      function_(&function),
      place_(place),
      stats_(place, function.transformation.substr(0, function.transformation.find("Dataset"))) {}

void BoundCall::Call(std::span<const Tensor> args, Element* results) const {
  IteratorContext& context = *place_.context;
  try {
    const auto start = stats_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    bound_->Call(args, context.cancellation, context.interrupts_seen.load(std::memory_order_relaxed), results);
    if (stats_) {
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      stats_.Histogram("execution_time", time.count(), calls_.fetch_add(1) + 1);
    }
  } catch (const Error& error) {
    const Status& status = error.status();
    if (status.code() == Code::kCancelled || status.code() == Code::kOutOfRange) throw;
    throw Error(Status(status.code(),
                       StrCat("Error in user-defined function passed to ", function_->transformation,
                              " transformation with iterator: ", place_.prefix, ": ", status.message()),
                       status.node()));
  }
}

void BoundCall::operator()(std::span<const Tensor> args, Element* results) const {
  if (function_->captured.empty()) {
    Element made;
    Call(args, &made);
    *results = std::move(made);
    return;
  }
  (*this)({args}, results);
}

void BoundCall::operator()(std::initializer_list<std::span<const Tensor>> args, Element* results) const {
  Element all;
  for (const auto part : args) all.insert(all.end(), part.begin(), part.end());
  all.insert(all.end(), function_->captured.begin(), function_->captured.end());
  Element made;
  Call(all, &made);
  *results = std::move(made);
}

void BoundCall::CallAnyway(std::span<const Tensor> args) const {
  Element all(args.begin(), args.end()), ignored;
  all.insert(all.end(), function_->captured.begin(), function_->captured.end());
  bound_->Call(all, nullptr, -1, &ignored);
}

void MapElement(const BoundCall& call, bool may_end, Element* element) {
  try {
    call(*element, element);
  } catch (const Error& error) {
    if (may_end || !IsEnd(error)) throw;
    throw InvalidArgument("Function invocation produced OutOfRangeError: ", error.status().message());
  }
}

Accessor AccessMapped(const Dataset& input, const CapturedFunction& function, bool may_end, const Place& place) {
  return
      [input = input.Access(place), call = std::make_shared<const BoundCall>(function, place), may_end](int64_t index) {
        Element element = input(index);
        MapElement(*call, may_end, &element);
        return element;
      };
}

bool BoundCall::Predicate(std::span<const Tensor> args) const {
  Element results;
  (*this)(args, &results);
  if (results.size() != 1 || results[0].dtype() != DT_BOOL || results[0].num_elements() != 1) {
    // Clarified by its message: the result came from the user's predicate.
    throw InvalidArgument("`predicate` must return a scalar bool tensor.");
  }
  return *results[0].data<bool>();
}

int64_t BoundCall::Int(std::span<const Tensor> args, std::string_view what) const {
  Element results;
  (*this)(args, &results);
  if (results.size() != 1 || results[0].dtype() != DT_INT64 || results[0].num_elements() != 1) {
    throw InvalidArgument("`", what, "` must return a scalar int64.");
  }
  return *results[0].data<int64_t>();
}

}  // namespace penstock::data
