// The ops on lookup tables.
#include <algorithm>

#include "penstock/base/behavior.h"
#include "penstock/base/parse_number.h"
#include "penstock/base/strings.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/lookup_table.h"
#include "penstock/kernels/cpu/state/named_resource.h"
#include "penstock/kernels/cpu/strings/vocabulary.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

using KeyTypes = Types<int32_t, int64_t, TString>;

LookupTable::Spec MakeSpec(const NodeView& node) {
  const std::string& op = node.op().name;
  LookupTable::Spec spec;
  spec.kind = op.find("Dense") != op.npos     ? LookupTable::Kind::kDense
              : op.find("Mutable") != op.npos ? LookupTable::Kind::kMutable
                                              : LookupTable::Kind::kFixed;
  spec.key_type = node.attr<DataType>("key_dtype");
  spec.value_type = node.attr<DataType>("value_dtype");
  if (const AttrValue* shape = node.attrs().Find("value_shape")) {
    const auto* value_shape = shape->If<PartialShape>();
    if (!value_shape || !value_shape->fully_known()) throw InvalidArgument("value_shape must be known");
    spec.value_shape = value_shape->AsShape();
    if (spec.value_shape.rank() > 1) {
      throw InvalidArgument("Default value must be a vector, got shape ", spec.value_shape);
    }
  }
  if (spec.kind == LookupTable::Kind::kDense) {
    spec.buckets = node.attr<int64_t>("initial_num_buckets");
    spec.max_load = node.attr<float>("max_load_factor");
    if (!(spec.max_load > 0 && spec.max_load < 1)) {
      throw InvalidArgument("max_load_factor must be between 0 and 1, got: ", spec.max_load);
    }
    if (spec.buckets < 4 || (spec.buckets & (spec.buckets - 1)) != 0) {
      throw InvalidArgument("Number of buckets must be at least 4 and a power of 2, got: ", spec.buckets);
    }
  }
  return spec;
}

// The special keys of a dense table are inputs.
LookupTable::Spec Complete(KernelContext& k, LookupTable::Spec spec, const std::string& name) {
  spec.name = name;
  if (spec.kind != LookupTable::Kind::kDense) return spec;
  k.Require(k.shape(0).rank() <= 1, "Empty key must be a scalar or a vector, got shape ", k.shape(0));
  spec.empty_key = k.input(0).Clone();
  spec.key_shape = spec.empty_key.shape();
  if (k.num_inputs() > 1) {
    k.Require(k.shape(1) == k.shape(0), "Empty and deleted keys must have same shape, got shapes: ", k.shape(0),
              " and ", k.shape(1));
    spec.deleted_key = k.input(1).Clone();
  }
  return spec;
}

constexpr const char* kTypeName = "tensorflow::lookup::LookupInterface";

class TableKernel : public NamedResourceKernel<LookupTable> {
 public:
  explicit TableKernel(const NodeView& node) : NamedResourceKernel(node, kTypeName), spec_(MakeSpec(node)) {}

 protected:
  Ref<LookupTable> Make(KernelContext& k, const std::string& name) const override {
    return MakeRef<LookupTable>(Complete(k, spec_, name));
  }
  void CheckSharing(KernelContext& k, const LookupTable& table) const override {
    const LookupTable::Spec& other = table.spec();
    k.Require(other.key_type == spec_.key_type && other.value_type == spec_.value_type, "Conflicting key/value dtypes ",
              spec_.key_type, "->", spec_.value_type, " with ", other.key_type, "-", other.value_type, " for table ",
              other.name);
  }

 private:
  const LookupTable::Spec spec_;
};

// A table that lives as long as its handles.
struct AnonymousTable {
  LookupTable::Spec spec;
  explicit AnonymousTable(const NodeView& node) : spec(MakeSpec(node)) {}
  void operator()(KernelContext& k) const {
    Tensor handle(DT_RESOURCE, Shape());
    *handle.mutable_data<ResourceHandle>() = {
        k.device().name(), "", "anonymous table",
        kTypeName,         {}, MakeRef<LookupTable>(Complete(k, spec, "anonymous table"))};
    k.SetOutput(0, handle);
  }
};

Ref<LookupTable> TableOf(KernelContext& k) { return NamedResource<LookupTable>(k, 0); }

struct Find {
  void operator()(KernelContext& k) const {
    const Ref<LookupTable> table = TableOf(k);
    k.SetOutput(0, table->Find(k.input(1), k.input(2)));
  }
};
struct Insert {
  void operator()(KernelContext& k) const { TableOf(k)->Insert(k.input(1), k.input(2)); }
};
struct Remove {
  void operator()(KernelContext& k) const { TableOf(k)->Remove(k.input(1)); }
};
struct Import {
  void operator()(KernelContext& k) const { TableOf(k)->Import(k.input(1), k.input(2)); }
};
struct Size {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(TableOf(k)->Size())); }
};
struct Export {
  void operator()(KernelContext& k) const {
    const Ref<LookupTable> table = TableOf(k);
    k.Require(table->spec().key_type == k.node().output_type(0) && table->spec().value_type == k.node().output_type(1),
              "The table holds ", table->spec().key_type, "->", table->spec().value_type, ", not ",
              k.node().output_type(0), "->", k.node().output_type(1));
    auto [keys, values] = table->Export();
    k.SetOutput(0, std::move(keys));
    k.SetOutput(1, std::move(values));
  }
};
struct Initialize {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 1, "Keys must be a vector, but received shape", k.shape(1));
    k.Require(k.shape(2).rank() == 1, "Values must be a vector, but received shape", k.shape(2));
    k.Require(k.shape(1) == k.shape(2), "Keys and values must have the same size ", k.input(1).num_elements(), " vs ",
              k.input(2).num_elements());
    TableOf(k)->Initialize(k.input(1), k.input(2));
  }
};

// Lines of a file as keys and values.
class InitializeFromFile {
 public:
  explicit InitializeFromFile(const NodeView& node)
      : key_(node.attr<int64_t>("key_index")),
        value_(node.attr<int64_t>("value_index")),
        most_(node.attr<int64_t>("vocab_size")),
        offset_(node.attr_or<int64_t>("offset", 0)) {
    const auto& delimiter = node.attr<std::string>("delimiter");
    if (delimiter.size() != 1) throw InvalidArgument("delimiter should be only 1 char");
    delimiter_ = delimiter[0];
  }

  void operator()(KernelContext& k) const {
    const Ref<LookupTable> table = TableOf(k);
    k.Require(k.shape(1).rank() == 0, "filename should be a single string, but got ", k.shape(1));
    const std::string path = k.Scalar<TString>(1).str();
    k.Require(!path.empty(), "filename cannot be empty.");
    CheckColumn("Key", key_, table->spec().key_type);
    CheckColumn("Value", value_, table->spec().value_type);
    k.Require(table->spec().kind == LookupTable::Kind::kFixed, "Table ", table->spec().name, " is not initializable");
    if (table->initialized()) return;
    const std::vector<std::string> lines = VocabularyLines(path, most_);
    const auto n = static_cast<int64_t>(lines.size());
    Tensor keys(table->spec().key_type, Shape({n})), values(table->spec().value_type, Shape({n}));
    for (int64_t i = 0; i < n; ++i) {
      std::vector<std::string_view> columns;
      if (std::max(key_, value_) >= 0) {
        columns = StrSplit(lines[i], delimiter_);
        const auto found = static_cast<int64_t>(columns.size());
        k.Require(std::max(key_, value_) < found, "Invalid number of columns in ", path, " line ", i, " (", lines[i],
                  ") : expected at least ", std::max(key_, value_) + 1, " got ", found);
      }
      Put(lines[i], columns, key_, i, &keys);
      Put(lines[i], columns, value_, i, &values);
    }
    table->Initialize(keys, values);
  }

 private:
  static constexpr int64_t kWholeLine = -2, kLineNumber = -1;

  static void CheckColumn(const char* what, int64_t column, DataType type) {
    if (column == kLineNumber && type != DT_INT64) {
      throw InvalidArgument(what, " index for line number requires table ", what[0] == 'K' ? "key" : "value",
                            " dtype of int64, got ", type);
    }
    const bool key = what[0] == 'K';
    const bool of_numbers = key || BehavesAsVersionTwo();
    if (column == kWholeLine && type != DT_STRING && !(of_numbers && IsInteger(type))) {
      throw InvalidArgument(what, " index for whole line requires ",
                            key          ? "string or integer table key"
                            : of_numbers ? "table value dtype of integer or string"
                                         : "table value dtype of string",
                            ", got ", type);
    }
  }

  void Put(const std::string& line, const std::vector<std::string_view>& columns, int64_t column, int64_t i,
           Tensor* to) const {
    if (column == kLineNumber) {
      to->mutable_data<int64_t>()[i] = i + offset_;
      return;
    }
    const std::string_view text = column == kWholeLine ? std::string_view(line) : columns[column];
    bool good = true;
    switch (to->dtype()) {
      case DT_STRING: to->mutable_data<TString>()[i] = text; break;
      case DT_INT32:
        good = ParseNumber(text, &to->mutable_data<int32_t>()[i]);
        if (BehavesAsVersionTwo()) to->mutable_data<uint32_t>()[i] += static_cast<uint32_t>(offset_);
        break;
      case DT_INT64: good = ParseNumber(text, &to->mutable_data<int64_t>()[i]); break;
      case DT_FLOAT: good = ParseNumber(text, &to->mutable_data<float>()[i]); break;
      case DT_DOUBLE: good = ParseNumber(text, &to->mutable_data<double>()[i]); break;
      default: throw InvalidArgument("Data type ", to->dtype(), " not supported.");
    }
    if (!good) throw InvalidArgument("Field ", text, " in line ", i, " is not a valid ", to->dtype(), ".");
  }

  const int64_t key_, value_, most_, offset_;
  char delimiter_;
};

}  // namespace

void RegisterLookupKernels(KernelRegistry& kernels) {
  for (const char* version : {"", "V2"}) {
    const auto name = [&](const char* op) { return StrCat(op, version); };
    for (const char* op : {"HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable"}) {
      kernels.Add<TableKernel>(name(op), KeyTypes{}, "key_dtype");
    }
    kernels.Add<Find>(name("LookupTableFind"));
    kernels.Add<Insert>(name("LookupTableInsert"));
    kernels.Add<Import>(name("LookupTableImport"));
    kernels.Add<Export>(name("LookupTableExport"));
    kernels.Add<Size>(name("LookupTableSize")).HostOutput(0);
    kernels.Add<Initialize>(name("InitializeTable"));
    kernels.Add<InitializeFromFile>(name("InitializeTableFromTextFile"));
  }
  kernels.Add<Remove>("LookupTableRemoveV2");
  for (const char* op : {"HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable"}) {
    kernels.Add<AnonymousTable>(StrCat("Anonymous", op), KeyTypes{}, "key_dtype");
  }
}

}  // namespace penstock
