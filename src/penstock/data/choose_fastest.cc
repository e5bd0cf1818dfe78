// The fastest of several equal datasets.
#include <chrono>
#include <deque>

#include "penstock/data/background.h"
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

class ChooseFastestDataset final : public Dataset {
 public:
  ChooseFastestDataset(std::vector<Ref<const Dataset>> inputs, int64_t experiments)
      : Dataset("ChooseFastest", inputs[0]->spec(), inputs), experiments_(experiments) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  // The first elements are taken from all inputs, and given from the one that made them in the least time.
  class Chosen final : public IteratorOf<ChooseFastestDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (chosen_ < 0) Try();
      if (made_.empty()) return input_->Next(element);
      Made made = std::move(made_.front());
      if (made.end) return false;
      made_.pop_front();
      ThrowIfError(made.status);
      *element = std::move(made.element);
      return true;
    }
    void Visit(State& state) override {
      state.Value("chosen", &chosen_);
      State::Require(chosen_ >= -1 && chosen_ < static_cast<int64_t>(dataset().inputs().size()));
      const int64_t n = state.Size("size", made_.size());
      made_.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) data::Visit(state, StrCat("made_", i), &made_[i]);
      state.Nested("input", &input_, [&] { return chosen_ < 0 ? nullptr : BeginInput(chosen_); });
      State::Require((chosen_ < 0) == (input_ == nullptr));
    }

   private:
    std::unique_ptr<Iterator> BeginInput(int64_t i) const { return dataset().inputs()[i]->Begin(place().At(i)); }
    void Try() {
      auto best = std::chrono::steady_clock::duration::max();
      for (size_t i = 0; i < dataset().inputs().size(); ++i) {
        std::unique_ptr<Iterator> input = BeginInput(static_cast<int64_t>(i));
        std::deque<Made> made;
        const auto start = std::chrono::steady_clock::now();
        while (static_cast<int64_t>(made.size()) < dataset().experiments_ && (made.empty() || !made.back().end)) {
          made.push_back(Catch([&](Element* element) { return input->Next(element); }));
          context().ThrowIfStopped();
        }
        const auto time = std::chrono::steady_clock::now() - start;
        if (time >= best) continue;
        best = time;
        chosen_ = static_cast<int64_t>(i);
        input_ = std::move(input);
        made_ = std::move(made);
      }
    }
    int64_t chosen_ = -1;
    std::deque<Made> made_;
    std::unique_ptr<Iterator> input_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Chosen>(*this, place);
  }
  const int64_t experiments_;
};

Ref<Dataset> MakeChooseFastest(DatasetArgs& args) {
  std::vector<Ref<const Dataset>> inputs = args.datasets("input_datasets");
  for (size_t i = 1; i < inputs.size(); ++i) {
    args.Require(inputs[i]->types() == inputs[0]->types(),
                 "All inputs to ChooseFastestDataset must have the same output types. Input ", i, " has ",
                 StrJoin(inputs[i]->types(), ", "), " output types. Expected: ", StrJoin(inputs[0]->types(), ", "),
                 ".");
    const int64_t n = inputs[i]->Cardinality(), first = inputs[0]->Cardinality();
    args.Require(n == first || n == kUnknown || first == kUnknown,
                 "All inputs to ChooseFastestDataset must have compatible cardinalities. Input ", i, " has ", n,
                 " elements. Expected: ", first, ".");
    for (size_t c = 0; c < inputs[0]->shapes().size(); ++c) {
      args.Require(inputs[i]->shapes()[c].IsCompatibleWith(inputs[0]->shapes()[c]),
                   "All inputs to ChooseFastestDataset must have compatible output shapes. Component ", c, " of input ",
                   i, " has shape ", inputs[i]->shapes()[c],
                   ". Expected to be compatible with shape: ", inputs[0]->shapes()[c], ".");
    }
  }
  const auto experiments = args.attr<int64_t>("num_experiments");
  args.Require(experiments > 0, "num_experiments must be positive, not ", experiments);
  return MakeRef<ChooseFastestDataset>(std::move(inputs), experiments);
}

}  // namespace

void RegisterChooseFastestDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeChooseFastest>(kernels, "ChooseFastestDataset");
}

}  // namespace penstock::data
