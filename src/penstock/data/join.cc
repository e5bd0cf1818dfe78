// Several datasets as one: one after the other, side by side, or as another dataset directs.
#include <algorithm>

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

// What elements of both can be said to be: shapes as far as they agree. InvalidArgument if the types differ.
ElementSpec Common(const Dataset& a, const Dataset& b) {
  ElementSpec{a.types(), {}}.RequireCompatible(b.spec());
  ElementSpec common{a.types(), {}};
  for (size_t i = 0; i < a.shapes().size(); ++i) {
    const PartialShape &x = a.shapes()[i], &y = b.shapes()[i];
    PartialShape most;
    if (x.known_rank() && y.rank() == x.rank()) {
      most = x;
      for (int d = 0; d < x.rank(); ++d) most.set_dim(d, x.dim(d) == y.dim(d) ? x.dim(d) : -1);
    }
    common.shapes.push_back(std::move(most));
  }
  return common;
}

class ConcatenateDataset final : public Dataset {
 public:
  ConcatenateDataset(Ref<const Dataset> first, Ref<const Dataset> second)
      : Dataset("Concatenate", Common(*first, *second), {first, second}) {}
  int64_t Cardinality() const override {
    const int64_t a = inputs()[0]->Cardinality(), b = inputs()[1]->Cardinality();
    if (a == kInfinite || b == kInfinite) return kInfinite;
    return a < 0 || b < 0 ? kUnknown : a + b;
  }
  void RequireShuffleable() const override {
    for (const auto& input : inputs()) input->RequireShuffleable();
  }

 private:
  class Both final : public IteratorOf<ConcatenateDataset> {
   public:
    Both(const ConcatenateDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), input_(dataset.inputs()[0]->Begin(place.At(0))) {}
    bool Next(Element* element) override {
      for (; at_ < 2; Advance()) {
        if (input_->Next(element)) return true;
      }
      return false;
    }
    void Visit(State& state) override {
      state.Position("at", &at_, 2);
      state.Nested("input", &input_, [&] { return BeginInput(); });
      State::Require((at_ == 2) == (input_ == nullptr));
    }

   private:
    std::unique_ptr<Iterator> BeginInput() const {
      return at_ == 2 ? nullptr : dataset().inputs()[at_]->Begin(place().At(at_));
    }
    void Advance() {
      ++at_;
      input_ = BeginInput();
    }
    int64_t at_ = 0;
    std::unique_ptr<Iterator> input_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Both>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [first = inputs()[0]->Access(place.At(0)), second = inputs()[1]->Access(place.At(1)),
            n = inputs()[0]->Cardinality()](int64_t index) { return index < n ? first(index) : second(index - n); };
  }
};

ElementSpec SideBySide(const std::vector<Ref<const Dataset>>& inputs) {
  ElementSpec all;
  for (const auto& input : inputs) {
    all.types.insert(all.types.end(), input->types().begin(), input->types().end());
    all.shapes.insert(all.shapes.end(), input->shapes().begin(), input->shapes().end());
  }
  return all;
}

class ZipDataset final : public Dataset {
 public:
  explicit ZipDataset(const std::vector<Ref<const Dataset>>& inputs) : Dataset("Zip", SideBySide(inputs), inputs) {}
  int64_t Cardinality() const override {
    int64_t least = kInfinite;
    for (const auto& input : inputs()) {
      const int64_t n = input->Cardinality();
      if (n == kUnknown) return kUnknown;
      if (n != kInfinite) least = least == kInfinite ? n : std::min(least, n);
    }
    return least;
  }
  void RequireShuffleable() const override {
    for (const auto& input : inputs()) input->RequireShuffleable();
  }

 private:
  class Tuples final : public IteratorOf<ZipDataset> {
   public:
    Tuples(const ZipDataset& dataset, const Place& place) : IteratorOf(dataset, place) {
      for (const auto& input : dataset.inputs()) {
        inputs_.push_back(input->Begin(place.At(static_cast<int64_t>(inputs_.size()))));
      }
    }
    // All inputs advance, also if one fails or has ended: so caches among them learn that they are complete.
    bool Next(Element* element) override {
      if (inputs_.empty()) return false;
      element->clear();
      Status status;
      bool ended = false;
      for (const auto& input : inputs_) {
        Element part;
        try {
          ended = !input->Next(&part) || ended;
        } catch (...) {
          if (status.ok() && !ended) status = CurrentStatus();
        }
        element->insert(element->end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
      }
      ThrowIfError(status);
      if (ended) inputs_.clear();  // no more is needed of them
      return !ended;
    }
    void Visit(State& state) override {
      bool ended = inputs_.empty();
      state.Value("ended", &ended);
      if (ended) inputs_.clear();
      for (size_t i = 0; i < inputs_.size(); ++i) state.Nested(StrCat("input_", i), *inputs_[i]);
    }

   private:
    std::vector<std::unique_ptr<Iterator>> inputs_;  // none when the shortest has ended
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Tuples>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    std::vector<Accessor> parts;
    for (const auto& input : inputs()) parts.push_back(input->Access(place.At(static_cast<int64_t>(parts.size()))));
    return [parts = std::move(parts)](int64_t index) {
      Element all;
      for (const Accessor& part : parts) {
        Element its = part(index);
        all.insert(all.end(), std::make_move_iterator(its.begin()), std::make_move_iterator(its.end()));
      }
      return all;
    };
  }
};

// The elements of a selector, int64 scalars, say from which of the others the next one comes.
class DirectedInterleaveDataset final : public Dataset {
 public:
  DirectedInterleaveDataset(ElementSpec spec, std::vector<Ref<const Dataset>> selector_and_data, bool stops_on_empty)
      : Dataset("DirectedInterleave", std::move(spec), std::move(selector_and_data)), stops_on_empty_(stops_on_empty) {}
  int64_t Cardinality() const override {
    // Without end if the selector is, and all of the others: of one it is not known whether it is asked before one that
    // ends the whole.
    const auto is_infinite = [](const Ref<const Dataset>& input) { return input->Cardinality() == kInfinite; };
    const auto data = inputs().begin() + 1;
    const bool infinite = stops_on_empty_ ? std::all_of(data, inputs().end(), is_infinite)
                                          : std::any_of(data, inputs().end(), is_infinite);
    return is_infinite(inputs()[0]) && infinite ? kInfinite : kUnknown;
  }

 private:
  class Directed final : public IteratorOf<DirectedInterleaveDataset> {
   public:
    Directed(const DirectedInterleaveDataset& dataset, const Place& place) : IteratorOf(dataset, place) {
      for (const auto& input : dataset.inputs()) {
        inputs_.push_back(input->Begin(place.At(static_cast<int64_t>(inputs_.size()))));
      }
    }
    bool Next(Element* element) override {
      while (inputs_[0]) {
        Element selected;
        if (!inputs_[0]->Next(&selected)) return End();
        const int64_t choice =
            selected.size() == 1 && selected[0].dtype() == DT_INT64 && selected[0].num_elements() == 1
                ? *selected[0].data<int64_t>()
                : -1;
        if (choice < 0 || choice + 1 >= static_cast<int64_t>(inputs_.size())) {
          throw InvalidArgument("Selector index out of range: ", choice, " >= ", inputs_.size() - 1);
        }
        std::unique_ptr<Iterator>& chosen = inputs_[choice + 1];
        if (!chosen) continue;
        if (chosen->Next(element)) return true;
        chosen.reset();
        if (!AnyLeft() || dataset().stops_on_empty_) return End();
      }
      return false;
    }
    void Visit(State& state) override {
      for (size_t i = 0; i < inputs_.size(); ++i) {
        state.Nested(StrCat("input_", i), &inputs_[i],
                     [&] { return dataset().inputs()[i]->Begin(place().At(static_cast<int64_t>(i))); });
      }
      if (!AnyLeft()) End();
    }

   private:
    bool AnyLeft() const {
      return std::any_of(inputs_.begin() + 1, inputs_.end(), [](const auto& input) { return input != nullptr; });
    }
    bool End() {
      for (auto& input : inputs_) input.reset();
      return false;
    }
    std::vector<std::unique_ptr<Iterator>> inputs_;  // the selector first; null where one has ended
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Directed>(*this, place);
  }
  const bool stops_on_empty_;
};

Ref<Dataset> MakeConcatenate(DatasetArgs& args) {
  return MakeRef<ConcatenateDataset>(args.dataset(), args.dataset("another_dataset"));
}

Ref<Dataset> MakeZip(DatasetArgs& args) { return MakeRef<ZipDataset>(args.datasets("input_datasets")); }

Ref<Dataset> MakeDirectedInterleave(DatasetArgs& args) {
  std::vector<Ref<const Dataset>> all = args.datasets("data_input_datasets");
  for (const auto& input : all) ElementSpec{all[0]->types(), {}}.RequireCompatible(input->spec());
  const Ref<const Dataset> selector = args.dataset("selector_input_dataset");
  args.Require(selector->types() == std::vector<DataType>{DT_INT64},
               "The selector input must be a dataset of scalar int64 elements.");
  all.insert(all.begin(), selector);
  return MakeRef<DirectedInterleaveDataset>(args.spec(), std::move(all), args.attr<bool>("stop_on_empty_dataset"));
}

}  // namespace

void RegisterJoinDatasets(KernelRegistry& kernels) {
  AddDataset<MakeConcatenate>(kernels, "ConcatenateDataset");
  AddDataset<MakeZip>(kernels, "ZipDataset");
  AddDatasetAndTwin<MakeDirectedInterleave>(kernels, "DirectedInterleaveDataset");
}

}  // namespace penstock::data
