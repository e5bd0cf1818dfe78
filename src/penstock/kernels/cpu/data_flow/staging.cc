// Staging areas: tuples put in by one part of a graph and taken out by another, in order or by key.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/wait_list.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

using Tuple = std::vector<Tensor>;

int64_t BytesOf(const Tensor& t) {
  int64_t bytes = static_cast<int64_t>(t.bytes());
  if (t.dtype() == DT_STRING) {
    for (const TString& s : t.flat<TString>()) bytes += static_cast<int64_t>(s.size());
  }
  return bytes;
}

struct Limits {
  int64_t capacity, memory;
  explicit Limits(const NodeView& node)
      : capacity(node.attr<int64_t>("capacity")), memory(node.attr<int64_t>("memory_limit")) {}
  bool Allow(int64_t elements, int64_t bytes_there, int64_t bytes) const {
    return (capacity <= 0 || elements < capacity) && (memory <= 0 || bytes_there + bytes <= memory);
  }
  void CheckSize(int64_t bytes) const {
    if (memory > 0 && bytes > memory) {
      throw ResourceExhausted("Attempted to insert tensors with combined size of '", bytes,
                              "' bytes into Staging Area with a memory limit of '", memory, "'.");
    }
  }
};

class StagingArea : public Resource {
 public:
  explicit StagingArea(Limits limits) : limits_(limits), waiting_(false) {}
  std::string DebugString() const override { return "staging area"; }
  void Put(Tuple tuple, const Ref<CancellationManager>& cancellation, WaitList::Done done) {
    int64_t bytes = 0;
    for (const Tensor& t : tuple) bytes += BytesOf(t);
    limits_.CheckSize(bytes);
    auto held = std::make_shared<Tuple>(std::move(tuple));
    waiting_.Add(
        ShareRef(this), cancellation, "Stage operation",
        [this, bytes, held] {
          if (!limits_.Allow(static_cast<int64_t>(elements_.size()), bytes_, bytes)) return false;
          bytes_ += bytes;
          elements_.emplace_back(bytes, std::move(*held));
          return true;
        },
        std::move(done));
  }
  // The element at `index`; `take`: the first one, which leaves.
  void Get(int64_t index, bool take, Tuple* result, const Ref<CancellationManager>& cancellation, WaitList::Done done) {
    waiting_.Add(
        ShareRef(this), cancellation, take ? "Unstage operation" : "StagePeek operation",
        [this, index, take, result] {
          if (index >= static_cast<int64_t>(elements_.size())) return false;
          *result = elements_[index].second;
          if (take) {
            bytes_ -= elements_.front().first;
            elements_.pop_front();
          }
          return true;
        },
        std::move(done));
  }
  int64_t Size() {
    std::lock_guard lock(waiting_.mutex());
    return static_cast<int64_t>(elements_.size());
  }
  void Clear() {
    {
      std::lock_guard lock(waiting_.mutex());
      elements_.clear();
      bytes_ = 0;
    }
    waiting_.Flush();
  }

 private:
  const Limits limits_;
  WaitList waiting_;
  std::deque<std::pair<int64_t, Tuple>> elements_;
  int64_t bytes_ = 0;
};

// Tuples by key; their components may come and go one by one.
class StagingMap : public Resource {
 public:
  using Parts = std::vector<std::optional<Tensor>>;
  StagingMap(Limits limits, size_t components) : limits_(limits), components_(components), waiting_(false) {}
  std::string DebugString() const override { return "staging map"; }

  void Put(int64_t key, std::vector<int64_t> indices, Tuple values, const Ref<CancellationManager>& cancellation,
           WaitList::Done done) {
    if (indices.empty()) throw InvalidArgument("Indices are empty");
    if (std::adjacent_find(indices.begin(), indices.end(), std::greater_equal<>()) != indices.end()) {
      throw InvalidArgument("Indices are not strictly ordered");
    }
    if (indices.size() != values.size()) {
      throw InvalidArgument("indices/values size mismatch: ", indices.size(), " vs. ", values.size());
    }
    int64_t bytes = 0;
    for (const Tensor& t : values) bytes += BytesOf(t);
    limits_.CheckSize(bytes);
    for (const int64_t index : indices) CheckIndex(key, index);
    auto held = std::make_shared<Tuple>(std::move(values));
    waiting_.Add(
        ShareRef(this), cancellation, "MapStage operation",
        [this, key, bytes, indices = std::move(indices), held] {
          const auto found = incomplete_.find(key);
          const size_t there = found == incomplete_.end() ? 0 : CountOf(found->second);
          const bool completes = there + indices.size() == components_;
          // The capacity is that of complete tuples.
          if (!limits_.Allow(completes ? static_cast<int64_t>(complete_.size()) : 0, bytes_, bytes)) return false;
          Parts& parts =
              found == incomplete_.end() ? incomplete_.emplace(key, Parts(components_)).first->second : found->second;
          for (const int64_t index : indices) {
            if (parts[index]) {
              throw InvalidArgument("The tensor for index '", index, "' for key '", key, "' was already initialized '",
                                    components_, "'.");
            }
          }
          for (size_t i = 0; i < indices.size(); ++i) parts[indices[i]] = std::move((*held)[i]);
          bytes_ += bytes;
          if (CountOf(parts) == components_) {
            complete_.emplace(key, std::move(parts));
            incomplete_.erase(key);
          }
          return true;
        },
        std::move(done));
  }

  // Components of the tuple with this key, or of any one; `take`: they leave.
  void Get(std::optional<int64_t> key, std::vector<int64_t> indices, bool take, int64_t* found_key, Tuple* result,
           const Ref<CancellationManager>& cancellation, WaitList::Done done) {
    if (indices.empty()) throw InvalidArgument("Indices are empty");
    for (const int64_t index : indices) CheckIndex(key.value_or(0), index);
    waiting_.Add(
        ShareRef(this), cancellation, take ? "MapUnstage operation" : "MapPeek operation",
        [this, key, indices = std::move(indices), take, found_key, result] {
          const auto found = key ? complete_.find(*key) : complete_.begin();
          if (found == complete_.end()) return false;
          *found_key = found->first;
          result->clear();
          for (const int64_t index : indices) {
            if (!found->second[index]) {
              throw InvalidArgument("Tensor at index '", index, "' for key '", found->first,
                                    "' has already been removed.");
            }
            result->push_back(*found->second[index]);
          }
          if (take) {
            for (const int64_t index : indices) {
              if (found->second[index]) bytes_ -= BytesOf(*found->second[index]);
              found->second[index].reset();
            }
            if (CountOf(found->second) == 0) complete_.erase(found);
          }
          return true;
        },
        std::move(done));
  }
  int64_t Size(bool incomplete) {
    std::lock_guard lock(waiting_.mutex());
    return static_cast<int64_t>(incomplete ? incomplete_.size() : complete_.size());
  }
  void Clear() {
    {
      std::lock_guard lock(waiting_.mutex());
      complete_.clear();
      incomplete_.clear();
      bytes_ = 0;
    }
    waiting_.Flush();
  }

 private:
  void CheckIndex(int64_t key, int64_t index) const {
    if (index < 0 || index >= static_cast<int64_t>(components_)) {
      throw InvalidArgument("Index '", index, "' for key '", key, "' was out of bounds '", components_, "'.");
    }
  }
  static size_t CountOf(const Parts& parts) {
    return std::count_if(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); });
  }
  const Limits limits_;
  const size_t components_;
  WaitList waiting_;
  std::map<int64_t, Parts> complete_, incomplete_;
  int64_t bytes_ = 0;
};

// The area that the node's names stand for.
template <class Area>
class AreaOf {
 public:
  explicit AreaOf(const NodeView& node)
      : limits_(node), components_(node.attr<std::vector<DataType>>("dtypes").size()) {}
  Ref<Area> Find(KernelContext& k) const {
    const auto [container, name] = k.ResourceName();
    return k.resources().FindOrMake<Area>(container, name, [this]() -> Ref<Area> {
      if constexpr (std::is_same_v<Area, StagingMap>) {
        return MakeRef<StagingMap>(limits_, components_);
      } else {
        return MakeRef<StagingArea>(limits_);
      }
    });
  }

 private:
  const Limits limits_;
  const size_t components_;
};

// Inputs from i on. They outlive the step, so memory that is only lent to it is copied.
Tuple InputsFrom(KernelContext& k, int i) {
  Tuple tuple;
  for (; i < k.num_inputs(); ++i) tuple.push_back(k.CanTake(i) ? k.Take(i) : k.input(i).Clone());
  return tuple;
}

// Finishes a kernel with the tuple as its outputs from `first` on.
void PutOutputs(KernelContext& k, int first, const Tuple& tuple) {
  k.Require(static_cast<int>(tuple.size()) == k.num_outputs() - first, "Mismatch stage/unstage: ", tuple.size(),
            " vs. ", k.num_outputs() - first);
  for (size_t i = 0; i < tuple.size(); ++i) {
    const int to = first + static_cast<int>(i);
    k.Require(tuple[i].dtype() == k.node().output_type(to), "Mismatch stage/unstage: ", tuple[i].dtype(), " vs. ",
              k.node().output_type(to));
    k.SetOutput(to, tuple[i]);
  }
}

template <class Put>
WaitList::Done Finish(Kernel::Done done, Put put) {
  return [done = std::move(done), put = std::move(put)](Status status) {
    if (status.ok()) {
      try {
        put();
      } catch (...) {
        status = CurrentStatus();
      }
    }
    done(std::move(status));
  };
}

class Stage : public AsyncKernel {
 public:
  explicit Stage(const NodeView& node) : area_(node) {}
  void RunAsync(KernelContext& k, Done done) override {
    area_.Find(k)->Put(InputsFrom(k, 0), k.step().cancellation, std::move(done));
  }

 private:
  const AreaOf<StagingArea> area_;
};

template <bool kTake>
class Unstage : public AsyncKernel {
 public:
  explicit Unstage(const NodeView& node) : area_(node) {}
  void RunAsync(KernelContext& k, Done done) override {
    const int64_t index = kTake ? 0 : k.Int(0);
    k.Require(index >= 0, "index must not be negative, but is ", index);
    auto result = std::make_shared<Tuple>();
    Tuple* const to = result.get();
    area_.Find(k)->Get(index, kTake, to, k.step().cancellation,
                       Finish(std::move(done), [&k, result] { PutOutputs(k, 0, *result); }));
  }

 private:
  const AreaOf<StagingArea> area_;
};

template <class Area, bool kIncomplete = false>
struct AreaSize {
  AreaOf<Area> area;
  explicit AreaSize(const NodeView& node) : area(node) {}
  void operator()(KernelContext& k) const {
    const Ref<Area> found = area.Find(k);
    if constexpr (std::is_same_v<Area, StagingMap>) {
      k.SetOutput(0, Tensor(static_cast<int32_t>(found->Size(kIncomplete))));
    } else {
      k.SetOutput(0, Tensor(static_cast<int32_t>(found->Size())));
    }
  }
};

template <class Area>
struct AreaClear {
  AreaOf<Area> area;
  explicit AreaClear(const NodeView& node) : area(node) {}
  void operator()(KernelContext& k) const { area.Find(k)->Clear(); }
};

int64_t KeyOf(KernelContext& k) {
  k.Require(k.input(0).num_elements() > 0, "key must not be empty");
  k.Require(k.input(0).num_elements() == 1, "key must be an int64 scalar, got tensor with shape: ", k.shape(0));
  return k.input(0).IntAt(0);
}

class MapStage : public AsyncKernel {
 public:
  explicit MapStage(const NodeView& node) : area_(node) {}
  void RunAsync(KernelContext& k, Done done) override {
    area_.Find(k)->Put(KeyOf(k), k.Ints(1), InputsFrom(k, 2), k.step().cancellation, std::move(done));
  }

 private:
  const AreaOf<StagingMap> area_;
};

template <bool kTake, bool kAnyKey>
class MapUnstage : public AsyncKernel {
 public:
  explicit MapUnstage(const NodeView& node) : area_(node) {}
  void RunAsync(KernelContext& k, Done done) override {
    struct Result {
      int64_t key;
      Tuple tuple;
    };
    auto result = std::make_shared<Result>();
    Result* const to = result.get();
    std::optional<int64_t> key;
    if (!kAnyKey) key = KeyOf(k);
    area_.Find(k)->Get(key, k.Ints(kAnyKey ? 0 : 1), kTake, &to->key, &to->tuple, k.step().cancellation,
                       Finish(std::move(done), [&k, result] {
                         if (kAnyKey) k.SetOutput(0, Tensor(result->key));
                         PutOutputs(k, kAnyKey ? 1 : 0, result->tuple);
                       }));
  }

 private:
  const AreaOf<StagingMap> area_;
};

}  // namespace

void RegisterStagingKernels(KernelRegistry& kernels) {
  kernels.Add<Stage>("Stage");
  kernels.Add<Unstage<true>>("Unstage");
  kernels.Add<Unstage<false>>("StagePeek").HostInput(0);
  kernels.Add<AreaSize<StagingArea>>("StageSize").HostOutput(0);
  kernels.Add<AreaClear<StagingArea>>("StageClear");
  for (const char* order : {"", "Ordered"}) {
    kernels.Add<MapStage>(StrCat(order, "MapStage")).HostInput(0).HostInput(1);
    kernels.Add<MapUnstage<false, false>>(StrCat(order, "MapPeek")).HostInput(0).HostInput(1);
    kernels.Add<MapUnstage<true, false>>(StrCat(order, "MapUnstage")).HostInput(0).HostInput(1);
    kernels.Add<MapUnstage<true, true>>(StrCat(order, "MapUnstageNoKey")).HostInput(0);
    kernels.Add<AreaSize<StagingMap>>(StrCat(order, "MapSize")).HostOutput(0);
    kernels.Add<AreaSize<StagingMap, true>>(StrCat(order, "MapIncompleteSize")).HostOutput(0);
    kernels.Add<AreaClear<StagingMap>>(StrCat(order, "MapClear"));
  }
}

}  // namespace penstock
