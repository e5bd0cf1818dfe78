// Example and SequenceExample messages into tensors.
#include <algorithm>
#include <map>
#include <optional>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/io/example.h"

namespace penstock {
namespace {

using TypeList = std::vector<DataType>;
using ShapeList = std::vector<PartialShape>;
using Row = std::optional<FeatureValues>;  // of one example, if it has the feature
using Rows = std::vector<Row>;
using ListRow = std::optional<std::vector<FeatureValues>>;  // one entry for each step of a sequence
using ListRows = std::vector<ListRow>;

enum class Form { kSparse, kDense, kRagged };

// What is asked for.
struct Feature {
  std::string key;
  Form form = Form::kSparse;
  DataType type = DT_INVALID;
  PartialShape shape;  // dense only
  Tensor fallback;     // dense only; without elements: the feature is required
  bool variable() const { return form == Form::kDense && shape.rank() > 0 && shape[0] < 0; }
  // Elements of one value, or of one step of a variable one.
  int64_t size() const {
    int64_t n = 1;
    for (int d = variable() ? 1 : 0; d < shape.rank(); ++d) n *= shape[d];
    return n;
  }
};
using Features = std::vector<Feature>;

const char* TypeName(DataType type) { return type == DT_STRING ? "bytes" : type == DT_FLOAT ? "float" : "int64"; }
const char* ListName(DataType type) {
  return type == DT_STRING ? "bytes_list" : type == DT_FLOAT ? "float_list" : type == DT_INT64 ? "int64_list" : "";
}

// The strings of an input: a vector of keys.
std::vector<std::string> Keys(KernelContext& k, int i) {
  k.Require(k.shape(i).rank() <= 1, "keys must be a vector or a scalar, but have shape ", k.shape(i));
  std::vector<std::string> keys;
  for (const TString& key : k.in<TString>(i)) keys.push_back(key.str());
  return keys;
}
// The strings of `n` scalar inputs from `at` on.
std::vector<std::string> ScalarKeys(KernelContext& k, int at, int n) {
  std::vector<std::string> keys;
  for (int i = at; i < at + n; ++i) {
    k.Require(k.shape(i).rank() == 0, "Expected keys to be scalars, got shape: ", k.shape(i));
    keys.push_back(k.Scalar<TString>(i).str());
  }
  return keys;
}

void AddFeatures(const std::vector<std::string>& keys, Form form, const TypeList& types, Features* features) {
  if (keys.size() != types.size()) {
    throw InvalidArgument("There are ", keys.size(), " keys, but ", types.size(), " types");
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (types[i] != DT_INT64 && types[i] != DT_FLOAT && types[i] != DT_STRING) {
      throw InvalidArgument("Invalid input dtype: ", types[i]);
    }
    features->push_back({keys[i], form, types[i], {}, {}});
  }
}

// Dense features with their defaults, which are inputs from `defaults` on.
void AddDense(KernelContext& k, const std::vector<std::string>& keys, const TypeList& types, const ShapeList& shapes,
              int defaults, Features* features) {
  const size_t first = features->size();
  AddFeatures(keys, Form::kDense, types, features);
  k.Require(shapes.size() == keys.size(), "Expected len(dense_keys) == len(dense_shapes) but got: ", keys.size(),
            " vs. ", shapes.size());
  for (size_t d = 0; d < keys.size(); ++d) {
    Feature& feature = (*features)[first + d];
    feature.shape = shapes[d];
    k.Require(feature.shape.known_rank(), "dense_shapes[", d, "] must have a known rank");
    int64_t size = 1;
    for (int i = feature.variable() ? 1 : 0; i < feature.shape.rank(); ++i) {
      k.Require(feature.shape[i] >= 0, "dense_shapes[", d,
                "] has unknown rank or unknown inner dimensions: ", feature.shape);
      k.Require(!__builtin_mul_overflow(size, feature.shape[i], &size), "dense_shapes[", d, "] is too large");
    }
    if (defaults < 0) continue;
    feature.fallback = k.input(defaults + static_cast<int>(d));
    k.Require(feature.fallback.dtype() == feature.type, "dense_defaults[", d, "].dtype() == ", feature.fallback.dtype(),
              " != dense_types_[", d, "] == ", feature.type);
    if (feature.variable()) {
      k.Require(feature.fallback.num_elements() == 1, "dense_shape[", d,
                "] is a variable length shape: ", feature.shape, ", therefore def_value[", d,
                "] must contain a single element (the padding element).  But its shape is: ", feature.fallback.shape());
      k.Require(size > 0, "dense_shapes[", d, "] has no elements: ", feature.shape);
    } else if (feature.fallback.num_elements() > 0) {
      k.Require(feature.shape.IsCompatibleWith(feature.fallback.shape()), "def_value[", d,
                "].shape() == ", feature.fallback.shape(), " is not compatible with dense_shapes_[", d,
                "] == ", feature.shape);
    }
  }
}

// One or several serialized messages, and what they are called.
struct Messages {
  std::span<const TString> bytes, names;
  bool single;
  Messages(KernelContext& k, int at, int names_at, bool single_one) : bytes(k.in<TString>(at)), single(single_one) {
    if (names_at >= 0) names = k.in<TString>(names_at);
    if (single) {
      k.Require(k.shape(at).rank() == 0, "Expected serialized to be a scalar, got shape: ", k.shape(at));
    } else {
      k.Require(k.shape(at).rank() == 1, "Expected serialized to be a vector, got shape: ", k.shape(at));
    }
    k.Require(names.empty() || names.size() == bytes.size(),
              "Expected len(names) == len(serialized), but got: ", names.size(), " vs. ", bytes.size());
  }
  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  std::string NameOf(size_t i) const { return names.empty() ? "<unknown>" : names[i].str(); }
  [[noreturn]] void Malformed(size_t i) const {
    throw InvalidArgument("Could not parse example input, value: '", bytes[i].view(), "'");
  }
};

// The numbers of the features that have this key.
using ByKey = std::multimap<std::string, size_t, std::less<>>;
ByKey IndexByKey(const Features& features) {
  ByKey by_key;
  for (size_t f = 0; f < features.size(); ++f) {
    const auto [begin, end] = by_key.equal_range(features[f].key);
    for (auto other = begin; other != end; ++other) {
      if (features[other->second].form == features[f].form) {
        throw InvalidArgument("Feature ", features[f].key, " is asked for twice");
      }
    }
    by_key.emplace(features[f].key, f);
  }
  return by_key;
}

// rows[feature][example], from the Features in field `field`; `what` names such a feature in messages.
std::vector<Rows> ReadRows(const Messages& messages, int field, const Features& features, const char* what) {
  const ByKey by_key = IndexByKey(features);
  std::vector<Rows> rows(features.size(), Rows(messages.size()));
  for (size_t e = 0; e < messages.bytes.size(); ++e) {
    const auto visit = [&](std::string_view key, std::string_view message) {
      const auto [begin, end] = by_key.equal_range(key);
      for (auto entry = begin; entry != end; ++entry) {
        const Feature& feature = features[entry->second];
        const auto fail = [&](const auto&... parts) {
          return InvalidArgument("Name: ", messages.NameOf(e), what, key, ", Index: ", e, ".  ", parts...);
        };
        FeatureValues values;
        if (!ReadFeature(message, &values)) throw fail("Can't parse serialized Example.");
        if (values.type == DT_INVALID) continue;  // it is there, and empty
        if (values.type != feature.type) {
          throw fail("Data types don't match. Data type: ", values.type, " but expected type: ", feature.type,
                     "  Feature is: ", ListName(values.type));
        }
        const int64_t size = feature.form == Form::kDense ? feature.size() : 0;
        if (feature.variable() && values.size % size != 0) {
          throw fail("Number of ", TypeName(feature.type), " values is not a multiple of stride length. Saw ",
                     values.size, " values but output shape is: ", feature.shape);
        }
        if (feature.form == Form::kDense && !feature.variable() && values.size != size) {
          throw fail("Number of ", TypeName(feature.type), " values != expected.  Values size: ", values.size,
                     " but output shape: ", feature.shape);
        }
        rows[entry->second][e] = std::move(values);
      }
    };
    if (!VisitFeatures(messages.bytes[e].view(), field, visit)) messages.Malformed(e);
  }
  return rows;
}

// The same for the FeatureLists of a SequenceExample.
std::vector<ListRows> ReadLists(const Messages& messages, const Features& features) {
  const ByKey by_key = IndexByKey(features);
  std::vector<ListRows> rows(features.size(), ListRows(messages.size()));
  for (size_t e = 0; e < messages.bytes.size(); ++e) {
    const auto visit = [&](std::string_view key, std::string_view list) {
      const auto [begin, end] = by_key.equal_range(key);
      for (auto entry = begin; entry != end; ++entry) {
        const Feature& feature = features[entry->second];
        std::vector<FeatureValues> steps;
        const auto step = [&](std::string_view message) {
          FeatureValues values;
          if (!ReadFeature(message, &values)) {
            throw InvalidArgument("Error in sequence feature ", key, " in example ", messages.NameOf(e));
          }
          const bool empty = values.type == DT_INVALID;
          if (empty ? feature.form == Form::kDense : values.type != feature.type) {
            throw InvalidArgument("Name: ", messages.NameOf(e), ", Feature list: ", key, ", Index: ", steps.size(),
                                  ".  Data types don't match. Expected type: ", feature.type,
                                  "  Feature is: ", ListName(values.type));
          }
          if (feature.form == Form::kDense && values.size != feature.size()) {
            throw InvalidArgument("Name: ", messages.NameOf(e), ", Key: ", key, ", Index: ", steps.size(),
                                  ".  Number of ", TypeName(feature.type),
                                  " values != expected.  values size: ", values.size,
                                  " but output shape: ", feature.shape);
          }
          steps.push_back(std::move(values));
        };
        if (!VisitList(list, step)) {
          throw InvalidArgument("Error in sequence feature ", key, " in example ", messages.NameOf(e));
        }
        rows[entry->second][e] = std::move(steps);
      }
    };
    if (!VisitFeatures(messages.bytes[e].view(), 2, visit)) messages.Malformed(e);
  }
  return rows;
}

Tensor NewTensor(DataType type, std::vector<int64_t> dims) { return Tensor(type, Shape(dims)); }

// --- outputs of plain features

// Indices, values and shape: [example, position], or the position alone.
void PutSparse(KernelContext& k, const Rows& rows, DataType type, bool single, int indices_at, int values_at,
               int shape_at) {
  int64_t total = 0, longest = 0;
  for (const Row& row : rows) {
    const int64_t n = row ? row->size : 0;
    total += n;
    longest = std::max(longest, n);
  }
  const int64_t rank = single ? 1 : 2;
  Tensor indices = NewTensor(DT_INT64, {total, rank}), values = NewTensor(type, {total});
  int64_t* index = indices.mutable_data<int64_t>();
  int64_t at = 0;
  for (size_t e = 0; e < rows.size(); ++e) {
    if (!rows[e]) continue;
    for (int64_t i = 0; i < rows[e]->size; ++i) {
      if (!single) *index++ = static_cast<int64_t>(e);
      *index++ = i;
    }
    rows[e]->CopyTo(&values, at);
    at += rows[e]->size;
  }
  std::vector<int64_t> shape = {longest};
  if (!single) shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  k.SetOutput(indices_at, indices);
  k.SetOutput(values_at, values);
  k.SetOutput(shape_at, Tensor::Vector<int64_t>(shape));
}

template <class T>
void Fill(Tensor* to, int64_t at, int64_t n, const Tensor& from, bool repeat) {
  const T* values = from.data<T>();
  for (int64_t i = 0; i < n; ++i) to->mutable_data<T>()[at + i] = values[repeat ? 0 : i];
}
// Elements [at, at + n): the default's, or one value repeated.
void FillDefault(Tensor* to, int64_t at, int64_t n, const Tensor& from, bool repeat) {
  if (to->dtype() == DT_INT64) Fill<int64_t>(to, at, n, from, repeat);
  if (to->dtype() == DT_FLOAT) Fill<float>(to, at, n, from, repeat);
  if (to->dtype() == DT_STRING) Fill<TString>(to, at, n, from, repeat);
}

void PutDense(KernelContext& k, const Feature& feature, const Rows& rows, const Messages& messages, int at) {
  std::vector<int64_t> dims = feature.shape.dims();
  const bool variable = feature.variable();
  if (variable) {
    dims[0] = 0;
    for (const Row& row : rows) dims[0] = std::max(dims[0], row ? row->size / feature.size() : 0);
  }
  const int64_t size = Shape(dims).num_elements();
  if (!messages.single) dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  Tensor out = NewTensor(feature.type, dims);
  for (size_t e = 0; e < rows.size(); ++e) {
    const int64_t first = static_cast<int64_t>(e) * size;
    if (rows[e]) {
      rows[e]->CopyTo(&out, first);
      const int64_t n = rows[e]->size;
      if (variable) FillDefault(&out, first + n, size - n, feature.fallback, true);
      continue;
    }
    if (!variable && (!feature.fallback.initialized() || feature.fallback.num_elements() == 0) && size > 0) {
      throw InvalidArgument("Name: ", messages.NameOf(e), ", Feature: ", feature.key, " (data type: ", feature.type,
                            ") is required but could not be found.");
    }
    FillDefault(&out, first, size, feature.fallback, variable);
  }
  k.SetOutput(at, out);
}

// Row splits of either integer type.
Tensor Splits(DataType type, const std::vector<int64_t>& ends, bool none) {
  if (none) return NewTensor(type, {0});
  Tensor splits = NewTensor(type, {static_cast<int64_t>(ends.size()) + 1});
  for (size_t i = 0; i <= ends.size(); ++i) {
    const int64_t end = i == 0 ? 0 : ends[i - 1];
    if (type == DT_INT32) {
      splits.mutable_data<int32_t>()[i] = static_cast<int32_t>(end);
    } else {
      splits.mutable_data<int64_t>()[i] = end;
    }
  }
  return splits;
}

void PutRagged(KernelContext& k, const Rows& rows, DataType type, bool single, int values_at, int splits_at) {
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (const Row& row : rows) ends.push_back(total += row ? row->size : 0);
  Tensor values = NewTensor(type, {total});
  for (size_t e = 0; e < rows.size(); ++e) {
    if (rows[e]) rows[e]->CopyTo(&values, e == 0 ? 0 : ends[e - 1]);
  }
  k.SetOutput(values_at, values);
  k.SetOutput(splits_at, Splits(k.node().output_type(splits_at), ends, single));
}

// Outputs from `at` on: sparse indices, values, shapes; dense values; ragged values, splits. Returns what follows.
int PutFeatures(KernelContext& k, const Features& features, const std::vector<Rows>& rows, const Messages& messages,
                int at) {
  const auto count = [&](Form form) {
    return static_cast<int>(
        std::count_if(features.begin(), features.end(), [form](const Feature& f) { return f.form == form; }));
  };
  const int sparse = count(Form::kSparse), dense = count(Form::kDense), ragged = count(Form::kRagged);
  int s = 0, d = 0, r = 0;
  for (size_t f = 0; f < features.size(); ++f) {
    const Feature& feature = features[f];
    switch (feature.form) {
      case Form::kSparse:
        PutSparse(k, rows[f], feature.type, messages.single, at + s, at + sparse + s, at + 2 * sparse + s);
        ++s;
        break;
      case Form::kDense: PutDense(k, feature, rows[f], messages, at + 3 * sparse + d++); break;
      case Form::kRagged:
        PutRagged(k, rows[f], feature.type, messages.single, at + 3 * sparse + dense + r,
                  at + 3 * sparse + dense + ragged + r);
        ++r;
    }
  }
  return at + 3 * sparse + dense + 2 * ragged;
}

// --- outputs of feature lists

void PutSparseLists(KernelContext& k, const ListRows& rows, DataType type, bool single, int indices_at, int values_at,
                    int shape_at) {
  int64_t total = 0, steps = 0, longest = 0;
  for (const ListRow& row : rows) {
    if (!row) continue;
    steps = std::max(steps, static_cast<int64_t>(row->size()));
    for (const FeatureValues& values : *row) {
      total += values.size;
      longest = std::max(longest, values.size);
    }
  }
  Tensor indices = NewTensor(DT_INT64, {total, single ? 2 : 3}), all = NewTensor(type, {total});
  int64_t* index = indices.mutable_data<int64_t>();
  int64_t at = 0;
  for (size_t e = 0; e < rows.size(); ++e) {
    if (!rows[e]) continue;
    for (size_t t = 0; t < rows[e]->size(); ++t) {
      const FeatureValues& values = (*rows[e])[t];
      for (int64_t i = 0; i < values.size; ++i) {
        if (!single) *index++ = static_cast<int64_t>(e);
        *index++ = static_cast<int64_t>(t);
        *index++ = i;
      }
      values.CopyTo(&all, at);
      at += values.size;
    }
  }
  std::vector<int64_t> shape = {steps, longest};
  if (!single) shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  k.SetOutput(indices_at, indices);
  k.SetOutput(values_at, all);
  k.SetOutput(shape_at, Tensor::Vector<int64_t>(shape));
}

// Shorter lists are filled up with zeros; lengths_at < 0: nobody asks for lengths.
void PutDenseLists(KernelContext& k, const Feature& feature, bool missing_is_empty, const ListRows& rows,
                   const Messages& messages, int values_at, int lengths_at) {
  int64_t steps = 0;
  std::vector<int64_t> lengths;
  for (size_t e = 0; e < rows.size(); ++e) {
    if (!rows[e] && !missing_is_empty) {
      throw InvalidArgument("Name: ", messages.NameOf(e), ", Feature list '", feature.key,
                            "' is required but could not be found.  Did you mean to include it in "
                            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?");
    }
    lengths.push_back(rows[e] ? static_cast<int64_t>(rows[e]->size()) : 0);
    steps = std::max(steps, lengths.back());
  }
  std::vector<int64_t> dims = feature.shape.dims();
  dims.insert(dims.begin(), steps);
  if (!messages.single) dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  Tensor out = NewTensor(feature.type, dims);
  if (feature.type != DT_STRING && out.bytes() > 0) std::fill_n(static_cast<char*>(out.mutable_raw()), out.bytes(), 0);
  const int64_t size = feature.size();
  for (size_t e = 0; e < rows.size(); ++e) {
    for (int64_t t = 0; t < lengths[e]; ++t) {
      (*rows[e])[t].CopyTo(&out, (static_cast<int64_t>(e) * steps + t) * size);
    }
  }
  k.SetOutput(values_at, out);
  if (lengths_at >= 0) {
    k.SetOutput(lengths_at, messages.single ? Tensor(lengths[0]) : Tensor::Vector<int64_t>(lengths));
  }
}

void PutRaggedLists(KernelContext& k, const ListRows& rows, DataType type, bool single, int values_at, int outer_at,
                    int inner_at) {
  std::vector<int64_t> outer, inner;
  int64_t total = 0, steps = 0;
  for (const ListRow& row : rows) {
    if (row) {
      for (const FeatureValues& values : *row) inner.push_back(total += values.size);
      steps += static_cast<int64_t>(row->size());
    }
    outer.push_back(steps);
  }
  Tensor all = NewTensor(type, {total});
  int64_t at = 0;
  for (const ListRow& row : rows) {
    if (!row) continue;
    for (const FeatureValues& values : *row) {
      values.CopyTo(&all, at);
      at += values.size;
    }
  }
  k.SetOutput(values_at, all);
  k.SetOutput(outer_at, Splits(k.node().output_type(outer_at), outer, single));
  k.SetOutput(inner_at, Splits(k.node().output_type(inner_at), inner, false));
}

// --- the ops

class ParseExample {
 public:
  explicit ParseExample(const NodeView& node)
      : second_version_(node.op().name == "ParseExampleV2"),
        sparse_types_(node.attr<TypeList>("sparse_types")),
        dense_types_(node.attr<TypeList>("Tdense")),
        ragged_types_(node.attr_or<TypeList>("ragged_value_types", {})),
        dense_shapes_(node.attr<ShapeList>("dense_shapes")) {
    const int64_t sparse = node.attr<int64_t>(second_version_ ? "num_sparse" : "Nsparse");
    if (sparse != static_cast<int64_t>(sparse_types_.size())) {
      throw InvalidArgument("len(sparse_keys) != len(sparse_types)");
    }
    if (dense_shapes_.size() != dense_types_.size()) throw InvalidArgument("len(dense_keys) != len(dense_shapes)");
    if (ragged_types_.size() != node.attr_or<TypeList>("ragged_split_types", {}).size()) {
      throw InvalidArgument("len(ragged_value_types) != len(ragged_split_types)");
    }
  }

  void operator()(KernelContext& k) const {
    const Messages messages(k, 0, 1, second_version_ && k.shape(0).rank() == 0);
    const int sparse = static_cast<int>(sparse_types_.size()), dense = static_cast<int>(dense_types_.size());
    Features features;
    if (second_version_) {
      AddFeatures(Keys(k, 2), Form::kSparse, sparse_types_, &features);
      AddDense(k, Keys(k, 3), dense_types_, dense_shapes_, 5, &features);
      AddFeatures(Keys(k, 4), Form::kRagged, ragged_types_, &features);
    } else {
      AddFeatures(ScalarKeys(k, 2, sparse), Form::kSparse, sparse_types_, &features);
      AddDense(k, ScalarKeys(k, 2 + sparse, dense), dense_types_, dense_shapes_, 2 + sparse + dense, &features);
    }
    PutFeatures(k, features, ReadRows(messages, 1, features, ", Key: "), messages, 0);
  }

 private:
  const bool second_version_;
  const TypeList sparse_types_, dense_types_, ragged_types_;
  const ShapeList dense_shapes_;
};

class ParseSingleExample {
 public:
  explicit ParseSingleExample(const NodeView& node)
      : sparse_keys_(node.attr<std::vector<std::string>>("sparse_keys")),
        dense_keys_(node.attr<std::vector<std::string>>("dense_keys")),
        sparse_types_(node.attr<TypeList>("sparse_types")),
        dense_types_(node.attr<TypeList>("Tdense")),
        dense_shapes_(node.attr<ShapeList>("dense_shapes")) {
    if (static_cast<int64_t>(sparse_keys_.size()) != node.attr<int64_t>("num_sparse") ||
        sparse_keys_.size() != sparse_types_.size()) {
      throw InvalidArgument("num_sparse (", node.attr<int64_t>("num_sparse"), ") must match the size of sparse_keys (",
                            sparse_keys_.size(), ") and sparse_types (", sparse_types_.size(), ")");
    }
    if (dense_keys_.size() != dense_types_.size() || dense_shapes_.size() != dense_types_.size()) {
      throw InvalidArgument("len(dense_keys) != len(dense_types)");
    }
  }

  void operator()(KernelContext& k) const {
    const Messages messages(k, 0, -1, true);
    Features features;
    AddFeatures(sparse_keys_, Form::kSparse, sparse_types_, &features);
    AddDense(k, dense_keys_, dense_types_, dense_shapes_, 1, &features);
    PutFeatures(k, features, ReadRows(messages, 1, features, ", Key: "), messages, 0);
  }

 private:
  const std::vector<std::string> sparse_keys_, dense_keys_;
  const TypeList sparse_types_, dense_types_;
  const ShapeList dense_shapes_;
};

// Three ops that differ in where keys come from, and in what they give.
class ParseSequenceExample {
 public:
  explicit ParseSequenceExample(const NodeView& node)
      : op_(node.op().name),
        sparse_types_(node.attr<TypeList>("context_sparse_types")),
        dense_types_(node.attr<TypeList>("Tcontext_dense")),
        ragged_types_(node.attr_or<TypeList>("context_ragged_value_types", {})),
        list_sparse_types_(node.attr<TypeList>("feature_list_sparse_types")),
        list_dense_types_(node.attr<TypeList>("feature_list_dense_types")),
        list_ragged_types_(node.attr_or<TypeList>("feature_list_ragged_value_types", {})),
        dense_shapes_(node.attr<ShapeList>("context_dense_shapes")),
        list_dense_shapes_(node.attr<ShapeList>("feature_list_dense_shapes")) {
    const auto require = [&](const char* count, size_t n) {
      if (const AttrValue* value = node.attrs().Find(count)) {
        if (*value->If<int64_t>() != static_cast<int64_t>(n))
          throw InvalidArgument(count, " does not match the types, of which there are ", n);
      }
    };
    require("Ncontext_sparse", sparse_types_.size());
    require("Ncontext_dense", dense_types_.size());
    require("Nfeature_list_sparse", list_sparse_types_.size());
    require("Nfeature_list_dense", list_dense_types_.size());
    if (ragged_types_.size() != node.attr_or<TypeList>("context_ragged_split_types", {}).size() ||
        list_ragged_types_.size() != node.attr_or<TypeList>("feature_list_ragged_split_types", {}).size()) {
      throw InvalidArgument("the types of ragged values and of their splits must be equally many");
    }
    if (op_ == "ParseSequenceExample") {
      for (const char* name :
           {"context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys"}) {
        keys_.push_back(node.attr<std::vector<std::string>>(name));
      }
      assumed_empty_ = node.attr<std::vector<std::string>>("feature_list_dense_missing_assumed_empty");
    }
  }

  void operator()(KernelContext& k) const {
    Features context, lists;
    std::vector<bool> assumed_empty;
    std::optional<Messages> messages;
    const int sparse = static_cast<int>(sparse_types_.size()), dense = static_cast<int>(dense_types_.size()),
              list_sparse = static_cast<int>(list_sparse_types_.size()),
              list_dense = static_cast<int>(list_dense_types_.size());
    const auto add = [&](const std::vector<std::string>& sparse_keys, const std::vector<std::string>& dense_keys,
                         int defaults, const std::vector<std::string>& list_sparse_keys,
                         const std::vector<std::string>& list_dense_keys) {
      AddFeatures(sparse_keys, Form::kSparse, sparse_types_, &context);
      AddDense(k, dense_keys, dense_types_, dense_shapes_, defaults, &context);
      AddFeatures(list_sparse_keys, Form::kSparse, list_sparse_types_, &lists);
      AddDense(k, list_dense_keys, list_dense_types_, list_dense_shapes_, -1, &lists);
    };
    const auto mark = [&](const std::vector<std::string>& empty_keys) {
      for (const Feature& feature : lists) {
        if (feature.form != Form::kDense) continue;
        assumed_empty.push_back(std::find(empty_keys.begin(), empty_keys.end(), feature.key) != empty_keys.end());
      }
    };
    if (op_ == "ParseSequenceExample") {
      messages.emplace(k, 0, 1, false);
      add(keys_[0], keys_[1], 2, keys_[2], keys_[3]);
      mark(assumed_empty_);
    } else if (op_ == "ParseSingleSequenceExample") {
      int at = 2;
      const auto keys = [&](int n) {
        at += n;
        return ScalarKeys(k, at - n, n);
      };
      const auto context_sparse = keys(sparse), context_dense = keys(dense), sparse_lists = keys(list_sparse),
                 dense_lists = keys(list_dense);
      messages.emplace(k, 0, at + dense, true);
      add(context_sparse, context_dense, at, sparse_lists, dense_lists);
      mark(Keys(k, 1));
    } else {
      messages.emplace(k, 0, 1, k.shape(0).rank() == 0);
      add(Keys(k, 2), Keys(k, 3), 9, Keys(k, 5), Keys(k, 6));
      AddFeatures(Keys(k, 4), Form::kRagged, ragged_types_, &context);
      AddFeatures(Keys(k, 7), Form::kRagged, list_ragged_types_, &lists);
      k.Require(k.input(8).num_elements() == list_dense, "feature_list_dense_missing_assumed_empty must have ",
                list_dense, " elements, but has shape ", k.shape(8));
      for (const bool empty : k.in<bool>(8)) assumed_empty.push_back(empty);
    }
    for (const Feature& feature : lists) {
      k.Require(feature.form != Form::kDense || !feature.variable(), "The shape of feature list ", feature.key,
                " must be known, but is ", feature.shape);
    }
    const int at = PutFeatures(k, context, ReadRows(*messages, 1, context, ", Context feature: "), *messages, 0);
    PutLists(k, lists, ReadLists(*messages, lists), assumed_empty, *messages, at);
  }

 private:
  void PutLists(KernelContext& k, const Features& lists, const std::vector<ListRows>& rows,
                const std::vector<bool>& assumed_empty, const Messages& messages, int at) const {
    const int sparse = static_cast<int>(list_sparse_types_.size()), dense = static_cast<int>(list_dense_types_.size()),
              ragged = static_cast<int>(list_ragged_types_.size());
    const bool lengths = op_ != "ParseSingleSequenceExample";
    const int dense_at = at + 3 * sparse, ragged_at = dense_at + (lengths ? 2 : 1) * dense;
    int s = 0, d = 0, r = 0;
    for (size_t f = 0; f < lists.size(); ++f) {
      const DataType type = lists[f].type;
      switch (lists[f].form) {
        case Form::kSparse:
          PutSparseLists(k, rows[f], type, messages.single, at + s, at + sparse + s, at + 2 * sparse + s);
          ++s;
          break;
        case Form::kDense:
          PutDenseLists(k, lists[f], assumed_empty[d], rows[f], messages, dense_at + d,
                        lengths ? dense_at + dense + d : -1);
          ++d;
          break;
        case Form::kRagged:
          PutRaggedLists(k, rows[f], type, messages.single, ragged_at + r, ragged_at + ragged + r,
                         ragged_at + 2 * ragged + r);
          ++r;
      }
    }
  }

  const std::string op_;
  const TypeList sparse_types_, dense_types_, ragged_types_, list_sparse_types_, list_dense_types_, list_ragged_types_;
  const ShapeList dense_shapes_, list_dense_shapes_;
  std::vector<std::vector<std::string>> keys_;
  std::vector<std::string> assumed_empty_;
};

}  // namespace

void RegisterParsingKernels(KernelRegistry& kernels) {
  kernels.Add<ParseExample>("ParseExample");
  kernels.Add<ParseExample>("ParseExampleV2");
  kernels.Add<ParseSingleExample>("ParseSingleExample");
  kernels.Add<ParseSequenceExample>("ParseSequenceExample");
  kernels.Add<ParseSequenceExample>("ParseSequenceExampleV2");
  kernels.Add<ParseSequenceExample>("ParseSingleSequenceExample");
}

}  // namespace penstock
