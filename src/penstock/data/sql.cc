// The rows that a query gives. SQLite's library is opened when a database is first read; nothing is linked with it.
#include <dlfcn.h>

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

// What is used of SQLite's C interface, version 3.
struct Sqlite {
  static constexpr int kOk = 0, kRow = 100, kDone = 101;
  static constexpr int kReadWrite = 2, kCreate = 4;
  int (*open_v2)(const char* path, void** database, int flags, const char* vfs);
  int (*close_v2)(void* database);
  int (*prepare_v2)(void* database, const char* query, int bytes, void** statement, const char** tail);
  int (*step)(void* statement);
  int (*finalize)(void* statement);
  int (*column_count)(void* statement);
  int64_t (*column_int64)(void* statement, int column);
  double (*column_double)(void* statement, int column);
  const void* (*column_blob)(void* statement, int column);
  int (*column_bytes)(void* statement, int column);
  const char* (*errmsg)(void* database);

  // Unimplemented if the library is not installed.
  static const Sqlite& Get() {
    static const Sqlite sqlite;
    return sqlite;
  }

 private:
  Sqlite() {
    void* library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Unimplemented("SQL databases need SQLite, which is not installed: ", dlerror());
    const auto find = [&](const char* name, auto* function) {
      *reinterpret_cast<void**>(function) = dlsym(library, name);
      if (!*function) throw Unimplemented("SQLite's library has no ", name);
    };
    find("sqlite3_open_v2", &open_v2);
    find("sqlite3_close_v2", &close_v2);
    find("sqlite3_prepare_v2", &prepare_v2);
    find("sqlite3_step", &step);
    find("sqlite3_finalize", &finalize);
    find("sqlite3_column_count", &column_count);
    find("sqlite3_column_int64", &column_int64);
    find("sqlite3_column_double", &column_double);
    find("sqlite3_column_blob", &column_blob);
    find("sqlite3_column_bytes", &column_bytes);
    find("sqlite3_errmsg", &errmsg);
  }
};

// A query that runs.
class Query {
 public:
  Query(const std::string& path, const std::string& query, size_t num_columns) {
    if (sqlite_.open_v2(path.c_str(), &database_, Sqlite::kReadWrite | Sqlite::kCreate, nullptr) != Sqlite::kOk) {
      Fail(Code::kInvalidArgument, StrCat("Sqlite::Open(", path, ") failed: ", sqlite_.errmsg(database_)));
    }
    if (const int code = sqlite_.prepare_v2(database_, query.c_str(), -1, &statement_, nullptr); code != Sqlite::kOk) {
      Fail(Code::kUnknown, StrCat("Prepare() failed: [", code, "] ", sqlite_.errmsg(database_), ": ", query));
    }
    const auto columns = static_cast<size_t>(sqlite_.column_count(statement_));
    if (columns == num_columns) return;
    Close();
    throw InvalidArgument("The number of columns in query (", columns,
                          ") must match the number of elements in output_types (", num_columns, ").");
  }
  ~Query() { Close(); }
  Query(const Query&) = delete;

  bool Next() {  // false at the end
    const int result = sqlite_.step(statement_);
    if (result == Sqlite::kRow) return true;
    if (result != Sqlite::kDone) {
      throw Error(Status(Code::kUnknown, StrCat("Step() failed: [", result, "] ", sqlite_.errmsg(database_))));
    }
    return false;
  }
  Tensor Column(int i, DataType type) const {
    const auto integer = [&] { return sqlite_.column_int64(statement_, i); };
    switch (type) {
      case DT_INT8: return Tensor(static_cast<int8_t>(integer()));
      case DT_INT16: return Tensor(static_cast<int16_t>(integer()));
      case DT_INT32: return Tensor(static_cast<int32_t>(integer()));
      case DT_INT64: return Tensor(integer());
      case DT_UINT8: return Tensor(static_cast<uint8_t>(integer()));
      case DT_UINT16: return Tensor(static_cast<uint16_t>(integer()));
      case DT_BOOL: return Tensor(integer() != 0);
      case DT_DOUBLE: return Tensor(sqlite_.column_double(statement_, i));
      default: {
        const auto* text = static_cast<const char*>(sqlite_.column_blob(statement_, i));
        const auto size = static_cast<size_t>(sqlite_.column_bytes(statement_, i));
        return Tensor(TString(text ? std::string_view(text, size) : std::string_view()));
      }
    }
  }

 private:
  [[noreturn]] void Fail(Code code, std::string message) {
    Close();
    throw Error(Status(code, std::move(message)));
  }
  void Close() {
    sqlite_.finalize(statement_);
    sqlite_.close_v2(database_);
    statement_ = database_ = nullptr;
  }
  const Sqlite& sqlite_ = Sqlite::Get();
  void* database_ = nullptr;
  void* statement_ = nullptr;
};

class SqlDataset final : public Dataset {
 public:
  SqlDataset(ElementSpec spec, std::string path, std::string query)
      : Dataset("Sql", std::move(spec)), path_(std::move(path)), query_(std::move(query)) {}

 private:
  class Rows final : public IteratorOf<SqlDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (ended_) return false;
      if (!query_) Begin();
      if (!query_->Next()) {
        query_.reset();
        ended_ = true;
        return false;
      }
      ++given_;
      const std::vector<DataType>& types = dataset().types();
      element->clear();
      for (size_t i = 0; i < types.size(); ++i) element->push_back(query_->Column(static_cast<int>(i), types[i]));
      return true;
    }
    void Visit(State& state) override {
      state.Value("given", &given_);
      state.Value("ended", &ended_);
      if (state.restores()) query_.reset();
    }

   private:
    void Begin() {
      query_ = std::make_unique<Query>(dataset().path_, dataset().query_, dataset().types().size());
      for (int64_t i = 0; i < given_ && query_->Next(); ++i) {
      }
    }
    std::unique_ptr<Query> query_;
    int64_t given_ = 0;
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Rows>(*this, place);
  }
  const std::string path_, query_;
};

Ref<Dataset> MakeSql(DatasetArgs& args) {
  ElementSpec spec = args.spec();
  for (const DataType type : spec.types) {
    const bool known = type == DT_STRING || type == DT_INT8 || type == DT_INT16 || type == DT_INT32 ||
                       type == DT_INT64 || type == DT_UINT8 || type == DT_UINT16 || type == DT_BOOL ||
                       type == DT_DOUBLE;
    args.Require(known,
                 "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, "
                 "DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE ");
  }
  for (const PartialShape& shape : spec.shapes) {
    args.Require(shape.IsCompatibleWith(PartialShape({})), "Each element of `output_shapes_` must be a scalar.");
  }
  const std::string driver = args.String("driver_name");
  args.Require(driver == "sqlite", "The database type, ", driver,
               ", is not supported by SqlDataset. The set of supported databases is: {'sqlite'}.");
  return MakeRef<SqlDataset>(std::move(spec), args.String("data_source_name"), args.String("query"));
}

}  // namespace

void RegisterSqlDatasets(KernelRegistry& kernels) { AddDatasetAndTwin<MakeSql>(kernels, "SqlDataset"); }

}  // namespace penstock::data
