// Elements joined along a new first dimension.
#include "penstock/data/batching.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/parallel_map.h"

namespace penstock::data {
namespace {

class BatchDataset final : public Dataset {
 public:
  // `rows_fail_together`: a row that fails takes the rest of its batch with it.
  BatchDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, int64_t size, bool drop_remainder,
               bool rows_fail_together)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}),
        size_(size),
        drop_remainder_(drop_remainder),
        rows_fail_together_(rows_fail_together) {}
  int64_t Cardinality() const override { return PartsOf(input().Cardinality(), size_, drop_remainder_); }
  void RequireShuffleable() const override {
    if (!drop_remainder_) {
      throw FailedPrecondition(recipe().op->name, " does not support global shuffling with `drop_remainder=False`.");
    }
    input().RequireShuffleable();
  }

 private:
  class Batches final : public IteratorOverInput<BatchDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      if (ended_) return false;
      BatchBuilder batch(dataset().size_, dataset().rows_fail_together_);
      Element row;
      int64_t rows = 0;
      Status mismatch;  // of rows that do not fit together, which is told when all are there
      for (; rows < dataset().size_; ++rows) {
        try {
          ended_ = !input_->Next(&row);
        } catch (...) {
          if (dataset().rows_fail_together_) PassOver(dataset().size_ - rows - 1);
          throw;
        }
        if (ended_) break;
        if (!mismatch.ok()) continue;
        try {
          batch.Add(std::move(row));
        } catch (const Error& error) {
          mismatch = error.status();
        }
      }
      const bool dropped = dataset().drop_remainder_ && rows < dataset().size_;
      if (!dropped || dataset().rows_fail_together_) ThrowIfError(mismatch);
      if (rows == 0 || dropped) return false;
      *element = batch.Finish();
      return true;
    }
    int64_t Skip(int64_t n) override {
      const int64_t size = dataset().size_;
      const int64_t most = n > INT64_MAX / size ? INT64_MAX : n * size;
      const int64_t skipped = input_->Skip(most);
      ended_ = ended_ || skipped < most;
      return PartsOf(skipped, size, dataset().drop_remainder_);
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
    }

   private:
    void PassOver(int64_t rows) {
      Element row;
      for (; rows > 0 && !ended_; --rows) {
        try {
          ended_ = !input_->Next(&row);
        } catch (const Error& error) {
          context().ThrowIfStopped();  // what else fails in this batch does not count
        }
      }
    }
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Batches>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [input = input().Access(place), n = input().Cardinality(), this](int64_t index) {
      BatchBuilder batch(size_, rows_fail_together_);
      const int64_t begin = index * size_, end = std::min(n, begin + size_);
      for (int64_t row = begin; row < end; ++row) batch.Add(input(row));
      return batch.Finish();
    };
  }
  const int64_t size_;
  const bool drop_remainder_, rows_fail_together_;
};

// The rows of a batch, one behind the other: what threads join. In a pipeline it is part of the parallel batch.
class RowsDataset final : public Dataset {
 public:
  RowsDataset(ElementSpec spec, Ref<const Dataset> input, int64_t size, bool drop_remainder)
      : Dataset("", std::move(spec), {std::move(input)}), size_(size), drop_remainder_(drop_remainder) {}
  int64_t Cardinality() const override { return PartsOf(input().Cardinality(), size_, drop_remainder_); }
  void RequireShuffleable() const override {
    if (!drop_remainder_) {
      throw FailedPrecondition("ParallelBatchDataset does not support global shuffling with `drop_remainder=False`.");
    }
    input().RequireShuffleable();
  }

 private:
  class Rows final : public IteratorOverInput<RowsDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      Element row;
      element->clear();
      int64_t rows = 0;
      for (; !ended_ && rows < dataset().size_; ++rows) {
        ended_ = !input_->Next(&row);
        if (ended_) break;
        RequireComponents(row, dataset().types().size());
        element->insert(element->end(), std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
      }
      return rows > 0 && (!dataset().drop_remainder_ || rows == dataset().size_);
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
    }

   private:
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Rows>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [input = input().Access(place), n = input().Cardinality(), this](int64_t index) {
      Element rows;
      for (int64_t row = index * size_; row < std::min(n, (index + 1) * size_); ++row) {
        Element element = input(row);
        rows.insert(rows.end(), std::make_move_iterator(element.begin()), std::make_move_iterator(element.end()));
      }
      return rows;
    };
  }
  const int64_t size_;
  const bool drop_remainder_;
};

Ref<Dataset> MakeBatch(DatasetArgs& args) {
  const int64_t size = args.Int("batch_size");
  args.Require(size > 0, "Batch size must be greater than zero.");
  const bool drop_remainder = args.Has("drop_remainder") && args.Bool("drop_remainder");
  return MakeRef<BatchDataset>(args.Versioned("Batch"), args.spec(), args.dataset(), size, drop_remainder, false);
}

Ref<Dataset> MakeParallelBatch(DatasetArgs& args) {
  const int64_t size = args.Int("batch_size"), parallelism = args.Int("num_parallel_calls");
  args.Require(size > 0, "Batch size must be greater than zero.");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  const auto join = [size, components = args.spec().types.size()](Element* rows) {
    BatchBuilder batch(size);
    Element row;
    for (size_t i = 0; i < rows->size(); i += components) {
      row.assign(std::make_move_iterator(rows->begin() + i), std::make_move_iterator(rows->begin() + i + components));
      batch.Add(std::move(row));
    }
    *rows = batch.Finish();
  };
  return MakeParallel(
      "ParallelBatch", args.spec(),
      MakeRef<RowsDataset>(args.spec(), args.dataset(), size, args.Bool("drop_remainder")),
      [join](const Place&) { return Work{join, false}; }, parallelism, args.Deterministic());
}

Ref<Dataset> MakeMapAndBatch(DatasetArgs& args) {
  const int64_t size = args.Int("batch_size"), parallelism = args.Int("num_parallel_calls");
  args.Require(size > 0, "batch_size must be greater than zero.");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  ElementSpec rows = args.spec();
  for (PartialShape& shape : rows.shapes) shape = WithoutFirstDim(shape);
  const Ref<const Dataset> mapped =
      MakeParallelMap("", std::move(rows), args.dataset(), args.Function("f", "other_arguments"), parallelism, true,
                      args.attr<bool>("preserve_cardinality"));
  return MakeRef<BatchDataset>("MapAndBatch", args.spec(), mapped, size, args.Bool("drop_remainder"), true);
}

}  // namespace

void RegisterBatchDatasets(KernelRegistry& kernels) {
  for (const char* op : {"BatchDataset", "BatchDatasetV2"}) AddDataset<MakeBatch>(kernels, op);
  AddDataset<MakeParallelBatch>(kernels, "ParallelBatchDataset");
  AddDatasetAndTwin<MakeMapAndBatch>(kernels, "MapAndBatchDataset");
}

}  // namespace penstock::data
