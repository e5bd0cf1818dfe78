// Datasets and iterators: a dataset says how elements are made, an iterator makes them, one after the other.
//
// A transformation is a file of this folder with its dataset, its iterator and the kernel of its op. An iterator is
// used by one thread at a time, and calls its inputs on that thread; iterators with threads of their own (background.h)
// lock by themselves.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "penstock/data/state.h"
#include "penstock/device/device.h"
#include "penstock/kernel/function_scope.h"
#include "penstock/kernel/interrupts.h"
#include "penstock/tensor/tensor.h"
#include "penstock/tensor/variant.h"

namespace penstock::data {

struct ElementSpec {
  std::vector<DataType> types;
  std::vector<PartialShape> shapes;
  // InvalidArgument unless elements of `other` can be taken for elements of this.
  void RequireCompatible(const ElementSpec& other) const;
};

struct Stats;  // see stats.h

// What the user leaves to choose or sets for a whole dataset (OptionsDataset).
struct Options {
  std::optional<bool> deterministic;
  bool autotune = true, warm_start = false;
  // Of autotuning, see autotune.h; 0: not set. Cores, bytes, threads of a stage.
  int64_t cpu_budget = 0, ram_budget = 0, initial_parallelism = 0, min_parallelism = 0;
  int max_intra_op_parallelism = 0;
  int64_t most_threads = 0;            // of each stage; 0: as many as it wants
  std::shared_ptr<const Stats> stats;  // where iterators count; null: nowhere
  void Override(const Options& inner);
};

inline constexpr int64_t kInfinite = -1, kUnknown = -2;  // of cardinalities
inline constexpr int64_t kAutotune = -1;                 // of parallelism and buffer sizes
inline constexpr int64_t kShardHint = -1;                // of shards that sharding a pipeline will number

// What several iterators of one iteration use.
class SharedState : public Resource {
 public:
  virtual void Visit(State& state) = 0;
};

// What all iterators of one iterator resource share, for as long as it does not begin anew.
class IteratorContext {
 public:
  IteratorContext(std::shared_ptr<FunctionScope> functions, Device* device, ThreadPool* intra_op)
      : device(device), intra_op(intra_op), functions_(std::move(functions)) {}

  // Bound once for each function that a kernel was made with. `library`: see FunctionScope. Whoever binds it says when
  // it is used no more.
  std::shared_ptr<const BoundFunction> Bind(const std::shared_ptr<const FuncRef>& function,
                                            const FunctionLibraryPtr& library);
  void Unbind(const FuncRef* function);
  const std::shared_ptr<FunctionScope>& functions() const { return functions_; }
  // Calls `see` with each function in use, and its library.
  void ForEachBound(const std::function<void(const FuncRef&, const FunctionLibraryPtr&)>& see) const;
  // The object of that name, made if it is not there yet: what the iterators of a repeated dataset have in common. It
  // is saved and restored, whether or not one of them is there then.
  Ref<SharedState> Shared(const std::string& name, const std::function<Ref<SharedState>()>& make);
  void SaveShared(State& state);
  void RestoreShared(Ref<const SavedState> saved);
  bool stopped() const {
    const int seen = interrupts_seen.load(std::memory_order_relaxed);
    return cancellation->cancelled() || (seen >= 0 && g_interrupts.load(std::memory_order_relaxed) != seen);
  }
  void ThrowIfStopped() const {
    if (stopped()) [[unlikely]]
      throw Cancelled("Iterator was cancelled.");
  }

  // Takes `bytes` of the memory that tuned buffers may grow by, or gives them back if negative; false if there are not
  // as many (autotune.cc).
  bool ReserveBuffer(int64_t bytes);

  Device* const device;
  ThreadPool* const intra_op;
  const Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();
  std::atomic<int> interrupts_seen{-1};  // of the step that waits for an element, see StepServices
  std::atomic<bool> ends_slowly{false};  // an iterator waits or calls functions when it is destroyed
  Options options;

 private:
  const std::shared_ptr<FunctionScope> functions_;
  std::optional<int64_t> buffers_free_;  // bytes; null: nobody has asked yet
  struct Bound {
    std::shared_ptr<const FuncRef> function;
    FunctionLibraryPtr library;
    std::shared_ptr<const BoundFunction> call;
    int64_t users;
  };
  mutable std::mutex mutex_;
  std::map<const FuncRef*, Bound> bound_;
  std::map<std::string, Ref<SharedState>> shared_;
  Ref<const SavedState> restored_;  // of shared objects that are not there yet
};

// Where an iterator stands: what it shares with others, and its name in messages ("Iterator::Root::Map").
struct Place {
  std::shared_ptr<IteratorContext> context;
  std::string prefix;
  // That of one of several inputs.
  Place At(int64_t index) const { return {context, StrCat(prefix, "[", index, "]")}; }
};

class Dataset;

class Iterator {
 public:
  explicit Iterator(const Place& place) : place_(place) {}
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  // The next element; false at the end, and ever after. Throws what went wrong with this element; the next call goes on
  // with the one after it.
  virtual bool Next(Element* element) = 0;
  // Passes over up to n elements; how many there were.
  virtual int64_t Skip(int64_t n);
  // Saves or restores: an iterator that was just made goes on where the one that was saved stood.
  virtual void Visit(State& state) = 0;

  const std::string& prefix() const { return place_.prefix; }
  IteratorContext& context() const { return *place_.context; }
  const Place& place() const { return place_; }

 private:
  const Place place_;
};

// Gives the element at an index, which is below the dataset's cardinality if that is known; in any order. Throws what
// went wrong with it. Used by one thread at a time, and not longer than there is the dataset.
using Accessor = std::function<Element(int64_t index)>;

// How a dataset was made: enough to make it once more, of other inputs, or to write it down as a node.
struct Recipe {
  const OpDef* op = nullptr;
  std::shared_ptr<const AttrMap> attrs;
  std::vector<Tensor> inputs;
  FunctionLibraryPtr library;  // that its functions are of; null: the session's
};

class Dataset : public VariantValue {
 public:
  // `name`: what its iterators are called in messages, "Map", "FiniteTake".
  Dataset(std::string name, ElementSpec spec, std::vector<Ref<const Dataset>> inputs = {})
      : name_(std::move(name)), spec_(std::move(spec)), inputs_(std::move(inputs)) {}
  std::string_view TypeName() const override { return "tensorflow::data::DatasetVariant"; }
  std::string DebugString() const override { return StrCat(recipe_.op ? recipe_.op->name : name_, "Op::Dataset"); }

  const std::string& name() const { return name_; }
  const ElementSpec& spec() const { return spec_; }
  const std::vector<DataType>& types() const { return spec_.types; }
  const std::vector<PartialShape>& shapes() const { return spec_.shapes; }
  const std::vector<Ref<const Dataset>>& inputs() const { return inputs_; }
  const Dataset& input() const { return *inputs_[0]; }

  // The number of elements, kInfinite or kUnknown.
  virtual int64_t Cardinality() const { return kUnknown; }
  // An iterator at the beginning; `outer` is the place of the iterator that it is an input of. A dataset without a name
  // has the place of the one around it.
  std::unique_ptr<Iterator> Begin(const Place& outer) const { return MakeIterator(Within(outer)); }
  // Elements by their places. Unimplemented if they can only be had one after the other, FailedPrecondition if nobody
  // knows how many there are.
  Accessor Access(const Place& outer) const { return MakeAccessor(Within(outer)); }
  // FailedPrecondition if elements must not be shuffled by their places, which not all allow that have an accessor.
  virtual void RequireShuffleable() const;
  virtual Options options() const;
  // Saves or restores what belongs to this dataset and its inputs rather than to one iterator.
  virtual void Visit(State& state) const;
  // Empty for datasets that no op made: windows, say.
  const Recipe& recipe() const { return recipe_; }
  void set_recipe(Recipe recipe) { recipe_ = std::move(recipe); }  // by who made it, before anybody else has it

 protected:
  virtual std::unique_ptr<Iterator> MakeIterator(const Place& place) const = 0;
  virtual Accessor MakeAccessor(const Place& place) const;
  // FailedPrecondition if the number of elements is not known, or without end.
  void RequireKnownCardinality() const;

 private:
  Place Within(const Place& outer) const {
    return {outer.context, name_.empty() ? outer.prefix : StrCat(outer.prefix, "::", name_)};
  }
  const std::string name_;
  const ElementSpec spec_;
  const std::vector<Ref<const Dataset>> inputs_;
  Recipe recipe_;
};

// An iterator over dataset `D`, which it keeps.
template <class D>
class IteratorOf : public Iterator {
 public:
  IteratorOf(const D& dataset, const Place& place) : Iterator(place) {
    dataset.AddRef();
    dataset_ = Ref<const D>(&dataset);
  }
  const D& dataset() const { return *dataset_; }

 private:
  Ref<const D> dataset_;
};

// The same with an iterator over the dataset's only input.
template <class D>
class IteratorOverInput : public IteratorOf<D> {
 public:
  IteratorOverInput(const D& dataset, const Place& place)
      : IteratorOf<D>(dataset, place), input_(dataset.input().Begin(place)) {}
  void Visit(State& state) override { state.Nested("input", *input_); }

 protected:
  // The same for one that drops its input when it needs no more of it.
  void VisitUntilDropped(State& state) {
    state.Nested("input", &input_, [this] {  // what was just begun is at its beginning
      return input_ ? std::move(input_) : this->dataset().input().Begin(this->place());
    });
  }
  std::unique_ptr<Iterator> input_;
};

// OutOfRange unless `index` is in [0, n); if n is not known, if it is negative.
void RequireIndex(int64_t index, int64_t n);

// InvalidArgument unless the element has so many components: what a node states need not be what its function gives.
void RequireComponents(const Element& element, size_t n);

// The dataset that a scalar variant holds. InvalidArgument if it holds none.
Ref<const Dataset> DatasetFrom(const Tensor& variant);
Tensor ToVariant(Ref<const Dataset> dataset);

// Products, minima and differences of cardinalities are left to each dataset; this is the one of `n` elements in parts.
inline int64_t PartsOf(int64_t n, int64_t size, bool drop_rest) {
  return n < 0 ? n : n / size + (!drop_rest && n % size != 0);
}

}  // namespace penstock::data
