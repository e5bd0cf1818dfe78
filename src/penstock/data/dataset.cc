#include "penstock/data/dataset.h"

namespace penstock::data {

void ElementSpec::RequireCompatible(const ElementSpec& other) const {
  if (types.size() != other.types.size()) {
    throw InvalidArgument("Number of components does not match: expected ", types.size(), " types but got ",
                          other.types.size(), ".");
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != other.types[i]) {
      throw InvalidArgument("Data type mismatch at component ", i, ": expected ", types[i], " but got ", other.types[i],
                            ".");
    }
  }
  for (size_t i = 0; i < shapes.size() && i < other.shapes.size(); ++i) {
    if (!shapes[i].IsCompatibleWith(other.shapes[i])) {
      throw InvalidArgument("Incompatible shapes at component ", i, ": expected ", shapes[i], " but got ",
                            other.shapes[i], ".");
    }
  }
}

void Options::Override(const Options& inner) {
  if (!deterministic) deterministic = inner.deterministic;
  autotune = autotune && inner.autotune;
  warm_start = warm_start || inner.warm_start;
  if (cpu_budget == 0) cpu_budget = inner.cpu_budget;
  if (ram_budget == 0) ram_budget = inner.ram_budget;
  if (initial_parallelism == 0) initial_parallelism = inner.initial_parallelism;
  if (min_parallelism == 0) min_parallelism = inner.min_parallelism;
  if (!stats) stats = inner.stats;
  if (max_intra_op_parallelism == 0) max_intra_op_parallelism = inner.max_intra_op_parallelism;
  if (most_threads == 0) most_threads = inner.most_threads;
}

std::shared_ptr<const BoundFunction> IteratorContext::Bind(const std::shared_ptr<const FuncRef>& function,
                                                           const FunctionLibraryPtr& library) {
  {
    std::lock_guard lock(mutex_);
    const auto it = bound_.find(function.get());
    if (it != bound_.end()) {
      ++it->second.users;
      return it->second.call;
    }
  }
  std::shared_ptr<const BoundFunction> made = functions_->Bind(*function, library);
  std::lock_guard lock(mutex_);
  Bound& bound = bound_.try_emplace(function.get(), Bound{function, library, std::move(made), 0}).first->second;
  ++bound.users;
  return bound.call;
}

void IteratorContext::Unbind(const FuncRef* function) {
  std::lock_guard lock(mutex_);
  --bound_.at(function).users;
}

void IteratorContext::ForEachBound(const std::function<void(const FuncRef&, const FunctionLibraryPtr&)>& see) const {
  std::lock_guard lock(mutex_);
  for (const auto& [key, bound] : bound_) {
    if (bound.users > 0) see(*bound.function, bound.library);
  }
}

namespace {

constexpr std::string_view kSharedKey = "shared";

void VisitShared(State& state, const std::string& name, SharedState& object) {
  state.Inside(kSharedKey, [&] { state.Inside(name, [&] { object.Visit(state); }); });
}

bool HasShared(const SavedState& saved, const std::string& name) {
  const std::string key = StrCat(kSharedKey, "/", name, "/");
  const auto it = saved.values.lower_bound(key);
  return it != saved.values.end() && it->first.starts_with(key);
}

}  // namespace

Ref<SharedState> IteratorContext::Shared(const std::string& name, const std::function<Ref<SharedState>()>& make) {
  std::lock_guard lock(mutex_);
  Ref<SharedState>& found = shared_[name];
  if (found) return found;
  found = make();
  if (restored_ && HasShared(*restored_, name)) {
    State state(*restored_);
    VisitShared(state, name, *found);
  }
  return found;
}

void IteratorContext::SaveShared(State& state) {
  std::lock_guard lock(mutex_);
  for (const auto& [name, object] : shared_) VisitShared(state, name, *object);
}

void IteratorContext::RestoreShared(Ref<const SavedState> saved) {
  std::lock_guard lock(mutex_);
  restored_ = std::move(saved);
  State state(*restored_);
  for (const auto& [name, object] : shared_) {
    if (HasShared(*restored_, name)) VisitShared(state, name, *object);
  }
}

int64_t Iterator::Skip(int64_t n) {
  Element element;
  for (int64_t i = 0; i < n; ++i) {
    if (!Next(&element)) return i;
  }
  return n;
}

void Dataset::Visit(State& state) const {
  for (size_t i = 0; i < inputs_.size(); ++i) state.Inside(std::to_string(i), [&] { inputs_[i]->Visit(state); });
}

Options Dataset::options() const {
  Options all;
  for (const auto& input : inputs_) all.Override(input->options());
  return all;
}

Accessor Dataset::MakeAccessor(const Place&) const {
  throw Unimplemented("Random access is not implemented for dataset ", DebugString());
}

void Dataset::RequireShuffleable() const {
  throw FailedPrecondition(recipe_.op ? recipe_.op->name : name_, " does not support random access.");
}

void Dataset::RequireKnownCardinality() const {
  const int64_t n = Cardinality();
  if (n >= 0) return;
  throw FailedPrecondition("Dataset of type ", DebugString(), " has ", n == kInfinite ? "infinite" : "unknown",
                           " cardinality, which does not support random access.");
}

void RequireIndex(int64_t index, int64_t n) {
  if (n < 0 && index < 0) throw OutOfRange("Dataset index ", index, " must be non-negative");
  if (n >= 0 && (index < 0 || index >= n)) throw OutOfRange("Index out of range [0, ", n, "):", index);
}

void RequireComponents(const Element& element, size_t n) {
  if (element.size() != n) {
    throw InvalidArgument("An element with ", n, " components was expected, but it has ", element.size(), ".");
  }
}

Ref<const Dataset> DatasetFrom(const Tensor& variant) {
  if (variant.dtype() != DT_VARIANT || variant.rank() != 0) {
    throw InvalidArgument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  }
  const Dataset* dataset = variant.data<Variant>()->as<Dataset>();
  if (!dataset) throw InvalidArgument("Tensor must be a Dataset object.");
  return ShareRef(dataset);
}

Tensor ToVariant(Ref<const Dataset> dataset) {
  Tensor t(DT_VARIANT, Shape());
  *t.mutable_data<Variant>() = Variant(ShareRef<VariantValue>(const_cast<Dataset*>(dataset.get())));
  return t;
}

}  // namespace penstock::data
