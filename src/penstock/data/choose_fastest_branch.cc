// What the fastest of several functions makes of the input, all of which make the same elements.
#include <chrono>
#include <deque>

#include "penstock/data/dataset_kernel.h"
#include "penstock/data/window.h"

namespace penstock::data {
namespace {

using Clock = std::chrono::steady_clock;

// The rest of an iterator's elements, as a dataset that a branch can read once.
class RestDataset final : public Dataset {
 public:
  RestDataset(ElementSpec spec, std::shared_ptr<Iterator> rest)
      : Dataset("Wrapper", std::move(spec)), rest_(std::move(rest)) {}

 private:
  class Rest final : public IteratorOf<RestDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override { return dataset().rest_->Next(element); }
    void Visit(State&) override {}  // whoever has the iterator saves it
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    if (begun_.exchange(true)) {
      throw InvalidArgument(
          "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the branches to ",
          "ChooseFastestDataset do not expect the input to repeat.");
    }
    return std::make_unique<Rest>(*this, place);
  }
  const std::shared_ptr<Iterator> rest_;
  mutable std::atomic<bool> begun_{false};
};

class ChooseFastestBranchDataset final : public Dataset {
 public:
  // Each branch is tried with `trial` elements of the input; `ratio` of them make one element.
  ChooseFastestBranchDataset(ElementSpec spec, Ref<const Dataset> input, std::vector<CapturedFunction> branches,
                             int64_t trial, double ratio)
      : Dataset("ChooseFastestBranch", std::move(spec), {std::move(input)}),
        branches_(std::move(branches)),
        trial_(trial),
        ratio_(ratio) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    return n < 0 ? n : static_cast<int64_t>(static_cast<double>(n) / ratio_);
  }

 private:
  class Chosen final : public IteratorOf<ChooseFastestBranchDataset> {
   public:
    Chosen(const ChooseFastestBranchDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), input_(dataset.input().Begin(place)) {
      for (const CapturedFunction& branch : dataset.branches_) calls_.emplace_back(branch, place);
    }
    bool Next(Element* element) override {
      for (; !ended_; Advance()) {
        if (!branch_) branch_ = BeginBranch();
        const auto start = Clock::now();
        const bool found = branch_->Next(element);
        nanos_ += std::chrono::nanoseconds(Clock::now() - start).count();
        if (found) return true;
        context().ThrowIfStopped();
      }
      return false;
    }
    void Visit(State& state) override {
      state.Nested("input", *input_);
      const auto branches = static_cast<int64_t>(calls_.size());
      state.Position("tried", &tried_, branches);
      state.Position("best", &best_, branches - 1);
      state.Value("best_nanos", &best_nanos_);
      state.Value("nanos", &nanos_);
      state.Value("ended", &ended_);
      state.Nested("branch", &branch_, [&] { return BeginBranch(); });
    }

   private:
    bool Decided() const { return tried_ == static_cast<int64_t>(calls_.size()); }
    // The branch that is tried with a few elements, or the best one with all that are left.
    std::unique_ptr<Iterator> BeginBranch() {
      Ref<Dataset> rest = MakeRef<RestDataset>(dataset().input().spec(), input_);
      if (!Decided()) rest = MakeTake(rest, dataset().trial_);
      Element made;
      calls_[static_cast<size_t>(Decided() ? best_ : tried_)](Element{ToVariant(rest)}, &made);
      RequireComponents(made, 1);
      return DatasetFrom(made[0])->Begin(place().At(Decided() ? best_ : tried_));
    }
    void Advance() {
      branch_.reset();
      if (Decided()) {
        ended_ = true;
        return;
      }
      if (tried_ == 0 || nanos_ < best_nanos_) {
        best_ = tried_;
        best_nanos_ = nanos_;
      }
      nanos_ = 0;
      ++tried_;
    }

    std::deque<BoundCall> calls_;
    const std::shared_ptr<Iterator> input_;
    int64_t tried_ = 0, best_ = 0, best_nanos_ = 0, nanos_ = 0;
    bool ended_ = false;
    std::unique_ptr<Iterator> branch_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Chosen>(*this, place);
  }
  const std::vector<CapturedFunction> branches_;
  const int64_t trial_;
  const double ratio_;
};

Ref<Dataset> MakeChooseFastestBranch(DatasetArgs& args) {
  const int64_t numerator = args.Int("ratio_numerator"), denominator = args.Int("ratio_denominator");
  const auto per_branch = args.attr<int64_t>("num_elements_per_branch");
  args.Require(numerator > 0, "`ratio_numerator` must be greater than zero.");
  args.Require(denominator > 0, "`ratio_denominator` must be greater than zero.");
  args.Require(per_branch > 0 && per_branch % denominator == 0,
               "`num_elements_per_branch` must be divisible by `ratio_denominator`.");
  args.Require(per_branch / denominator <= INT64_MAX / numerator, "`ratio_numerator` is too large: ", numerator);
  const auto functions = args.attr<std::vector<FuncRef>>("branches");
  const auto lengths = args.attr<std::vector<int64_t>>("other_arguments_lengths");
  args.Require(functions.size() == lengths.size(), "branches and other_arguments_lengths must have the same length.");
  const std::vector<Tensor> captured = args.tensors("other_arguments");
  std::vector<CapturedFunction> branches;
  auto at = captured.begin();
  for (size_t i = 0; i < functions.size(); ++i) {
    args.Require(lengths[i] >= 0 && lengths[i] <= captured.end() - at,
                 "other_arguments_lengths must sum up to the number of other_arguments");
    branches.push_back({std::make_shared<const FuncRef>(functions[i]),
                        {at, at + lengths[i]},
                        args.TransformationName(),
                        args.functions().own_library()});
    at += lengths[i];
  }
  return MakeRef<ChooseFastestBranchDataset>(args.spec(), args.dataset(), std::move(branches),
                                             per_branch / denominator * numerator,
                                             static_cast<double>(numerator) / static_cast<double>(denominator));
}

}  // namespace

void RegisterChooseFastestBranchDatasets(KernelRegistry& kernels) {
  AddDataset<MakeChooseFastestBranch>(kernels, "ChooseFastestBranchDataset");
}

}  // namespace penstock::data
