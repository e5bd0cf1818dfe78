// Elements of different sizes, padded to one size or joined as a sparse tensor.

#include "penstock/data/batching.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/tensor/boxed_tensor.h"
#include "penstock/tensor/elements.h"

namespace penstock::data {
namespace {

// Copies `from` to the low corner of the part of `to` that begins at element `at` and has shape `shape`, row by row.
void CopyToCorner(const Tensor& from, const Shape& shape, Tensor* to, int64_t at) {
  const int rank = shape.rank();
  if (from.num_elements() == 0) return;
  if (rank == 0) return CopyElements(from, 0, 1, to, at);
  const int64_t row = from.dim(rank - 1), rows = from.num_elements() / row;
  std::vector<int64_t> position(static_cast<size_t>(rank), 0);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t target = 0;
    for (int d = 0; d < rank; ++d) target = target * shape[d] + position[d];
    CopyElements(from, r * row, row, to, at + target);
    for (int d = rank - 2; d >= 0; --d) {
      if (++position[d] < from.dim(d)) break;
      position[d] = 0;
    }
  }
}

void FillWith(const Tensor& value, Tensor* to) {
  if (to->num_elements() == 0) return;
  CopyElements(value, 0, 1, to, 0);
  for (int64_t filled = 1; filled < to->num_elements();) {
    const int64_t n = std::min(filled, to->num_elements() - filled);
    CopyElements(*to, 0, n, to, filled);
    filled += n;
  }
}

void RequireType(const Tensor& t, DataType type) {
  if (t.dtype() != type)
    throw InvalidArgument("A component of type ", type, " was expected, but it is of type ", t.dtype());
}

class PaddedBatchDataset final : public Dataset {
 public:
  PaddedBatchDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, int64_t size, bool drop_remainder,
                     std::vector<PartialShape> shapes, std::vector<Tensor> padding)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}),
        size_(size),
        drop_remainder_(drop_remainder),
        padded_shapes_(std::move(shapes)),
        padding_(std::move(padding)) {}
  int64_t Cardinality() const override { return PartsOf(input().Cardinality(), size_, drop_remainder_); }

 private:
  class Batches final : public IteratorOverInput<PaddedBatchDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      std::vector<Element> rows;
      Element row;
      while (!ended_ && static_cast<int64_t>(rows.size()) < dataset().size_) {
        ended_ = !input_->Next(&row);
        if (ended_) break;
        RequireComponents(row, dataset().padded_shapes_.size());
        for (size_t c = 0; c < row.size(); ++c) RequireType(row[c], dataset().padding_[c].dtype());
        rows.push_back(std::move(row));
      }
      if (rows.empty() || (dataset().drop_remainder_ && static_cast<int64_t>(rows.size()) < dataset().size_))
        return false;
      element->clear();
      for (size_t c = 0; c < rows[0].size(); ++c) element->push_back(Join(rows, c));
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
    }

   private:
    Tensor Join(const std::vector<Element>& rows, size_t c) const {
      const PartialShape& wanted = dataset().padded_shapes_[c];
      std::vector<int64_t> sizes(static_cast<size_t>(wanted.rank()), 0);
      for (int d = 0; d < wanted.rank(); ++d) {
        for (const Element& row : rows) {
          const Shape& shape = row[c].shape();
          if (shape.rank() != wanted.rank()) {
            throw InvalidArgument("All elements in a batch must have the same rank as the padded shape for component",
                                  c, ": expected rank ", wanted.rank(), " but got element with rank ", shape.rank());
          }
          if (wanted[d] >= 0 && shape[d] > wanted[d]) {
            throw DataLoss("Attempted to pad to a smaller size than the input element.");
          }
          sizes[d] = std::max(wanted[d], std::max(sizes[d], shape[d]));
        }
      }
      const Shape padded(sizes);
      Shape all = padded;
      all.InsertDim(0, static_cast<int64_t>(rows.size()));
      Tensor batch(rows[0][c].dtype(), all);
      const bool exact =
          std::all_of(rows.begin(), rows.end(), [&](const Element& r) { return r[c].shape() == padded; });
      if (!exact) FillWith(dataset().padding_[c], &batch);
      for (size_t r = 0; r < rows.size(); ++r) {
        CopyToCorner(rows[r][c], padded, &batch, static_cast<int64_t>(r) * padded.num_elements());
      }
      return batch;
    }
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Batches>(*this, place);
  }
  const int64_t size_;
  const bool drop_remainder_;
  const std::vector<PartialShape> padded_shapes_;
  const std::vector<Tensor> padding_;
};

// Batches of tensors of different sizes as one sparse tensor, whose first dimension is the batch's: its three parts as
// variants.
class DenseToSparseBatchDataset final : public Dataset {
 public:
  DenseToSparseBatchDataset(ElementSpec spec, Ref<const Dataset> input, int64_t size, PartialShape row)
      : Dataset("DenseToSparseBatch", std::move(spec), {std::move(input)}), size_(size), row_(std::move(row)) {}
  int64_t Cardinality() const override { return PartsOf(input().Cardinality(), size_, false); }

 private:
  class Batches final : public IteratorOverInput<DenseToSparseBatchDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      std::vector<Tensor> rows;
      Element row;
      int64_t total = 0;
      while (!ended_ && static_cast<int64_t>(rows.size()) < dataset().size_) {
        ended_ = !input_->Next(&row);
        if (ended_) break;
        RequireComponents(row, 1);
        RequireType(row[0], dataset().input().types()[0]);
        RequireFits(row[0].shape());
        total += row[0].num_elements();
        rows.push_back(std::move(row[0]));
      }
      if (rows.empty()) return false;
      const int rank = dataset().row_.rank();
      std::vector<int64_t> sizes = {static_cast<int64_t>(rows.size())};
      for (int d = 0; d < rank; ++d) sizes.push_back(std::max<int64_t>(0, dataset().row_[d]));
      Tensor indices(DT_INT64, Shape({total, rank + 1})), values(rows[0].dtype(), Shape({total}));
      int64_t* index = indices.mutable_data<int64_t>();
      int64_t at = 0;
      for (size_t r = 0; r < rows.size(); ++r) {
        const Shape& shape = rows[r].shape();
        for (int d = 0; d < rank; ++d) sizes[d + 1] = std::max(sizes[d + 1], shape[d]);
        const int64_t n = rows[r].num_elements();
        CopyElements(rows[r], 0, n, &values, at);
        std::vector<int64_t> position(static_cast<size_t>(rank), 0);
        for (int64_t i = 0; i < n; ++i) {
          *index++ = static_cast<int64_t>(r);
          for (const int64_t p : position) *index++ = p;
          for (int d = rank - 1; d >= 0; --d) {
            if (++position[d] < shape[d]) break;
            position[d] = 0;
          }
        }
        at += n;
      }
      Tensor parts(DT_VARIANT, Shape({3}));
      Tensor* part[] = {&indices, &values};
      for (int i = 0; i < 2; ++i) parts.mutable_data<Variant>()[i] = Variant(MakeRef<BoxedTensor>(std::move(*part[i])));
      parts.mutable_data<Variant>()[2] = Variant(MakeRef<BoxedTensor>(Tensor::Vector(sizes)));
      *element = {std::move(parts)};
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
    }

   private:
    void RequireFits(const Shape& shape) const {
      const PartialShape& row = dataset().row_;
      if (shape.rank() != row.rank()) {
        throw InvalidArgument("Input element had shape (", shape, ") that is incompatible with the row shape (", row,
                              ").");
      }
      for (int d = 0; d < row.rank(); ++d) {
        if (row[d] >= 0 && shape[d] > row[d]) {
          throw DataLoss("Input element had shape (", shape, ") that is larger than the row shape (", row, ").");
        }
      }
    }
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Batches>(*this, place);
  }
  const int64_t size_;
  const PartialShape row_;
};

PartialShape ShapeFrom(const Tensor& sizes) {
  std::vector<int64_t> dims;
  for (const int64_t size : sizes.flat<int64_t>()) {
    if (size < -1) throw InvalidArgument("Dimensions of a shape must be >= -1, but one is ", size);
    dims.push_back(size);
  }
  return PartialShape(std::move(dims));
}

Ref<Dataset> MakePaddedBatch(DatasetArgs& args) {
  const int64_t size = args.Int("batch_size");
  args.Require(size > 0, "Batch size must be greater than zero.");
  const Ref<const Dataset> input = args.dataset();
  const std::vector<Tensor> shapes = args.tensors("padded_shapes");
  std::vector<Tensor> padding = args.tensors("padding_values");
  args.Require(shapes.size() == input->types().size(), "Number of padded shapes (", shapes.size(),
               ") must match the number of components in the input dataset's elements (", input->types().size(), ")");
  args.Require(padding.size() == shapes.size(), "Number of padding values (", padding.size(),
               ") must match the number of components in the input dataset's elements (", shapes.size(), ")");
  std::vector<PartialShape> wanted;
  for (size_t i = 0; i < shapes.size(); ++i) {
    args.Require(shapes[i].rank() == 1, "All padded shapes must be vectors");
    args.Require(padding[i].rank() == 0, "All padding values must be scalars");
    args.Require(padding[i].dtype() == input->types()[i], "Mismatched type between padding value ", i,
                 " and input dataset's component ", i, ": ", padding[i].dtype(), " vs. ", input->types()[i]);
    wanted.push_back(ShapeFrom(shapes[i]));
  }
  return MakeRef<PaddedBatchDataset>(args.Versioned("PaddedBatch"), args.spec(), input, size,
                                     args.Has("drop_remainder") && args.Bool("drop_remainder"), std::move(wanted),
                                     std::move(padding));
}

Ref<Dataset> MakeDenseToSparseBatch(DatasetArgs& args) {
  const int64_t size = args.Int("batch_size");
  args.Require(size > 0, "Batch size must be greater than zero.");
  const Ref<const Dataset> input = args.dataset();
  args.Require(input->types().size() == 1, "DenseToSparseBatchDataset only supports inputs with a single component.");
  const Tensor& row = args.tensor("row_shape");
  args.Require(row.rank() == 1, "row_shape must be a vector");
  return MakeRef<DenseToSparseBatchDataset>(args.spec(), input, size, ShapeFrom(row));
}

}  // namespace

void RegisterPaddedBatchDatasets(KernelRegistry& kernels) {
  AddDataset<MakePaddedBatch>(kernels, "PaddedBatchDataset");
  AddDataset<MakePaddedBatch>(kernels, "PaddedBatchDatasetV2");
  AddDatasetAndTwin<MakeDenseToSparseBatch>(kernels, "DenseToSparseBatchDataset");
}

}  // namespace penstock::data
