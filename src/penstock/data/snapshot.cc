// Elements written to files, and read from there: save and load, and snapshots, which are written the first time and
// read the next.
#include "penstock/data/snapshot.h"

#include "penstock/data/fingerprint.h"
#include "penstock/data/snapshot_files.h"
#include "penstock/data/window.h"

namespace penstock::data {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kPendingSeconds = 24 * 60 * 60;  // after this, whoever was writing a snapshot is taken to be gone

ElementSpec DatasetSpec() { return {{DT_VARIANT}, {PartialShape({})}}; }

// What there is to know of how a run is written.
struct Writing {
  std::string path;  // where the metadata stands
  Compression compression;
  std::string graph_hash;
  std::optional<CapturedFunction> shard;
};

// One run of writing: which elements have come, and which files they went to.
class Run {
 public:
  Run(const Writing& how, const Dataset& input, const Place& place) : how_(how) {
    metadata_.graph_hash = how.graph_hash;
    metadata_.types = input.types();
    metadata_.num_elements = 0;
    if (how.shard) shard_.emplace(*how.shard, place);
  }
  void Begin() {
    metadata_.run_id = NewRunId();
    metadata_.creation_micros = NowMicros();
    WriteSnapshotMetadata(how_.path, metadata_);
    writer_ = std::make_unique<SnapshotWriter>(directory(), how_.compression);
  }
  bool begun() const { return writer_ != nullptr; }
  void Write(const Element& element) {
    writer_->Write(shard_ ? ShardOf(element) : 0, element);
    ++metadata_.num_elements;
  }
  void Finish() {
    writer_->NextFiles();
    MakeDirectories(directory());
    metadata_.finalized = true;
    WriteSnapshotMetadata(how_.path, metadata_);
  }
  // A run that is restored goes on in new files; what was written since it was saved is removed.
  void Visit(State& state) {
    state.Value("run_id", &metadata_.run_id);
    state.Value("creation", &metadata_.creation_micros);
    state.Value("elements", &metadata_.num_elements);
    int64_t file = begun() ? writer_->NextFiles() : 0;
    state.Position("file", &file);
    if (!state.restores() || metadata_.run_id.empty()) return;
    State::Require(IsRunId(metadata_.run_id));
    RemoveSnapshotFiles(directory(), file);
    writer_ = std::make_unique<SnapshotWriter>(directory(), how_.compression, file);
  }

 private:
  std::string directory() const { return StrCat(how_.path, "/", metadata_.run_id); }
  int64_t ShardOf(const Element& element) const {
    Element results;
    (*shard_)(element, &results);
    const bool is_number = results.size() == 1 && results[0].num_elements() == 1 &&
                           (results[0].dtype() == DT_INT32 || results[0].dtype() == DT_INT64);
    if (!is_number) throw InvalidArgument("`shard_func` must return a scalar int64.");
    if (results[0].IntAt(0) < 0) throw InvalidArgument("`shard_func` must not return ", results[0].IntAt(0));
    return results[0].IntAt(0);
  }
  const Writing& how_;
  std::optional<BoundCall> shard_;
  SnapshotMetadata metadata_;
  std::unique_ptr<SnapshotWriter> writer_;
};

class SaveDataset final : public Dataset {
 public:
  SaveDataset(Ref<const Dataset> input, Writing how) : Dataset("Save", input->spec(), {input}), how_(std::move(how)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  class Saved final : public IteratorOverInput<SaveDataset> {
   public:
    Saved(const SaveDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), run_(dataset.how_, dataset.input(), place) {}
    bool Next(Element* element) override {
      if (!input_) return false;
      if (!run_.begun()) run_.Begin();
      if (input_->Next(element)) {
        run_.Write(*element);
        return true;
      }
      run_.Finish();
      input_.reset();
      return false;
    }
    void Visit(State& state) override {
      VisitUntilDropped(state);
      state.Inside("run", [&] { run_.Visit(state); });
    }

   private:
    Run run_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Saved>(*this, place);
  }
  const Writing how_;
};

// What a function makes of the dataset of a run's shards, each a dataset.
std::unique_ptr<Iterator> BeginReading(const std::string& run_directory, const ElementSpec& spec,
                                       Compression compression, const CapturedFunction& reader, const Place& place) {
  std::vector<Element> shards;
  for (const std::string& shard : SnapshotShards(run_directory)) {
    shards.push_back({ToVariant(SnapshotShard(shard, spec, compression))});
  }
  const Tensor all = ToVariant(Kept(DatasetSpec(), std::move(shards)));
  Element made;
  BoundCall(reader, place)({{all}}, &made);
  RequireComponents(made, 1);
  const Ref<const Dataset> dataset = DatasetFrom(made[0]);
  spec.RequireCompatible(dataset->spec());
  return dataset->Begin(place);
}

class LoadDataset final : public Dataset {
 public:
  LoadDataset(ElementSpec spec, std::string run_directory, int64_t num_elements, Compression compression,
              CapturedFunction reader)
      : Dataset("Load", std::move(spec)),
        run_directory_(std::move(run_directory)),
        num_elements_(num_elements),
        compression_(compression),
        reader_(std::move(reader)) {}
  int64_t Cardinality() const override { return num_elements_; }

 private:
  class Loaded final : public IteratorOf<LoadDataset> {
   public:
    Loaded(const LoadDataset& d, const Place& place)
        : IteratorOf(d, place), input_(BeginReading(d.run_directory_, d.spec(), d.compression_, d.reader_, place)) {}
    bool Next(Element* element) override { return input_->Next(element); }
    void Visit(State& state) override { state.Nested("input", *input_); }

   private:
    const std::unique_ptr<Iterator> input_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Loaded>(*this, place);
  }
  const std::string run_directory_;
  const int64_t num_elements_;
  const Compression compression_;
  const CapturedFunction reader_;
};

enum class SnapshotMode : int64_t { kUndecided, kRead, kWrite, kPass };

// Each iterator finds out what is to be done when it is asked for its first element.
class SnapshotDataset final : public Dataset {
 public:
  SnapshotDataset(ElementSpec spec, Ref<const Dataset> input, Writing how, std::optional<CapturedFunction> reader,
                  SnapshotMode mode, int64_t pending_seconds)
      : Dataset("Snapshot", std::move(spec), {std::move(input)}),
        how_(std::move(how)),
        reader_(std::move(reader)),
        mode_(mode),
        pending_seconds_(pending_seconds) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  class Snapshot final : public IteratorOf<SnapshotDataset> {
   public:
    Snapshot(const SnapshotDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), run_(dataset.how_, dataset.input(), place) {}
    bool Next(Element* element) override {
      if (mode_ == SnapshotMode::kUndecided) Begin();
      if (!input_) return false;
      if (input_->Next(element)) {
        if (mode_ == SnapshotMode::kWrite) run_.Write(*element);
        return true;
      }
      if (mode_ == SnapshotMode::kWrite) run_.Finish();
      input_.reset();
      return false;
    }
    void Visit(State& state) override {
      auto mode = static_cast<int64_t>(mode_);
      state.Position("mode", &mode, static_cast<int64_t>(SnapshotMode::kPass));
      mode_ = static_cast<SnapshotMode>(mode);
      if (mode_ == SnapshotMode::kWrite) state.Inside("run", [&] { run_.Visit(state); });
      state.Value("read_run", &read_run_);
      State::Require(mode_ != SnapshotMode::kRead || IsRunId(read_run_));
      state.Nested("input", &input_, [&] { return BeginInput(); });
      State::Require(mode_ != SnapshotMode::kWrite || !input_ || run_.begun());
    }

   private:
    void Begin() {
      const std::string& path = dataset().how_.path;
      const std::optional<SnapshotMetadata> found = ReadSnapshotMetadata(path);
      mode_ = dataset().mode_;
      if (mode_ == SnapshotMode::kUndecided) {
        if (found && found->finalized) {
          mode_ = SnapshotMode::kRead;
        } else {
          const bool another_writes =
              found && found->creation_micros + dataset().pending_seconds_ * kMicrosPerSecond > NowMicros();
          mode_ = another_writes ? SnapshotMode::kPass : SnapshotMode::kWrite;
        }
      }
      if (mode_ == SnapshotMode::kRead) {
        if (!found || !found->finalized) throw NotFound("There is no finished snapshot in ", path);
        read_run_ = found->run_id;
      }
      input_ = BeginInput();
      if (mode_ == SnapshotMode::kWrite) run_.Begin();
    }
    std::unique_ptr<Iterator> BeginInput() const {
      const SnapshotDataset& d = dataset();
      if (mode_ != SnapshotMode::kRead) return d.input().Begin(place());
      const std::string run = StrCat(d.how_.path, "/", read_run_);
      if (d.reader_) return BeginReading(run, d.spec(), d.how_.compression, *d.reader_, place());
      const std::vector<std::string> shards = SnapshotShards(run);
      return SnapshotShard(shards.empty() ? run : shards[0], d.spec(), d.how_.compression)->Begin(place());
    }

    Run run_;
    SnapshotMode mode_ = SnapshotMode::kUndecided;
    std::string read_run_;  // its id
    std::unique_ptr<Iterator> input_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Snapshot>(*this, place);
  }
  const Writing how_;
  const std::optional<CapturedFunction> reader_;
  const SnapshotMode mode_;
  const int64_t pending_seconds_;
};

std::optional<CapturedFunction> ShardFunction(DatasetArgs& args) {
  if (!args.attr<bool>("use_shard_func", true)) return std::nullopt;
  return args.Function("shard_func", "shard_func_other_args");
}

Ref<Dataset> MakeSaveV2(DatasetArgs& args) {
  return MakeSave(args.dataset(), args.String("path"), args.attr<std::string>("compression"), ShardFunction(args));
}

Ref<Dataset> MakeLoad(DatasetArgs& args) {
  const std::string path = args.String("path");
  const std::optional<SnapshotMetadata> metadata = ReadSnapshotMetadata(path);
  if (!metadata) throw NotFound("Could not find metadata file [", path, "/snapshot.metadata]");
  if (metadata->version != 2) throw Unimplemented("Snapshots of version ", metadata->version, " are not read");
  return MakeRef<LoadDataset>(args.spec(), StrCat(path, "/", metadata->run_id), metadata->num_elements,
                              SnapshotCompression(args.attr<std::string>("compression")),
                              args.Function("reader_func", "reader_func_other_args"));
}

Writing HowToWrite(DatasetArgs& args, std::string path, std::string hash, std::optional<CapturedFunction> shard) {
  return {StrCat(path, "/", hash), SnapshotCompression(args.attr<std::string>("compression")), hash, std::move(shard)};
}

// Names the directory of what is made in this way and compressed so.
std::string HashOf(DatasetArgs& args) {
  return std::to_string(
      Fingerprint(*args.dataset(), args.functions().library(), args.attr<std::string>("compression")));
}

Ref<Dataset> MakeSnapshotV2(DatasetArgs& args) {
  const Ref<const Dataset> input = args.dataset();
  const std::string hash =
      args.attr<bool>("hash_valid") ? std::to_string(static_cast<uint64_t>(args.attr<int64_t>("hash"))) : HashOf(args);
  return MakeRef<SnapshotDataset>(args.spec(), input, HowToWrite(args, args.String("path"), hash, ShardFunction(args)),
                                  args.Function("reader_func", "reader_func_other_args"), SnapshotMode::kUndecided, 0);
}

// The older op: all elements in one shard.
Ref<Dataset> MakeSnapshot(DatasetArgs& args) {
  const Ref<const Dataset> input = args.dataset();
  const auto mode = args.attr<std::string>("mode", "auto");
  args.Require(mode == "auto" || mode == "read" || mode == "write" || mode == "passthrough",
               "mode must be either '', 'auto', 'read', 'write', or 'passthrough', not ", mode);
  const auto name = args.attr<std::string>("snapshot_name");
  const std::string hash = name.empty() ? HashOf(args) : name;
  const SnapshotMode chosen = mode == "read"          ? SnapshotMode::kRead
                              : mode == "write"       ? SnapshotMode::kWrite
                              : mode == "passthrough" ? SnapshotMode::kPass
                                                      : SnapshotMode::kUndecided;
  return MakeRef<SnapshotDataset>(args.spec(), input, HowToWrite(args, args.String("path"), hash, std::nullopt),
                                  std::nullopt, chosen,
                                  args.attr<int64_t>("pending_snapshot_expiry_seconds", kPendingSeconds));
}

Ref<Dataset> MakeReader(DatasetArgs& args) {
  const auto version = args.attr<int64_t>("version");
  args.Require(version == 2, "Snapshots of version ", version, " are not read");
  const Ref<const Dataset> shard =
      SnapshotShard(args.String("shard_dir"), args.spec(), SnapshotCompression(args.attr<std::string>("compression")));
  return MakeSkip(shard, args.Int("start_index"));
}

Ref<Dataset> MakeNestedReader(DatasetArgs& args) {
  std::vector<Element> shards;
  for (const Tensor& input : args.tensors("inputs")) shards.push_back({input});
  return Kept(args.spec(), std::move(shards));
}

}  // namespace

Ref<Dataset> MakeSave(Ref<const Dataset> input, std::string path, std::string_view compression,
                      std::optional<CapturedFunction> shard) {
  return MakeRef<SaveDataset>(std::move(input),
                              Writing{std::move(path), SnapshotCompression(compression), "", std::move(shard)});
}

void RegisterSnapshotDatasets(KernelRegistry& kernels) {
  AddDataset<MakeSaveV2>(kernels, "SaveDatasetV2");
  AddDataset<MakeLoad>(kernels, "LoadDataset");
  AddDataset<MakeSnapshot>(kernels, "SnapshotDataset");
  AddDataset<MakeSnapshotV2>(kernels, "SnapshotDatasetV2");
  AddDataset<MakeReader>(kernels, "SnapshotDatasetReader");
  AddDataset<MakeNestedReader>(kernels, "SnapshotNestedDatasetReader");
}

}  // namespace penstock::data
