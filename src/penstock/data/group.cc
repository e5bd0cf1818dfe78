// Elements by key: windows of those with one key reduced to datasets, or all of them reduced to one element.

#include "penstock/data/dataset_kernel.h"
#include "penstock/data/window.h"

namespace penstock::data {
namespace {

class GroupByWindowDataset final : public Dataset {
 public:
  GroupByWindowDataset(ElementSpec spec, Ref<const Dataset> input, CapturedFunction key, CapturedFunction reduce,
                       CapturedFunction window_size)
      : Dataset("GroupByWindow", std::move(spec), {std::move(input)}),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        window_size_(std::move(window_size)) {}
  int64_t Cardinality() const override { return input().Cardinality() == kInfinite ? kInfinite : kUnknown; }

 private:
  class Grouped final : public IteratorOverInput<GroupByWindowDataset> {
   public:
    Grouped(const GroupByWindowDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          key_(dataset.key_, place),
          reduce_(dataset.reduce_, place),
          window_size_(dataset.window_size_, place) {}
    bool Next(Element* element) override {
      for (;;) {
        if (current_) {
          if (current_->Next(element)) return true;
          current_.reset();
          groups_.erase(current_key_);
        }
        if (!ended_) {
          Gather();
        } else if (groups_.empty()) {
          return false;
        } else {  // the windows that did not become full
          Start(groups_.begin()->first);
        }
        context().ThrowIfStopped();
      }
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      const int64_t n = state.Size("groups", groups_.size());
      auto it = groups_.begin();
      std::map<int64_t, Group> restored;
      for (int64_t i = 0; i < n; ++i) {
        state.Inside(StrCat("group_", i), [&] {
          int64_t key = state.restores() ? 0 : it->first;
          state.Value("key", &key);
          Group& group = state.restores() ? restored[key] : it->second;
          state.Value("size", &group.size);
          state.Values("elements", &group.elements);
        });
        if (!state.restores()) ++it;
      }
      if (state.restores()) groups_ = std::move(restored);
      state.Value("current_key", &current_key_);
      state.Nested("current", &current_, [&] { return Begin(current_key_); });
    }

   private:
    struct Group {
      int64_t size = 0;  // of its windows
      std::vector<Element> elements;
    };
    // Reads until a window is full or the input ends.
    void Gather() {
      Element element;
      if (!input_->Next(&element)) {
        ended_ = true;
        return;
      }
      const int64_t key = key_.Int(element, "key_func");
      Group& group = groups_[key];
      if (group.size == 0) {
        const Tensor key_tensor(key);
        const int64_t size = window_size_.Int({&key_tensor, 1}, "window_size_func");
        if (size <= 0) {
          groups_.erase(key);
          throw InvalidArgument("Window size must be greater than zero, but got ", size, ".");
        }
        group.size = size;
      }
      group.elements.push_back(std::move(element));
      if (static_cast<int64_t>(group.elements.size()) == group.size) Start(key);
    }
    void Start(int64_t key) {
      current_key_ = key;
      try {
        current_ = Begin(key);
      } catch (...) {
        groups_.erase(key);
        throw;
      }
    }
    std::unique_ptr<Iterator> Begin(int64_t key) {
      const Tensor args[] = {Tensor(key), ToVariant(Kept(dataset().input().spec(), groups_[key].elements))};
      Element made;
      reduce_(args, &made);
      if (made.size() != 1) throw InvalidArgument("`reduce_func` must return a single scalar of dtype DT_VARIANT.");
      const Ref<const Dataset> reduced = DatasetFrom(made[0]);
      ElementSpec{dataset().types(), dataset().shapes()}.RequireCompatible(reduced->spec());
      return reduced->Begin(place().At(key));
    }
    const BoundCall key_, reduce_, window_size_;
    bool ended_ = false;
    std::map<int64_t, Group> groups_;
    int64_t current_key_ = 0;
    std::unique_ptr<Iterator> current_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Grouped>(*this, place);
  }
  const CapturedFunction key_, reduce_, window_size_;
};

class GroupByReducerDataset final : public Dataset {
 public:
  GroupByReducerDataset(ElementSpec spec, Ref<const Dataset> input, CapturedFunction key, CapturedFunction init,
                        CapturedFunction reduce, CapturedFunction finalize)
      : Dataset("GroupByReducer", std::move(spec), {std::move(input)}),
        key_(std::move(key)),
        init_(std::move(init)),
        reduce_(std::move(reduce)),
        finalize_(std::move(finalize)) {}

 private:
  class Reduced final : public IteratorOverInput<GroupByReducerDataset> {
   public:
    Reduced(const GroupByReducerDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          key_(dataset.key_, place),
          init_(dataset.init_, place),
          reduce_(dataset.reduce_, place),
          finalize_(dataset.finalize_, place) {}
    bool Next(Element* element) override {
      Element next;
      while (!ended_) {
        if (!input_->Next(&next)) {
          ended_ = true;
          break;
        }
        const int64_t key = key_.Int(next, "key_func");
        auto found = states_.find(key);
        if (found == states_.end()) {
          const Tensor key_tensor(key);
          Element initial;
          init_({&key_tensor, 1}, &initial);
          found = states_.emplace(key, std::move(initial)).first;
        }
        reduce_({found->second, next}, &found->second);
        context().ThrowIfStopped();
      }
      if (states_.empty()) return false;
      const auto first = states_.begin();
      finalize_(first->second, element);
      states_.erase(first);
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      const int64_t n = state.Size("states", states_.size());
      auto it = states_.begin();
      std::map<int64_t, Element> restored;
      for (int64_t i = 0; i < n; ++i) {
        int64_t key = state.restores() ? 0 : it->first;
        state.Value(StrCat("key_", i), &key);
        state.Value(StrCat("state_", i), state.restores() ? &restored[key] : &it->second);
        if (!state.restores()) ++it;
      }
      if (state.restores()) states_ = std::move(restored);
    }

   private:
    const BoundCall key_, init_, reduce_, finalize_;
    bool ended_ = false;
    std::map<int64_t, Element> states_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Reduced>(*this, place);
  }
  const CapturedFunction key_, init_, reduce_, finalize_;
};

Ref<Dataset> MakeGroupByWindow(DatasetArgs& args) {
  return MakeRef<GroupByWindowDataset>(args.spec(), args.dataset(),
                                       args.Function("key_func", "key_func_other_arguments"),
                                       args.Function("reduce_func", "reduce_func_other_arguments"),
                                       args.Function("window_size_func", "window_size_func_other_arguments"));
}

Ref<Dataset> MakeGroupByReducer(DatasetArgs& args) {
  return MakeRef<GroupByReducerDataset>(args.spec(), args.dataset(),
                                        args.Function("key_func", "key_func_other_arguments"),
                                        args.Function("init_func", "init_func_other_arguments"),
                                        args.Function("reduce_func", "reduce_func_other_arguments"),
                                        args.Function("finalize_func", "finalize_func_other_arguments"));
}

}  // namespace

void RegisterGroupDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeGroupByWindow>(kernels, "GroupByWindowDataset");
  AddDatasetAndTwin<MakeGroupByReducer>(kernels, "GroupByReducerDataset");
}

}  // namespace penstock::data
