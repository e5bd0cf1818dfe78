// Sparse tensors that leave a graph as strings, variants or numbers of a table, and come back, one or many at once.
#include <algorithm>
#include <map>

#include "penstock/base/fork.h"
#include "penstock/io/convert.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/sparse/sparse_tensor.h"
#include "penstock/tensor/boxed_tensor.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

struct Parts {
  Tensor indices, values, shape;
};

// The rows of a sparse tensor along its first dimension, which falls away.
std::vector<Parts> RowsOf(KernelContext& k) {
  const SparseInput in(k, 0);
  k.Require(in.rank >= 2, "Rank of input SparseTensor should be > 1, but saw rank: ", in.rank);
  const int64_t rows = in.shape[0], rank = in.rank - 1;
  k.Require(rows <= int64_t{1} << 32, "the sparse tensor has too many rows: ", rows);
  std::vector<std::vector<int64_t>> entries(rows);
  for (int64_t e = 0; e < in.entries; ++e) entries[in.at(e)[0]].push_back(e);
  const Tensor shape = Tensor::Vector<int64_t>(std::vector<int64_t>(in.shape.begin() + 1, in.shape.end()));
  std::vector<Parts> parts;
  for (const auto& row : entries) {
    const auto n = static_cast<int64_t>(row.size());
    Parts part{Tensor(DT_INT64, Shape({n, rank})), Tensor(in.values->dtype(), Shape({n})), shape};
    int64_t* index = part.indices.mutable_data<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(in.at(row[i]) + 1, rank, index + i * rank);
      CopyElements(*in.values, row[i], 1, &part.values, i);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Outputs 0 to 2: the sparse tensors side by side, along new first dimensions of this shape.
void PutJoined(KernelContext& k, const std::vector<Parts>& parts, DataType type, const std::vector<int64_t>& outer) {
  int64_t total = 0, rank = -1;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [indices, values, dims] = parts[i];
    k.Require(indices.dtype() == DT_INT64 && indices.rank() == 2, "Expected serialized_sparse[", i,
              ", 0] to represent an index matrix but received shape ", indices.shape());
    k.Require(values.rank() == 1, "Expected serialized_sparse[", i,
              ", 1] to represent a values vector but received shape ", values.shape());
    k.Require(values.dtype() == type, "Requested SparseTensor of type ", type, " but SparseTensor[", i,
              "].values.dtype() == ", values.dtype());
    k.Require(indices.dim(0) == values.dim(0), "Expected row counts of SparseTensor[", i, "].indices and SparseTensor[",
              i, "].values to match but they do not: ", indices.dim(0), " vs. ", values.dim(0));
    k.Require(dims.dtype() == DT_INT64 && dims.rank() == 1, "Expected serialized_sparse[", i,
              ", 1] to be a shape vector but its shape is ", dims.shape());
    k.Require(indices.dim(1) == dims.dim(0), "Expected column counts of SparseTensor[", i,
              "].indices to match size of SparseTensor[", i, "].shape but they do not: ", indices.dim(1), " vs. ",
              dims.dim(0));
    k.Require(rank < 0 || rank == dims.dim(0), "Inconsistent shape across SparseTensors: rank prior to SparseTensor[",
              i, "] was: ", rank, " but rank of SparseTensor[", i, "] is: ", dims.dim(0));
    rank = dims.dim(0);
    shape.resize(rank, 0);
    for (int64_t d = 0; d < rank; ++d) shape[d] = std::max(shape[d], dims.data<int64_t>()[d]);
    total += values.dim(0);
  }
  const auto levels = static_cast<int64_t>(outer.size());
  rank = std::max<int64_t>(rank, 0);
  int64_t* index = k.Output(0, Shape({total, levels + rank})).mutable_data<int64_t>();
  Tensor& all = k.Output(1, type, Shape({total}));
  int64_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t n = parts[i].values.dim(0);
    for (int64_t e = 0; e < n; ++e, index += levels + rank) {
      auto rest = static_cast<int64_t>(i);
      for (int64_t d = levels - 1; d >= 0; --d) {
        index[d] = rest % outer[d];
        rest /= outer[d];
      }
      std::copy_n(parts[i].indices.data<int64_t>() + e * rank, rank, index + levels);
    }
    CopyElements(parts[i].values, 0, n, &all, at);
    at += n;
  }
  shape.insert(shape.begin(), outer.begin(), outer.end());
  PutVector(k, 2, shape);
}

void Pack(const Tensor& tensor, Tensor* to, int64_t at) {
  if (to->dtype() == DT_STRING) {
    to->mutable_data<TString>()[at] = SerializePackedTensor(tensor);
  } else {
    to->mutable_data<Variant>()[at] = Variant(MakeRef<BoxedTensor>(tensor));
  }
}

Tensor Unpack(const Tensor& from, int64_t at) {
  if (from.dtype() == DT_VARIANT) {
    const BoxedTensor* box = from.data<Variant>()[at].as<BoxedTensor>();
    if (!box) throw InvalidArgument("serialized_sparse[", at / 3, "] is no part of a sparse tensor");
    return box->tensor;
  }
  try {
    return ParseTensor(from.data<TString>()[at].view());
  } catch (const Error&) {
    throw InvalidArgument("Could not parse serialized proto");
  }
}

struct SerializeOne {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0, false);
    Tensor& out = k.Output(0, Shape({3}));
    for (int i = 0; i < 3; ++i) Pack(k.input(i), &out, i);
  }
};

struct SerializeMany {
  void operator()(KernelContext& k) const {
    const std::vector<Parts> rows = RowsOf(k);
    Tensor& out = k.Output(0, Shape({static_cast<int64_t>(rows.size()), 3}));
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto at = static_cast<int64_t>(3 * i);
      Pack(rows[i].indices, &out, at);
      Pack(rows[i].values, &out, at + 1);
      Pack(rows[i].shape, &out, at + 2);
    }
  }
};

template <bool kMany>
struct Deserialize {
  DataType type;
  explicit Deserialize(const NodeView& node) : type(node.attr<DataType>("dtype")) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(!kMany || in.rank() == 2, "Serialized sparse should be a matrix but received shape ", in.shape());
    k.Require(in.rank() > 0, "Serialized sparse should have non-zero rank ", in.shape());
    k.Require(in.dim(in.rank() - 1) == 3, "Serialized sparse should have 3 ",
              kMany ? "columns" : "as the last dimension ", in.shape());
    k.Require(kMany || in.num_elements() > 0,
              "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension ", in.shape());
    std::vector<Parts> parts;
    for (int64_t i = 0; i < in.num_elements(); i += 3)
      parts.push_back({Unpack(in, i), Unpack(in, i + 1), Unpack(in, i + 2)});
    PutJoined(k, parts, type, std::vector<int64_t>(in.shape().begin(), in.shape().end() - 1));
  }
};

// Sparse tensors by number, until they are taken.
class SparseTensorsMap : public Resource {
 public:
  std::string DebugString() const override { return "sparse tensors map"; }
  int64_t Add(Parts parts) {
    std::lock_guard lock(mutex_);
    stored_.emplace(next_, std::move(parts));
    return next_++;
  }
  Parts Take(int64_t handle) {
    std::lock_guard lock(mutex_);
    const auto found = stored_.find(handle);
    if (found == stored_.end()) throw InvalidArgument("Unable to find SparseTensor: ", handle, " in map");
    Parts parts = std::move(found->second);
    stored_.erase(found);
    return parts;
  }

 private:
  ForkMutex mutex_;
  std::map<int64_t, Parts> stored_;
  int64_t next_ = 0;
};

Ref<SparseTensorsMap> MapOf(KernelContext& k) {
  const auto [container, name] = k.ResourceName();
  return k.resources().FindOrMake<SparseTensorsMap>(container, name, [] { return MakeRef<SparseTensorsMap>(); });
}

struct AddOne {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0);
    k.SetOutput(0, Tensor(MapOf(k)->Add({k.input(0).Clone(), k.input(1).Clone(), k.input(2).Clone()})));
  }
};

struct AddMany {
  void operator()(KernelContext& k) const {
    const std::vector<Parts> rows = RowsOf(k);
    const Ref<SparseTensorsMap> map = MapOf(k);
    const auto handles = k.out<int64_t>(0, Shape({static_cast<int64_t>(rows.size())}));
    for (size_t i = 0; i < rows.size(); ++i) handles[i] = map->Add(rows[i]);
  }
};

struct TakeMany {
  DataType type;
  explicit TakeMany(const NodeView& node) : type(node.attr<DataType>("dtype")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1, "sparse_handles should be a vector but received shape ", k.shape(0));
    const Ref<SparseTensorsMap> map = MapOf(k);
    std::vector<Parts> parts;
    for (const int64_t handle : k.in<int64_t>(0)) parts.push_back(map->Take(handle));
    k.Require(!parts.empty(), "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
    PutJoined(k, parts, type, {static_cast<int64_t>(parts.size())});
  }
};

}  // namespace

void RegisterSparsePartsKernels(KernelRegistry& kernels) {
  SetVariantDecoder(BoxedTensor::kTypeName, &BoxedTensor::Decode);
  kernels.Add<SerializeOne>("SerializeSparse");
  kernels.Add<SerializeMany>("SerializeManySparse");
  kernels.Add<Deserialize<false>>("DeserializeSparse");
  kernels.Add<Deserialize<true>>("DeserializeManySparse");
  kernels.Add<AddOne>("AddSparseToTensorsMap");
  kernels.Add<AddMany>("AddManySparseToTensorsMap");
  kernels.Add<TakeMany>("TakeManySparseFromTensorsMap");
}

}  // namespace penstock
