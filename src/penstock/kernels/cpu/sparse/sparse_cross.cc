// Every combination of the features of each row.
#include <farmhash.h>

#include <limits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/strings/string_hash.h"

namespace penstock {
namespace {

using TypeList = std::vector<DataType>;

// One input: the features of row r are those from starts[r] to starts[r + 1].
struct Column {
  const Tensor* values;
  std::vector<int64_t> starts;
  bool text() const { return values->dtype() == DT_STRING; }
  bool dense() const { return values->rank() == 2; }
  int64_t count(int64_t row) const { return starts[row + 1] - starts[row]; }
};

uint64_t Mix(uint64_t v) { return v ^ (v >> 47); }

// The hash of a pair of hashes, in this order; models depend on its very value.
uint64_t Join(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  const uint64_t both = ((a ^ kMul) ^ (Mix(b * kMul) * kMul)) * kMul;
  return Mix(Mix(both) * kMul);
}

uint64_t HashOf(const Column& column, int64_t at) {
  if (!column.text()) return static_cast<uint64_t>(column.values->data<int64_t>()[at]);
  const std::string_view s = column.values->data<TString>()[at].view();
  return util::Fingerprint64(s.data(), s.size());
}

std::string TextOf(const Column& column, int64_t at) {
  return column.text() ? column.values->data<TString>()[at].str() : std::to_string(column.values->data<int64_t>()[at]);
}

struct Inputs {
  std::vector<Column> columns;
  int64_t rows = 0;

  Inputs(KernelContext& k, int sparse, int dense)
      : Inputs(k, 0, sparse, dense, std::string(sparse, 'S') + std::string(dense, 'D')) {
    k.Require(!columns.empty(), "At least one input is needed.");
  }

  // order: which of the ragged (R), sparse (S) and dense (D) ones comes next. Of the kernel's inputs come first the
  // ragged ones' values and splits, then the sparse ones' indices, values and shapes, then the dense ones.
  Inputs(KernelContext& k, int ragged, int sparse, int dense, std::string_view order) {
    const int indices = 2 * ragged, shapes = indices + 2 * sparse, first_dense = indices + 3 * sparse;
    int next[] = {0, 0, 0};
    for (const char kind : order) {
      int& i = next[kind == 'R' ? 0 : kind == 'S' ? 1 : 2];
      k.Require((kind == 'R' && i < ragged) || (kind == 'S' && i < sparse) || (kind == 'D' && i < dense),
                "input_order ", order, " does not fit the number of inputs");
      if (kind == 'R') {
        AddRagged(k, i, k.input(i), k.input(ragged + i));
      } else if (kind == 'S') {
        const Tensor& shape = k.input(shapes + i);
        k.Require(shape.rank() == 1, "Input shapes should be a std::vector but received shape ", shape.shape(),
                  " at position ", i);
        k.Require(shape.dim(0) == 2, "shape should imply a 2D tensor, but got ", shape.shape(), " at position ", i);
        TakeRows(k, shape.data<int64_t>()[0], i);
        AddSparse(k, i, k.input(indices + i), k.input(indices + sparse + i));
      } else {
        const Tensor& values = k.input(first_dense + i);
        k.Require(values.rank() == 2, "Dense inputs should be a matrix but received shape ", values.shape(),
                  " at position ", i);
        TakeRows(k, values.dim(0), i);
        Column column{&values, std::vector<int64_t>(rows + 1)};
        for (int64_t r = 0; r <= rows; ++r) column.starts[r] = r * values.dim(1);
        columns.push_back(std::move(column));
      }
      ++i;
    }
    k.Require(static_cast<int>(order.size()) == ragged + sparse + dense, "input_order ", order,
              " does not name all inputs");
  }

 private:
  // The first input says how many rows there are.
  void TakeRows(KernelContext& k, int64_t size, int i) {
    if (columns.empty()) rows = size;
    k.Require(size == rows, "Expected batch size ", rows, " got ", size, " at position ", i);
    k.Require(size >= 0 && size < int64_t{1} << 40, "Batch size ", size, " is out of range at position ", i);
  }

  void AddRagged(KernelContext& k, int i, const Tensor& values, const Tensor& splits) {
    k.Require(values.rank() == 1, "Ragged inputs should have a vector of values but received shape ", values.shape(),
              " at position ", i);
    k.Require(splits.rank() == 1 && splits.dim(0) > 0,
              "Splits should be a vector of one or more elements, but have shape ", splits.shape(), " at position ", i);
    TakeRows(k, splits.dim(0) - 1, i);
    Column column{&values, std::vector<int64_t>(rows + 1)};
    for (int64_t r = 0; r <= rows; ++r) {
      column.starts[r] = splits.IntAt(r);
      k.Require(column.starts[r] >= (r > 0 ? column.starts[r - 1] : 0), "Splits must not fall, at position ", i);
    }
    k.Require(column.starts[0] == 0 && column.starts[rows] == values.dim(0),
              "Splits must begin with 0 and end with the number of values, at position ", i);
    columns.push_back(std::move(column));
  }

  void AddSparse(KernelContext& k, int i, const Tensor& indices, const Tensor& values) {
    k.Require(indices.rank() == 2, "Input indices should be a matrix but received shape ", indices.shape(),
              " at position ", i);
    k.Require(indices.dim(1) == 2, "Expected D2 of index to be 2 got ", indices.dim(1), " at position ", i);
    k.Require(values.rank() == 1, "Input values should be a std::vector but received shape ", values.shape(),
              " at position ", i);
    k.Require(indices.dim(0) == values.dim(0), "Expected size of values to be ", indices.dim(0), " got ", values.dim(0),
              " at position ", i);
    Column column{&values, std::vector<int64_t>(rows + 1)};
    const int64_t* at = indices.data<int64_t>();
    int64_t before = 0;
    for (int64_t e = 0; e < indices.dim(0); ++e) {
      const int64_t row = at[2 * e];
      k.Require(row >= before && row < rows, "Row ", row, " of indices is out of order or out of range [0, ", rows,
                ") at position ", i);
      ++column.starts[row + 1];
      before = row;
    }
    for (int64_t r = 0; r < rows; ++r) column.starts[r + 1] += column.starts[r];
    columns.push_back(std::move(column));
  }
};

// Where each row's combinations begin, and at the end how many there are in all.
std::vector<int64_t> Starts(KernelContext& k, const Inputs& in, int64_t* widest) {
  std::vector<int64_t> starts(in.rows + 1);
  *widest = 0;
  for (int64_t r = 0; r < in.rows; ++r) {
    int64_t n = 1;
    bool fits = true;
    for (const Column& column : in.columns) fits = !__builtin_mul_overflow(n, column.count(r), &n) && fits;
    fits = fits && !__builtin_add_overflow(starts[r], n, &starts[r + 1]) && starts[r + 1] < int64_t{1} << 40;
    k.Require(fits, "Row ", r, " has too many combinations of features.");
    *widest = std::max(*widest, n);
  }
  return starts;
}

// Calls put(number, row, places) for each combination, the last column changing fastest.
template <class Put>
void Combine(KernelContext& k, const Inputs& in, const std::vector<int64_t>& starts, int64_t widest, const Put& put) {
  const size_t n = in.columns.size();
  k.Parallel(in.rows, 100 * static_cast<int64_t>(n) * std::max<int64_t>(widest, 1), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> at(n);
    for (int64_t r = begin; r < end; ++r) {
      for (size_t c = 0; c < n; ++c) at[c] = in.columns[c].starts[r];
      for (int64_t i = starts[r]; i < starts[r + 1]; ++i) {
        put(i, r, at);
        for (size_t c = n; c-- > 0;) {
          if (++at[c] < in.columns[c].starts[r + 1]) break;
          at[c] = in.columns[c].starts[r];
        }
      }
    }
  });
}

// What the values of the combinations are: texts with something between them, or hashes below a number of buckets.
auto TextsOf(const Inputs& in, std::string_view separator) {
  return [&in, separator](const std::vector<int64_t>& at) {
    std::string text;
    for (size_t c = 0; c < at.size(); ++c) {
      if (c > 0) text += separator;
      text += TextOf(in.columns[c], at[c]);
    }
    return TString(text);
  };
}
auto HashesOf(const Inputs& in, uint64_t key, uint64_t buckets) {
  // Never negative without buckets.
  const uint64_t most = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
  return [&in, key, most](const std::vector<int64_t>& at) {
    uint64_t hash = key;
    for (size_t c = 0; c < at.size(); ++c) hash = Join(hash, HashOf(in.columns[c], at[c]));
    return static_cast<int64_t>(hash % most);
  };
}

// The hash of a feature by SparseCrossHashed: of texts by a key if there is one; of numbers, where TensorFlow hashes
// them, the low four bytes.
uint64_t HashOf(const Column& column, int64_t at, const uint64_t* key) {
  std::string_view bytes;
  if (column.text()) {
    bytes = column.values->data<TString>()[at].view();
  } else if (column.dense() && !key) {
    return HashOf(column, at);
  } else {
    bytes = {reinterpret_cast<const char*>(column.values->data<int64_t>() + at), 4};
  }
  return key ? SipHash(bytes, key[0], key[1]) : util::Fingerprint64(bytes.data(), bytes.size());
}
auto HashesOf(const Inputs& in, const uint64_t* key, uint64_t buckets) {
  const uint64_t most = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
  return [&in, key, most](const std::vector<int64_t>& at) {
    uint64_t hash = HashOf(in.columns[0], at[0], key);
    for (size_t c = 1; c < at.size(); ++c) hash = Join(hash, HashOf(in.columns[c], at[c], key));
    return static_cast<int64_t>(hash % most);
  };
}

template <class T, class ValueOf>
void PutSparse(KernelContext& k, const Inputs& in, const ValueOf& value_of) {
  int64_t widest;
  const std::vector<int64_t> starts = Starts(k, in, &widest);
  const int64_t total = starts[in.rows];
  int64_t* indices = k.Output(0, Shape({total, 2})).mutable_data<int64_t>();
  T* values = k.Output(1, Shape({total})).template mutable_data<T>();
  int64_t* shape = k.Output(2, Shape({2})).mutable_data<int64_t>();
  shape[0] = in.rows;
  shape[1] = widest;
  Combine(k, in, starts, widest, [&](int64_t i, int64_t row, const std::vector<int64_t>& at) {
    indices[2 * i] = row;
    indices[2 * i + 1] = i - starts[row];
    values[i] = value_of(at);
  });
}

template <class T, class ValueOf>
void PutRagged(KernelContext& k, const Inputs& in, const ValueOf& value_of) {
  int64_t widest;
  const std::vector<int64_t> starts = Starts(k, in, &widest);
  T* values = k.Output(0, Shape({starts[in.rows]})).template mutable_data<T>();
  Tensor& splits = k.Output(1, Shape({in.rows + 1}));
  const bool narrow = splits.dtype() == DT_INT32;
  k.Require(!narrow || starts[in.rows] <= std::numeric_limits<int32_t>::max(), "Row splits of ", starts[in.rows],
            " combinations do not fit int32");
  for (int64_t r = 0; r <= in.rows; ++r) {
    if (narrow) {
      splits.mutable_data<int32_t>()[r] = static_cast<int32_t>(starts[r]);
    } else {
      splits.mutable_data<int64_t>()[r] = starts[r];
    }
  }
  Combine(k, in, starts, widest, [&](int64_t i, int64_t, const std::vector<int64_t>& at) { values[i] = value_of(at); });
}

struct SparseCross {
  int sparse, dense;
  bool hashed;
  uint64_t buckets, key;
  explicit SparseCross(const NodeView& node)
      : sparse(static_cast<int>(node.attr<int64_t>("N"))),
        dense(static_cast<int>(node.attr<TypeList>("dense_types").size())),
        hashed(node.attr<bool>("hashed_output")),
        buckets(static_cast<uint64_t>(node.attr<int64_t>("num_buckets"))),
        key(static_cast<uint64_t>(node.attr<int64_t>("hash_key"))) {
    if (static_cast<size_t>(sparse) != node.attr<TypeList>("sparse_types").size()) {
      throw InvalidArgument("Expected ", sparse, " input values, got ", node.attr<TypeList>("sparse_types").size());
    }
    if ((node.attr<DataType>("out_type") == DT_INT64) != hashed) {
      throw InvalidArgument("out_type must be int64 for hashes and string otherwise");
    }
  }

  void operator()(KernelContext& k) const {
    const Inputs in(k, sparse, dense);
    if (!hashed) return PutSparse<TString>(k, in, TextsOf(in, "_X_"));
    PutSparse<int64_t>(k, in, HashesOf(in, key, buckets));
  }
};

struct SparseCrossV2 {
  int sparse, dense;
  explicit SparseCrossV2(const NodeView& node)
      : sparse(static_cast<int>(node.attr<int64_t>("N"))),
        dense(static_cast<int>(node.attr<TypeList>("dense_types").size())) {}
  void operator()(KernelContext& k) const {
    const Inputs in(k, sparse, dense);
    const TString separator = k.Scalar<TString>(3 * sparse + dense);
    PutSparse<TString>(k, in, TextsOf(in, separator.view()));
  }
};

struct SparseCrossHashed {
  int sparse, dense;
  explicit SparseCrossHashed(const NodeView& node)
      : sparse(static_cast<int>(node.attr<int64_t>("N"))),
        dense(static_cast<int>(node.attr<TypeList>("dense_types").size())) {
    if (static_cast<size_t>(sparse) != node.attr<TypeList>("sparse_types").size()) {
      throw InvalidArgument("Expected ", sparse, " input values, got ", node.attr<TypeList>("sparse_types").size());
    }
  }
  void operator()(KernelContext& k) const {
    const Inputs in(k, sparse, dense);
    const int buckets_at = 3 * sparse + dense;
    const int64_t buckets = k.Scalar<int64_t>(buckets_at);
    k.Require(buckets >= 0, "num_buckets must not be negative: ", buckets);
    const Tensor& salt = k.input(buckets_at + 2);
    k.Require(salt.rank() == 1 && salt.dim(0) == 2, "salt must be a vector of two numbers, but has shape ",
              salt.shape());
    const uint64_t key[] = {static_cast<uint64_t>(salt.data<int64_t>()[0]),
                            static_cast<uint64_t>(salt.data<int64_t>()[1])};
    const bool strong = k.Scalar<bool>(buckets_at + 1);
    PutSparse<int64_t>(k, in, HashesOf(in, strong ? key : nullptr, static_cast<uint64_t>(buckets)));
  }
};

struct RaggedCross {
  int ragged, sparse, dense;
  std::string order;
  bool hashed;
  uint64_t buckets, key;
  explicit RaggedCross(const NodeView& node)
      : ragged(static_cast<int>(node.attr<TypeList>("ragged_values_types").size())),
        sparse(static_cast<int>(node.attr<int64_t>("Nsparse"))),
        dense(static_cast<int>(node.attr<TypeList>("dense_types").size())),
        order(node.attr<std::string>("input_order")),
        hashed(node.attr<bool>("hashed_output")),
        buckets(static_cast<uint64_t>(node.attr<int64_t>("num_buckets"))),
        key(static_cast<uint64_t>(node.attr<int64_t>("hash_key"))) {
    if (node.attr<TypeList>("ragged_splits_types").size() != static_cast<size_t>(ragged) ||
        node.attr<TypeList>("sparse_values_types").size() != static_cast<size_t>(sparse)) {
      throw InvalidArgument("There must be as many splits as ragged values, and as many indices as sparse values");
    }
    if ((node.attr<DataType>("out_values_type") == DT_INT64) != hashed) {
      throw InvalidArgument("out_values_type must be int64 for hashes and string otherwise");
    }
  }

  void operator()(KernelContext& k) const {
    const Inputs in(k, ragged, sparse, dense, order);
    if (!hashed) return PutRagged<TString>(k, in, TextsOf(in, "_X_"));
    PutRagged<int64_t>(k, in, HashesOf(in, key, buckets));
  }
};

}  // namespace

void RegisterSparseCrossKernels(KernelRegistry& kernels) {
  kernels.Add<SparseCross>("SparseCross");
  kernels.Add<SparseCrossV2>("SparseCrossV2");
  kernels.Add<SparseCrossHashed>("SparseCrossHashed");
  kernels.Add<RaggedCross>("RaggedCross");
}

}  // namespace penstock
