// The records of files: lines, pieces of one size, TFRecords; and the names of files.
#include <algorithm>

#include "penstock/data/dataset_kernel.h"
#include "penstock/data/file_elements.h"
#include "penstock/io/record_stream.h"

namespace penstock::data {
namespace {

class LinesOfFile final : public FileElements {
 public:
  LinesOfFile(const std::string& path, Compression compression) : stream_(ByteStream::OpenFile(path, compression)) {}
  bool Next(Element* element) override {
    if (!stream_.ReadLine(&line_)) return false;
    Set(element, line_);
    return true;
  }
  uint64_t offset() const override { return stream_.offset(); }
  void Skip(uint64_t bytes) override { stream_.Skip(bytes); }

 private:
  BufferedStream stream_;
  std::string line_;
};

class RecordsOfFile final : public FileElements {
 public:
  RecordsOfFile(const std::string& path, Compression compression, uint64_t begin = 0)
      : stream_(path, compression), begin_(begin) {
    stream_.Skip(begin);
  }
  bool Next(Element* element) override {
    uint64_t begin;
    if (!stream_.Next(&record_, &begin)) return false;
    Set(element, record_);
    return true;
  }
  uint64_t offset() const override { return stream_.offset() - begin_; }
  void Skip(uint64_t bytes) override { stream_.Skip(bytes); }

 private:
  RecordStream stream_;
  const uint64_t begin_;
  std::string record_;
};

struct RecordSize {
  int64_t header, record, footer;
};

// A record is one if the footer, or more, follows it.
class PiecesOfFile final : public FileElements {
 public:
  PiecesOfFile(const std::string& path, Compression compression, const RecordSize& size)
      : path_(path),
        size_(size),
        compressed_(compression != Compression::kNone),
        stream_(ByteStream::OpenFile(path, compression)) {
    if (!compressed_) {
      const uint64_t bytes = InputFile(path).size(), around = static_cast<uint64_t>(size.header + size.footer);
      RequireWhole(bytes < around ? 0 : bytes - around);
    }
    ended_ = !stream_.Skip(size.header);
  }
  bool Next(Element* element) override {
    if (ended_) return false;
    const auto wanted = static_cast<size_t>(size_.record + size_.footer) - ahead_.size();
    const bool whole = stream_.Read(wanted, &piece_);
    ahead_ += piece_;
    if (!whole) {
      ended_ = true;
      if (ahead_.size() > static_cast<size_t>(size_.footer)) {
        RequireWhole(stream_.offset() - static_cast<uint64_t>(size_.header + size_.footer));
      }
      return false;
    }
    Set(element, std::string_view(ahead_).substr(0, size_.record));
    ahead_.erase(0, size_.record);
    return true;
  }
  uint64_t offset() const override {
    const uint64_t at = stream_.offset() - ahead_.size();
    return at < static_cast<uint64_t>(size_.header) ? 0 : at - size_.header;
  }
  void Skip(uint64_t bytes) override { ended_ = ended_ || !stream_.Skip(bytes); }

 private:
  void RequireWhole(uint64_t body) const {
    if (body % size_.record == 0) return;
    const std::string message =
        StrCat("Excluding the header (", size_.header, " bytes) and footer (", size_.footer, " bytes), input file \"",
               path_, "\" has body length ", body, " bytes, which is not an exact multiple of the record length (",
               size_.record, " bytes).");
    if (compressed_) throw DataLoss(message);
    throw InvalidArgument(message);
  }
  const std::string path_;
  const RecordSize size_;
  const bool compressed_;
  BufferedStream stream_;
  std::string ahead_, piece_;
  bool ended_;
};

Compression CompressionOf(const DatasetArgs& args) {
  return args.Has("compression_type") ? CompressionFromName(args.String("compression_type")) : Compression::kNone;
}

void RequireBuffer(const DatasetArgs& args) {
  args.Require(args.Int("buffer_size") >= 0, "`buffer_size` must be >= 0 (0 == default)");
}

template <class Source>
Ref<Dataset> MakeSimple(DatasetArgs& args, std::string name) {
  RequireBuffer(args);
  const Compression compression = CompressionOf(args);
  return MakeRef<FilesDataset>(std::move(name), StringSpec(), args.Strings("filenames"),
                               [compression](const std::string& path, size_t) -> std::unique_ptr<FileElements> {
                                 return std::make_unique<Source>(path, compression);
                               });
}

Ref<Dataset> MakeTextLine(DatasetArgs& args) { return MakeSimple<LinesOfFile>(args, "TextLine"); }

Ref<Dataset> MakeRecords(DatasetArgs& args) {
  if (!args.Has("byte_offsets")) return MakeSimple<RecordsOfFile>(args, "TFRecord");
  RequireBuffer(args);
  const Compression compression = CompressionOf(args);
  std::vector<std::string> names = args.Strings("filenames");
  const auto given = args.tensor("byte_offsets").flat<int64_t>();
  const std::vector<int64_t> offsets(given.begin(), given.end());
  args.Require(offsets.empty() || offsets.size() == names.size(), "`byte_offsets` must have same size as `filenames`");
  args.Require(std::all_of(offsets.begin(), offsets.end(), [](int64_t x) { return x >= 0; }),
               "`byte_offsets` must be >= 0");
  return MakeRef<FilesDataset>(
      "TFRecord", StringSpec(), std::move(names),
      [compression, offsets](const std::string& path, size_t i) -> std::unique_ptr<FileElements> {
        return std::make_unique<RecordsOfFile>(path, compression, offsets.empty() ? 0 : offsets[i]);
      });
}

Ref<Dataset> MakePieces(DatasetArgs& args) {
  RequireBuffer(args);
  const RecordSize size{args.Int("header_bytes"), args.Int("record_bytes"), args.Int("footer_bytes")};
  args.Require(size.header >= 0, "`header_bytes` must be >= 0");
  args.Require(size.record > 0, "`record_bytes` must be > 0");
  args.Require(size.footer >= 0, "`footer_bytes` must be >= 0");
  constexpr int64_t kMost = int64_t{1} << 40;
  args.Require(size.header <= kMost && size.record <= kMost && size.footer <= kMost, "the record is too large");
  const Compression compression = CompressionOf(args);
  return MakeRef<FilesDataset>("FixedLengthRecord", StringSpec(), args.Strings("filenames"),
                               [compression, size](const std::string& path, size_t) -> std::unique_ptr<FileElements> {
                                 return std::make_unique<PiecesOfFile>(path, compression, size);
                               });
}

class MatchingFilesDataset final : public Dataset {
 public:
  explicit MatchingFilesDataset(std::vector<std::string> patterns)
      : Dataset("MatchingFiles", StringSpec()), patterns_(std::move(patterns)) {}

 private:
  class Names final : public IteratorOf<MatchingFilesDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      while (at_ == found_.size()) {
        if (pattern_ == static_cast<int64_t>(dataset().patterns_.size())) {
          if (!any_) throw NotFound("Don't find any matched files");
          return false;
        }
        found_ = MatchingPaths(dataset().patterns_[pattern_++]);
        at_ = 0;
        any_ = any_ || !found_.empty();
      }
      FileElements::Set(element, found_[at_++]);
      return true;
    }
    void Visit(State& state) override {
      state.Value("pattern", &pattern_);
      state.Value("any", &any_);
      found_.erase(found_.begin(), found_.begin() + static_cast<int64_t>(at_));
      at_ = 0;
      state.Values("found", &found_);
    }

   private:
    std::vector<std::string> found_;
    size_t at_ = 0;
    int64_t pattern_ = 0;
    bool any_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Names>(*this, place);
  }
  const std::vector<std::string> patterns_;
};

Ref<Dataset> MakeMatchingFiles(DatasetArgs& args) { return MakeRef<MatchingFilesDataset>(args.Strings("patterns")); }

}  // namespace

void RegisterFilesDatasets(KernelRegistry& kernels) {
  AddDataset<MakeTextLine>(kernels, "TextLineDataset");
  for (const char* op : {"TFRecordDataset", "TFRecordDatasetV2"}) AddDataset<MakeRecords>(kernels, op);
  for (const char* op : {"FixedLengthRecordDataset", "FixedLengthRecordDatasetV2"}) AddDataset<MakePieces>(kernels, op);
  AddDatasetAndTwin<MakeMatchingFiles>(kernels, "MatchingFilesDataset");
}

}  // namespace penstock::data
