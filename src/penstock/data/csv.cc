// The rows of CSV files (RFC 4180), each field as a scalar of its column's type.
#include <algorithm>
#include <optional>

#include "penstock/base/parse_number.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/file_elements.h"

namespace penstock::data {
namespace {

struct CsvFormat {
  std::vector<DataType> types;
  std::vector<Tensor> defaults;  // empty: the field must be there
  std::vector<int64_t> selected, excluded;
  bool header, quotes;
  char delimiter;
  std::string missing;
  Compression compression;

  bool Wants(int64_t column, size_t found) const {
    if (!excluded.empty()) return std::find(excluded.begin(), excluded.end(), column) == excluded.end();
    return selected.empty() || (found < selected.size() && selected[found] == column);
  }
};

template <class T>
Tensor Parsed(const std::string& field, size_t i, DataType type) {
  T value;
  if (!ParseNumber(field, &value)) {
    throw InvalidArgument("Field ", i, " in record is not a valid ", type, ": ", field);
  }
  return Tensor(value);
}

class RowsOfFile final : public FileElements {
 public:
  RowsOfFile(const std::string& path, std::shared_ptr<const CsvFormat> format)
      : format_(std::move(format)), stream_(ByteStream::OpenFile(path, format_->compression)) {
    if (format_->header && !SkipRow()) throw InvalidArgument("Can't read header of file");
    begin_ = behind_ + at_;
  }

  bool Next(Element* element) override {
    broken_ = true;  // until the row was read: the file may fail
    if (!Has()) return false;
    element->clear();
    std::optional<Error> first;  // the row is read to its end: the next call goes on with the next one
    ReadRow(
        [&](int64_t column) {
          const size_t found = element->size() + failed_;
          if (!format_->Wants(column, found)) return;
          try {
            element->push_back(Value(found));
          } catch (const Error& e) {
            if (!first) first = e;
            ++failed_;
          }
        },
        &first);
    failed_ = 0;
    broken_ = false;
    if (first) throw *first;
    if (element->size() != format_->types.size()) {
      throw InvalidArgument("Expect ", format_->types.size(), " fields but have ", element->size(), " in record");
    }
    return true;
  }
  bool goes_on() const override { return !broken_; }
  uint64_t offset() const override { return behind_ + at_ - begin_; }
  void Skip(uint64_t bytes) override {
    while (bytes > 0 && Has()) {
      const uint64_t step = std::min<uint64_t>(bytes, buffer_.size() - at_);
      at_ += step;
      bytes -= step;
    }
  }

 private:
  // Whether there is another byte, at buffer_[at_].
  bool Has() {
    if (at_ < buffer_.size()) return true;
    behind_ += buffer_.size();
    buffer_.clear();
    at_ = 0;
    stream_->Read(size_t{1} << 16, &buffer_);
    return !buffer_.empty();
  }

  bool SkipRow() {
    if (!Has()) return false;
    std::optional<Error> ignored;
    ReadRow([](int64_t) {}, &ignored);
    return true;
  }

  // Calls `use(column)` for each field of a row, with the field in field_.
  template <class Use>
  void ReadRow(Use use, std::optional<Error>* error) {
    for (int64_t column = 0;; ++column) {
      field_.clear();
      const bool last = ReadField(error);
      use(column);
      if (last) return;
    }
  }

  // True if the field was the last of its row.
  bool ReadField(std::optional<Error>* error) {
    if (!Has()) return true;  // empty, behind a delimiter
    if (!format_->quotes || buffer_[at_] != '"') return ReadPlain(error);
    ++at_;
    while (Has()) {
      const char c = buffer_[at_++];
      if (c != '"') {
        field_ += c;
        continue;
      }
      if (!Has() || IsEnd(buffer_[at_])) return ReadPlain(error);  // the delimiter or the row's end follows
      if (buffer_[at_] == '"') {
        field_ += '"';
        ++at_;
      } else {
        Note(error, "Quote inside a string has to be escaped by another quote");
      }
    }
    Note(error, "Reached end of file without closing quoted field in record");
    return true;
  }

  // The rest of a field, up to behind what ends it.
  bool ReadPlain(std::optional<Error>* error) {
    while (Has()) {
      const char c = buffer_[at_++];
      if (c == format_->delimiter) return false;
      if (c == '\r' && Has() && buffer_[at_] == '\n') ++at_;
      if (c == '\n' || c == '\r') return true;
      if (c == '"' && format_->quotes) Note(error, "Unquoted fields cannot have quotes inside");
      field_ += c;
    }
    return true;
  }

  bool IsEnd(char c) const { return c == format_->delimiter || c == '\n' || c == '\r'; }
  static void Note(std::optional<Error>* error, const char* what) {
    if (!*error) *error = InvalidArgument(what);
  }

  Tensor Value(size_t i) const {
    if (i >= format_->types.size()) {
      throw InvalidArgument("Expect ", format_->types.size(), " fields but have more in record");
    }
    if (field_.empty() || field_ == format_->missing) {
      if (format_->defaults[i].num_elements() != 1) {
        throw InvalidArgument("Field ", i, " is required but missing in record!");
      }
      return format_->defaults[i].Reshaped(Shape());
    }
    switch (const DataType type = format_->types[i]) {
      case DT_INT32: return Parsed<int32_t>(field_, i, type);
      case DT_INT64: return Parsed<int64_t>(field_, i, type);
      case DT_FLOAT: return Parsed<float>(field_, i, type);
      case DT_DOUBLE: return Parsed<double>(field_, i, type);
      case DT_STRING: return Tensor(TString(field_));
      default: throw InvalidArgument("csv: data type ", type, " not supported in field ", i);
    }
  }

  const std::shared_ptr<const CsvFormat> format_;
  const std::unique_ptr<ByteStream> stream_;
  std::string buffer_, field_;
  size_t at_ = 0, failed_ = 0;
  uint64_t behind_ = 0, begin_ = 0;
  bool broken_ = false;
};

std::vector<int64_t> Columns(const DatasetArgs& args, std::string_view name) {
  if (!args.Has(name)) return {};
  const auto given = args.tensor(name).flat<int64_t>();
  std::vector<int64_t> columns(given.begin(), given.end());
  for (size_t i = 0; i < columns.size(); ++i) {
    args.Require(columns[i] >= 0, "`", name, "` should be non-negative indices");
    args.Require(i == 0 || columns[i] > columns[i - 1], "`", name, "` should be strictly increasing indices");
  }
  return columns;
}

Ref<Dataset> MakeCsv(DatasetArgs& args) {
  auto format = std::make_shared<CsvFormat>();
  ElementSpec spec = args.spec();
  format->types = spec.types;
  format->defaults = args.tensors("record_defaults");
  for (size_t i = 0; i < format->defaults.size(); ++i) {
    args.Require(format->defaults[i].rank() <= 1, "Each record default should be at most rank 1");
    args.Require(format->defaults[i].num_elements() < 2, "There should only be 1 default per field but field ", i,
                 " has ", format->defaults[i].num_elements());
  }
  format->header = args.Bool("header");
  format->quotes = args.Bool("use_quote_delim");
  format->missing = args.String("na_value");
  format->compression = CompressionFromName(args.String("compression_type"));
  const std::string delimiter = args.String("field_delim");
  args.Require(delimiter.size() == 1, "field_delim should be only 1 char");
  format->delimiter = delimiter[0];
  args.Require(args.Int("buffer_size") > 0, "buffer_size should be positive");
  format->selected = Columns(args, "select_cols");
  format->excluded = Columns(args, "exclude_cols");
  args.Require(format->selected.empty() || format->excluded.empty(),
               "Either select_cols or exclude_cols should be empty");
  args.Require(format->selected.empty() || format->selected.size() == format->types.size(),
               "select_cols should match output size");
  return MakeRef<FilesDataset>("CSV", std::move(spec), args.Strings("filenames"),
                               [format](const std::string& path, size_t) -> std::unique_ptr<FileElements> {
                                 return std::make_unique<RowsOfFile>(path, format);
                               });
}

}  // namespace

void RegisterCsvDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeCsv>(kernels, "CSVDataset");
  AddDataset<MakeCsv>(kernels, "CSVDatasetV2");
}

}  // namespace penstock::data
