// The records of files: lines, pieces of one size, TFRecords; and the names of files.
#include <algorithm>

#include "penstock/data/dataset_kernel.h"
#include "penstock/io/files.h"
#include "penstock/io/record_stream.h"

namespace penstock::data {
namespace {

// The records of one file, one after the other.
class Records {
 public:
  virtual ~Records() = default;
  virtual bool Next(std::string* record) = 0;
};

using OpenRecords = std::function<std::unique_ptr<Records>(const std::string& path, size_t file)>;

ElementSpec StringScalars() { return {{DT_STRING}, {PartialShape({})}}; }

class FilesDataset final : public Dataset {
 public:
  FilesDataset(std::string name, std::vector<std::string> files, OpenRecords open)
      : Dataset(std::move(name), StringScalars()), files_(std::move(files)), open_(std::move(open)) {}

 private:
  class Read final : public IteratorOf<FilesDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      while (Open()) {
        bool there = false;
        try {
          there = records_->Next(&record_);
        } catch (...) {
          Close();  // of a file that is damaged nothing more is read
          throw;
        }
        if (there) {
          ++at_;
          element->resize(1);
          (*element)[0] = Tensor(TString(record_));
          return true;
        }
        Close();
        context().ThrowIfStopped();
      }
      return false;
    }
    int64_t Skip(int64_t n) override {
      int64_t skipped = 0;
      while (skipped < n && Open()) {
        if (records_->Next(&record_)) {
          ++at_;
          ++skipped;
        } else {
          Close();
        }
      }
      return skipped;
    }
    void Visit(State& state) override {
      int64_t at = at_;
      state.Value("file", &file_);
      state.Value("record", &at);
      if (!state.restores()) return;
      records_.reset();
      at_ = 0;
      while (at_ < at && Open() && records_->Next(&record_)) ++at_;
    }

   private:
    // Whether there is a file to read of.
    bool Open() {
      if (records_) return true;
      const auto& files = dataset().files_;
      if (file_ >= static_cast<int64_t>(files.size())) return false;
      const size_t file = static_cast<size_t>(file_);
      try {
        records_ = dataset().open_(files[file], file);
      } catch (...) {
        Close();
        throw;
      }
      return true;
    }
    void Close() {
      records_.reset();
      ++file_;
      at_ = 0;
    }
    std::unique_ptr<Records> records_;
    std::string record_;
    int64_t file_ = 0, at_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Read>(*this, place);
  }
  const std::vector<std::string> files_;
  const OpenRecords open_;
};

class Lines final : public Records {
 public:
  Lines(const std::string& path, Compression compression) : stream_(ByteStream::OpenFile(path, compression)) {}
  bool Next(std::string* record) override { return stream_.ReadLine(record); }

 private:
  BufferedStream stream_;
};

class TfRecords final : public Records {
 public:
  TfRecords(const std::string& path, Compression compression, uint64_t offset) : stream_(path, compression) {
    std::string skipped;
    uint64_t at = 0;
    while (offset > 0 && stream_.Next(&skipped, &at)) {
      if (at + skipped.size() + kFraming >= offset) break;
    }
  }
  bool Next(std::string* record) override {
    uint64_t offset;
    return stream_.Next(record, &offset);
  }

 private:
  static constexpr uint64_t kFraming = 16;  // around each record: its length and two checksums
  RecordStream stream_;
};

struct Layout {
  int64_t header, record, footer;
};

// Records of one size between a header and a footer.
class Pieces final : public Records {
 public:
  Pieces(const std::string& path, Compression compression, const Layout& layout)
      : stream_(ByteStream::OpenFile(path, compression)), layout_(layout) {
    // The size of a compressed file is known when it was read.
    if (compression == Compression::kNone) {
      const int64_t body = static_cast<int64_t>(InputFile(path).size()) - layout.header - layout.footer;
      if (body < 0 || body % layout.record != 0) {
        throw InvalidArgument("Excess file size for file: ", path, ". Body length is ", body,
                              " bytes, which is not an exact multiple of the record length (", layout.record,
                              " bytes).");
      }
      left_ = body / layout.record;
    } else if (layout.footer > 0) {
      std::string all;
      const auto stream = ByteStream::OpenFile(path, compression);
      for (size_t before = SIZE_MAX; all.size() != before;) {
        before = all.size();
        stream->Read(1 << 20, &all);
      }
      left_ = (static_cast<int64_t>(all.size()) - layout.header - layout.footer) / layout.record;
    }
    if (!stream_.Skip(static_cast<uint64_t>(layout.header))) left_ = 0;
  }
  bool Next(std::string* record) override {
    if (left_-- <= 0) return false;
    if (stream_.Read(static_cast<size_t>(layout_.record), record)) return true;
    if (!record->empty()) {
      throw InvalidArgument("Excess file size: the last record has ", record->size(), " bytes instead of ",
                            layout_.record);
    }
    left_ = 0;
    return false;
  }

 private:
  BufferedStream stream_;
  const Layout layout_;
  int64_t left_ = INT64_MAX;
};

Compression CompressionOf(DatasetArgs& args) {
  if (!args.Has("compression_type")) return Compression::kNone;
  const std::string name = args.String("compression_type");
  args.Require(name.empty() || name == "ZLIB" || name == "GZIP", "Unsupported compression_type.");
  return CompressionFromName(name);
}

void RequireBufferSize(DatasetArgs& args) {
  const int64_t size = args.Int("buffer_size");
  args.Require(size >= 0, "`buffer_size` must be >= 0 (0 == use default)");
}

Ref<Dataset> MakeTextLine(DatasetArgs& args) {
  const Compression compression = CompressionOf(args);
  RequireBufferSize(args);
  return MakeRef<FilesDataset>("TextLine", args.Strings("filenames"), [compression](const std::string& path, size_t) {
    return std::make_unique<Lines>(path, compression);
  });
}

Ref<Dataset> MakeTfRecord(DatasetArgs& args) {
  const Compression compression = CompressionOf(args);
  RequireBufferSize(args);
  std::vector<std::string> files = args.Strings("filenames");
  std::vector<int64_t> offsets;
  if (args.Has("byte_offsets")) {
    const auto given = args.tensor("byte_offsets").flat<int64_t>();
    offsets.assign(given.begin(), given.end());
    args.Require(offsets.empty() || offsets.size() == files.size(),
                 "`byte_offsets` must have as many elements as `filenames`");
    args.Require(std::all_of(offsets.begin(), offsets.end(), [](int64_t o) { return o >= 0; }),
                 "`byte_offsets` must be >= 0");
  }
  return MakeRef<FilesDataset>("TFRecord", std::move(files),
                               [compression, offsets](const std::string& path, size_t file) {
                                 return std::make_unique<TfRecords>(
                                     path, compression, offsets.empty() ? 0 : static_cast<uint64_t>(offsets[file]));
                               });
}

Ref<Dataset> MakeFixedLength(DatasetArgs& args) {
  const Compression compression = CompressionOf(args);
  const Layout layout{args.Int("header_bytes"), args.Int("record_bytes"), args.Int("footer_bytes")};
  args.Require(layout.header >= 0, "header_bytes must be >= 0");
  args.Require(layout.record > 0, "record_bytes must be > 0");
  args.Require(layout.footer >= 0, "footer_bytes must be >= 0");
  RequireBufferSize(args);
  return MakeRef<FilesDataset>("FixedLengthRecord", args.Strings("filenames"), [=](const std::string& path, size_t) {
    return std::make_unique<Pieces>(path, compression, layout);
  });
}

class NamesDataset final : public Dataset {
 public:
  explicit NamesDataset(std::vector<std::string> patterns)
      : Dataset("MatchingFiles", StringScalars()), patterns_(std::move(patterns)) {}

 private:
  class Names final : public IteratorOf<NamesDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (!looked_) Look();
      if (at_ >= static_cast<int64_t>(names_.size())) return false;
      *element = {Tensor(TString(names_[at_++]))};
      return true;
    }
    void Visit(State& state) override {
      state.Value("looked", &looked_);
      state.Value("at", &at_);
      state.Values("names", &names_);
    }

   private:
    void Look() {
      for (const std::string& pattern : dataset().patterns_) {
        const std::vector<std::string> found = MatchingPaths(pattern);
        names_.insert(names_.end(), found.begin(), found.end());
      }
      std::sort(names_.begin(), names_.end());
      looked_ = true;
    }
    std::vector<std::string> names_;
    bool looked_ = false;
    int64_t at_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Names>(*this, place);
  }
  const std::vector<std::string> patterns_;
};

Ref<Dataset> MakeNames(DatasetArgs& args) { return MakeRef<NamesDataset>(args.Strings("patterns")); }

}  // namespace

void RegisterFilesDatasets(KernelRegistry& kernels) {
  AddDataset<MakeTextLine>(kernels, "TextLineDataset");
  for (const char* op : {"TFRecordDataset", "TFRecordDatasetV2"}) AddDataset<MakeTfRecord>(kernels, op);
  for (const char* op : {"FixedLengthRecordDataset", "FixedLengthRecordDatasetV2"})
    AddDataset<MakeFixedLength>(kernels, op);
  AddDatasetAndTwin<MakeNames>(kernels, "MatchingFilesDataset");
}

}  // namespace penstock::data
