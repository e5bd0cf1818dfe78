// Elements for which a predicate holds, or up to the first for which it does not; a state carried along.
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/fused_function.h"
#include "penstock/data/parallel_map.h"
#include "penstock/data/stats.h"

namespace penstock::data {
namespace {

class FilterDataset final : public Dataset {
 public:
  FilterDataset(Ref<const Dataset> input, CapturedFunction predicate)
      : Dataset("Filter", input->spec(), {input}), predicate_(std::move(predicate)) {}

 private:
  class Filtered final : public IteratorOverInput<FilterDataset> {
   public:
    Filtered(const FilterDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), predicate_(dataset.predicate_, place), stats_(place, "Filter") {}
    bool Next(Element* element) override {
      while (input_->Next(element)) {
        const bool passes = predicate_.Predicate(*element);
        if (stats_) Count(passes);
        if (passes) return true;
        context().ThrowIfStopped();
      }
      return false;
    }

   private:
    void Count(bool passes) {
      int64_t& number = passes ? passed_ : dropped_;
      ++number;
      stats_.Scalar(passes ? "filtered_elements" : "dropped_elements", static_cast<double>(number), passed_ + dropped_);
    }
    const BoundCall predicate_;
    const IteratorStats stats_;
    int64_t passed_ = 0, dropped_ = 0;  // as far as they are counted
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Filtered>(*this, place);
  }
  const CapturedFunction predicate_;
};

class FilterByLastComponentDataset final : public Dataset {
 public:
  FilterByLastComponentDataset(std::string name, ElementSpec spec, Ref<const Dataset> input)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}) {}

 private:
  class Filtered final : public IteratorOverInput<FilterByLastComponentDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      while (input_->Next(element)) {
        RequireComponents(*element, dataset().types().size() + 1);
        const Tensor last = std::move(element->back());
        element->pop_back();
        if (last.dtype() != DT_BOOL || last.num_elements() != 1) {
          throw InvalidArgument("Last component must be a bool scalar.");
        }
        if (*last.data<bool>()) return true;
      }
      return false;
    }
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Filtered>(*this, place);
  }
};

class TakeWhileDataset final : public Dataset {
 public:
  TakeWhileDataset(Ref<const Dataset> input, CapturedFunction predicate)
      : Dataset("TakeWhile", input->spec(), {input}), predicate_(std::move(predicate)) {}

 private:
  class Taken final : public IteratorOverInput<TakeWhileDataset> {
   public:
    Taken(const TakeWhileDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), predicate_(dataset.predicate_, place) {}
    bool Next(Element* element) override {
      if (!input_ || !input_->Next(element)) return false;
      if (predicate_.Predicate(*element)) return true;
      input_.reset();
      return false;
    }
    void Visit(State& state) override { VisitUntilDropped(state); }

   private:
    const BoundCall predicate_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Taken>(*this, place);
  }
  const CapturedFunction predicate_;
};

class ScanDataset final : public Dataset {
 public:
  ScanDataset(ElementSpec spec, Ref<const Dataset> input, Element initial, CapturedFunction function, bool preserves)
      : Dataset("Scan", std::move(spec), {std::move(input)}),
        initial_(std::move(initial)),
        function_(std::move(function)),
        preserves_cardinality_(preserves) {}
  int64_t Cardinality() const override { return preserves_cardinality_ ? input().Cardinality() : kUnknown; }

 private:
  class Scanned final : public IteratorOverInput<ScanDataset> {
   public:
    Scanned(const ScanDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), call_(dataset.function_, place), carried_(dataset.initial_) {}
    bool Next(Element* element) override {
      if (!input_->Next(element)) return false;
      Element made;
      try {
        call_({carried_, *element}, &made);
      } catch (const Error& error) {
        if (!IsEnd(error)) throw;
        if (!dataset().preserves_cardinality_) return false;
        throw InvalidArgument("Function invocation produced OutOfRangeError: ", error.status().message());
      }
      const size_t n = carried_.size(), expected = n + dataset().types().size();
      if (made.size() != expected) {
        throw InvalidArgument("`scan_func` must return a tuple with exactly ", expected,
                              " components, but it returned ", made.size());
      }
      for (size_t i = 0; i < n; ++i) {
        if (made[i].dtype() != carried_[i].dtype()) {
          throw InvalidArgument("Got wrong type for scan_func return value ", i, " (expected ", carried_[i].dtype(),
                                ", got ", made[i].dtype(), ").");
        }
      }
      carried_.assign(std::make_move_iterator(made.begin()), std::make_move_iterator(made.begin() + n));
      element->assign(std::make_move_iterator(made.begin() + n), std::make_move_iterator(made.end()));
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("state", &carried_);
    }

   private:
    const BoundCall call_;
    Element carried_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Scanned>(*this, place);
  }
  const Element initial_;
  const CapturedFunction function_;
  const bool preserves_cardinality_;
};

Ref<Dataset> MakeFilter(DatasetArgs& args) {
  return MakeRef<FilterDataset>(args.dataset(), args.Function("predicate", "other_arguments"));
}

Ref<Dataset> MakeFilterByLast(DatasetArgs& args) {
  ElementSpec spec = args.spec();
  args.Require(args.dataset()->types().size() == spec.types.size() + 1,
               "The input must have one more component than the output");
  return MakeRef<FilterByLastComponentDataset>("FilterByLastComponent", std::move(spec), args.dataset());
}

// A parallel map gives each element with the predicate's answer, by which is filtered.
Ref<Dataset> MakeParallelFilter(DatasetArgs& args) {
  const int64_t parallelism = args.Int("num_parallel_calls");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  const Ref<const Dataset> input = args.dataset();
  FunctionBuilder builder(args.functions().library());
  std::vector<Endpoint> results = builder.Arguments(input->spec());
  const DatasetFunction predicate{args.kernel().node().attr<FuncRef>("predicate"), args.tensors("other_arguments")};
  const std::vector<Endpoint> answer = builder.Call(predicate, results);
  args.Require(answer.size() == 1, "`predicate` must return a scalar bool tensor.");
  results.push_back(answer[0]);
  const FuncRef function = builder.Finish("element_and_predicate", std::move(results));
  ElementSpec with_answer = input->spec();
  with_answer.types.push_back(DT_BOOL);
  with_answer.shapes.push_back(PartialShape(Shape()));
  CapturedFunction call{std::make_shared<const FuncRef>(function), builder.captured(), args.TransformationName(),
                        builder.library()};
  const Ref<const Dataset> mapped = MakeParallelMap("ParallelFilter", std::move(with_answer), input, std::move(call),
                                                    parallelism, args.Deterministic(), false);
  return MakeRef<FilterByLastComponentDataset>("", input->spec(), mapped);
}

Ref<Dataset> MakeTakeWhile(DatasetArgs& args) {
  return MakeRef<TakeWhileDataset>(args.dataset(), args.Function("predicate", "other_arguments"));
}

Ref<Dataset> MakeScan(DatasetArgs& args) {
  return MakeRef<ScanDataset>(args.spec(), args.dataset(), args.tensors("initial_state"),
                              args.Function("f", "other_arguments"), args.attr<bool>("preserve_cardinality"));
}

}  // namespace

void RegisterFilterDatasets(KernelRegistry& kernels) {
  AddDataset<MakeFilter>(kernels, "FilterDataset");
  AddDataset<MakeParallelFilter>(kernels, "ParallelFilterDataset");
  AddDataset<MakeFilterByLast>(kernels, "FilterByLastComponentDataset");
  AddDatasetAndTwin<MakeTakeWhile>(kernels, "TakeWhileDataset");
  AddDatasetAndTwin<MakeScan>(kernels, "ScanDataset");
}

}  // namespace penstock::data
