// Datasets of given tensors: one element, or their slices.
#include "penstock/data/batching.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/tensor/elements.h"

namespace penstock::data {
namespace {

class TensorDataset final : public Dataset {
 public:
  TensorDataset(ElementSpec spec, Element element) : Dataset("Tensor", std::move(spec)), element_(std::move(element)) {}
  int64_t Cardinality() const override { return 1; }
  void RequireShuffleable() const override {}

 private:
  class Once final : public IteratorOf<TensorDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (done_) return false;
      done_ = true;
      *element = dataset().element_;
      return true;
    }
    void Visit(State& state) override { state.Value("done", &done_); }

   private:
    bool done_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Once>(*this, place);
  }
  Accessor MakeAccessor(const Place&) const override {
    return [this](int64_t) { return element_; };
  }
  const Element element_;
};

// Element i is made by `MakeElement(i)`: of n.
template <class D>
class Indexed final : public IteratorOf<D> {
 public:
  using IteratorOf<D>::IteratorOf;
  bool Next(Element* element) override {
    if (at_ >= this->dataset().Cardinality()) return false;
    this->dataset().MakeElement(at_++, element);
    return true;
  }
  int64_t Skip(int64_t n) override {
    const int64_t skipped = std::clamp<int64_t>(this->dataset().Cardinality() - at_, 0, n);
    at_ += skipped;
    return skipped;
  }
  // There may be fewer elements than when the state was saved: then it has ended.
  void Visit(State& state) override { state.Position("next", &at_); }

 private:
  int64_t at_ = 0;
};

template <class D>
Accessor IndexedAccessor(const D* dataset) {
  return [dataset](int64_t index) {
    Element element;
    dataset->MakeElement(index, &element);
    return element;
  };
}

class TensorSliceDataset final : public Dataset {
 public:
  TensorSliceDataset(ElementSpec spec, std::vector<Tensor> tensors)
      : Dataset("TensorSlice", std::move(spec)), tensors_(std::move(tensors)) {}
  int64_t Cardinality() const override { return tensors_[0].dim(0); }
  void RequireShuffleable() const override {}
  void MakeElement(int64_t i, Element* element) const {
    element->resize(tensors_.size());
    for (size_t c = 0; c < tensors_.size(); ++c) (*element)[c] = Row(tensors_[c], i);
  }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Indexed<TensorSliceDataset>>(*this, place);
  }
  Accessor MakeAccessor(const Place&) const override { return IndexedAccessor(this); }
  const std::vector<Tensor> tensors_;
};

class ListDataset final : public Dataset {
 public:
  ListDataset(ElementSpec spec, std::vector<Tensor> tensors)
      : Dataset("List", std::move(spec)), tensors_(std::move(tensors)), size_(static_cast<int64_t>(types().size())) {}
  int64_t Cardinality() const override { return static_cast<int64_t>(tensors_.size()) / size_; }
  void RequireShuffleable() const override {}
  void MakeElement(int64_t i, Element* element) const {
    element->assign(tensors_.begin() + i * size_, tensors_.begin() + (i + 1) * size_);
  }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Indexed<ListDataset>>(*this, place);
  }
  Accessor MakeAccessor(const Place&) const override { return IndexedAccessor(this); }
  const std::vector<Tensor> tensors_;
  const int64_t size_;
};

// Row i of a sparse tensor: the values with this first index, in the order in which they stand.
class SparseTensorSliceDataset final : public Dataset {
 public:
  SparseTensorSliceDataset(Tensor indices, Tensor values, const std::vector<int64_t>& shape)
      : Dataset("SparseTensorSlice", SpecOf(values.dtype(), static_cast<int64_t>(shape.size()))),
        indices_(std::move(indices)),
        values_(std::move(values)),
        rows_(shape[0]),
        row_shape_(Tensor::Vector(std::vector<int64_t>(shape.begin() + 1, shape.end()))) {}
  int64_t Cardinality() const override { return rows_; }
  void MakeElement(int64_t i, Element* element) const {
    const int64_t first = BeginOf(i), n = BeginOf(i + 1) - first, rank = indices_.dim(1);
    Tensor indices(DT_INT64, Shape({n, rank - 1}));
    Tensor values(values_.dtype(), Shape({n}));
    for (int64_t v = 0; v < n; ++v) {
      std::copy_n(indices_.data<int64_t>() + (first + v) * rank + 1, rank - 1,
                  indices.mutable_data<int64_t>() + v * (rank - 1));
    }
    CopyElements(values_, first, n, &values, 0);
    *element = {std::move(indices), std::move(values), row_shape_};
  }

 private:
  static ElementSpec SpecOf(DataType type, int64_t rank) {
    return {{DT_INT64, type, DT_INT64}, {PartialShape({-1, rank - 1}), PartialShape({-1}), PartialShape({rank - 1})}};
  }
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Indexed<SparseTensorSliceDataset>>(*this, place);
  }
  // The first value whose row is not before this one.
  int64_t BeginOf(int64_t row) const {
    int64_t low = 0, high = indices_.dim(0);
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (indices_.data<int64_t>()[middle * indices_.dim(1)] < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  const Tensor indices_, values_;
  const int64_t rows_;
  const Tensor row_shape_;
};

ElementSpec SpecWith(DatasetArgs& args, const std::vector<Tensor>& tensors, int dims_to_drop) {
  ElementSpec spec = args.spec();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = tensors[i].shape();
    const PartialShape made(Shape(shape.dims().subspan(dims_to_drop)));
    args.Require(i < spec.shapes.size() && spec.shapes[i].IsCompatibleWith(made), "Incompatible shapes at component ",
                 i, ": expected ", i < spec.shapes.size() ? spec.shapes[i] : PartialShape(), " but got ", made, ".");
  }
  return spec;
}

Ref<Dataset> MakeTensor(DatasetArgs& args) {
  std::vector<Tensor> components = args.tensors("components");
  return MakeRef<TensorDataset>(SpecWith(args, components, 0), std::move(components));
}

Ref<Dataset> MakeTensorSlice(DatasetArgs& args) {
  std::vector<Tensor> components = args.tensors("components");
  for (const Tensor& t : components) {
    args.Require(t.rank() >= 1, "All components must be at least 1-dimensional");
    args.Require(t.dim(0) == components[0].dim(0), "All components must have the same size in the 0th dimension");
  }
  return MakeRef<TensorSliceDataset>(SpecWith(args, components, 1), std::move(components));
}

Ref<Dataset> MakeList(DatasetArgs& args) {
  ElementSpec spec = args.spec();
  std::vector<Tensor> tensors = args.tensors("tensors");
  args.Require(tensors.size() % spec.types.size() == 0,
               "The number of tensors must be a multiple of that of components");
  return MakeRef<ListDataset>(std::move(spec), std::move(tensors));
}

Ref<Dataset> MakeSparseTensorSlice(DatasetArgs& args) {
  const Tensor &indices = args.tensor("indices"), &values = args.tensor("values");
  args.Require(indices.rank() == 2, "Input indices must be a matrix. Got: ", indices.shape());
  args.Require(values.rank() == 1, "Input values must be a vector. Got: ", values.shape());
  const Tensor& dense_shape = args.tensor("dense_shape");
  args.Require(dense_shape.rank() == 1, "Input shape must be a vector. Got: ", dense_shape.shape());
  args.Require(values.dim(0) == indices.dim(0), "Number of values must match first dimension of indices. Got ",
               values.dim(0), " values, indices shape: ", indices.shape());
  args.Require(dense_shape.dim(0) == indices.dim(1),
               "Number of dimensions must match second dimension of indices. Got ", dense_shape.dim(0),
               " dimensions, indices shape: ", indices.shape());
  args.Require(dense_shape.dim(0) > 0, "The shape argument requires at least one element.");
  const auto sizes = dense_shape.flat<int64_t>();
  const Shape shape{std::vector<int64_t>(sizes.begin(), sizes.end())};  // InvalidArgument if it is none
  int64_t last = 0;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t row = indices.data<int64_t>()[i * indices.dim(1)];
    args.Require(row >= last && row < shape[0],
                 "The SparseTensor must be ordered in the batch dimension; handling arbitrarily "
                 "ordered input is not currently supported.");
    last = row;
  }
  return MakeRef<SparseTensorSliceDataset>(indices, values, std::vector<int64_t>(sizes.begin(), sizes.end()));
}

}  // namespace

void RegisterTensorsDatasets(KernelRegistry& kernels) {
  AddDataset<MakeTensor>(kernels, "TensorDataset");
  AddDataset<MakeTensorSlice>(kernels, "TensorSliceDataset");
  AddDataset<MakeList>(kernels, "ListDataset");
  AddDataset<MakeSparseTensorSlice>(kernels, "SparseTensorSliceDataset");
}

}  // namespace penstock::data
