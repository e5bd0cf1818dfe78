// Checkpoints and whole files.
#include <cstdio>
#include <exception>
#include <set>

#include "penstock/io/checkpoint_reader.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

std::string Text(KernelContext& k, int input, std::string_view what) {
  k.Require(k.input(input).num_elements() == 1, what, " must be a single string, but has shape ", k.shape(input));
  return k.input(input).data<TString>()->str();
}

// Inputs 1 and 2: a name and a specification of a part for each of `count` tensors.
void RequireNames(KernelContext& k, int count) {
  for (int i = 1; i < 3; ++i) {
    k.Require(k.shape(i).rank() == 1 && k.shape(i)[0] == count, "Input ", i, " should be a 1-D tensor of ", count,
              " strings, but has shape ", k.shape(i));
  }
}

struct Save {
  void operator()(KernelContext& k) const {
    const int count = k.num_inputs() - 3;
    RequireNames(k, count);
    BundleWriter writer(Text(k, 0, "prefix"));
    for (int i = 0; i < count; ++i) {
      const TString &name = k.input(1).data<TString>()[i], &spec = k.input(2).data<TString>()[i];
      const Tensor& tensor = k.input(3 + i);
      if (spec.empty()) {
        writer.Add(name, tensor);
        continue;
      }
      Shape full;
      TensorSlice slice;
      ParseShapeAndSlice(spec, &full, &slice);
      k.Require(slice.Apply(full) == tensor.shape(),
                "Slice in shape_and_slice specification does not match the shape of ",
                "the tensor to  save: ", spec.view(), ", tensor: ", tensor.shape());
      writer.AddSlice(name, full, slice, tensor);
    }
    writer.Finish();
  }
};

// Reads what `spec` says (everything if it is empty) of a tensor that must be of type `wanted`.
Tensor ReadPart(KernelContext& k, const CheckpointReader& reader, const TString& name, const TString& spec,
                DataType wanted) {
  const CheckpointReader::Info info = reader.Get(name);
  k.Require(info.dtype == wanted, "tensor_name = ", name.view(), "; expected dtype ", wanted,
            " does not equal original dtype ", info.dtype);
  if (spec.empty()) return reader.Read(name);
  Shape full;
  TensorSlice slice;
  ParseShapeAndSlice(spec, &full, &slice);
  k.Require(full == info.shape, "tensor_name = ", name.view(), "; shape in shape_and_slice spec ", full,
            " does not match the shape stored in checkpoint: ", info.shape);
  return reader.ReadSlice(name, slice);
}

constexpr int64_t kReadCost = 1 << 20;  // of one tensor, more or less

struct Restore {
  void operator()(KernelContext& k) const {
    const int count = k.num_outputs();
    RequireNames(k, count);
    const std::string prefix = Text(k, 0, "prefix");
    const CheckpointReader reader(prefix);
    std::vector<Tensor> read(count);
    std::vector<std::exception_ptr> errors(count);  // the first tensor's is told, whichever thread is first
    const auto fill = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        try {
          read[i] = ReadPart(k, reader, k.input(1).data<TString>()[i], k.input(2).data<TString>()[i],
                             BaseType(k.node().output_type(static_cast<int>(i))));
        } catch (...) {
          errors[i] = std::current_exception();
          return;
        }
      }
    };
    // Other file systems may need a lock that this thread holds.
    if (SchemeOf(prefix).empty()) {
      k.Parallel(count, kReadCost, fill);
    } else {
      fill(0, count);
    }
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    for (int i = 0; i < count; ++i) k.SetOutput(i, std::move(read[i]));
  }
};

// Save and SaveSlices: a checkpoint of version 1.
struct SaveOne {
  bool sliced;
  explicit SaveOne(const NodeView& node) : sliced(node.op().name == "SaveSlices") {}
  void operator()(KernelContext& k) const {
    const int first = sliced ? 3 : 2;
    k.Require(k.input(0).num_elements() == 1, "Input 0 (filename) must be a string scalar; got a tensor of ",
              k.input(0).num_elements(), "elements");
    const int64_t count = k.input(1).num_elements();
    k.Require(!sliced || k.input(2).num_elements() == count, "Expected ", count,
              " elements for the tensor shapes and slices but got ", k.input(first - 1).num_elements());
    k.Require(k.num_inputs() == count + first, "Expected totally ", count + first,
              " inputs as input #1 (which is a string tensor of saved names) contains ", count, " names, but received ",
              k.num_inputs(), " inputs");
    SliceTableWriter writer(Text(k, 0, "filename"));
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const TString& name = k.input(1).data<TString>()[i];
      const Tensor& tensor = k.input(first + i);
      Shape full = tensor.shape();
      TensorSlice slice = TensorSlice::All(full.rank());
      if (sliced && !k.input(2).data<TString>()[i].empty()) {
        const TString& spec = k.input(2).data<TString>()[i];
        ParseShapeAndSlice(spec, &full, &slice);
        k.Require(slice.Apply(full) == tensor.shape(),
                  "Slice in shape_and_slice specification does not match the shape of the tensor to  save: ",
                  spec.view(), ", tensor: ", tensor.shape());
      }
      writer.Add(name, full, slice, tensor);
    }
    writer.Finish();
  }
};

// Restore and RestoreSlice.
struct RestoreOne {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).num_elements() == 1, "Input 0 (file_pattern) must be a string scalar; got a tensor of ",
              k.input(0).num_elements(), " elements");
    k.Require(k.input(1).num_elements() >= 1, "Input 1 (tensor_name) must have at least 1 elements");
    const TString& name = k.input(1).data<TString>()[0];
    const std::string pattern = Text(k, 0, "file_pattern");
    const CheckpointReader reader(pattern);
    if (!reader.Find(name)) {
      throw NotFound("Tensor name \"", name.view(), "\" not found in checkpoint files ", pattern);
    }
    k.Require(k.num_inputs() < 3 || k.input(2).num_elements() >= 1, "shape_and_slice must be a single string");
    const DataType wanted = BaseType(k.node().output_type(0)), stored = reader.Get(name).dtype;
    k.Require(stored == wanted, "Expected to restore a tensor of type ", wanted, ", got a tensor of type ", stored,
              " instead: tensor_name = ", name.view());
    k.SetOutput(0, ReadPart(k, reader, name, k.num_inputs() > 2 ? k.input(2).data<TString>()[0] : TString(), wanted));
  }
};

struct Merge {
  bool delete_old_dirs, allow_missing;
  explicit Merge(const NodeView& node)
      : delete_old_dirs(node.attr<bool>("delete_old_dirs")), allow_missing(node.attr<bool>("allow_missing_files")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1, "Input checkpoint_prefixes should be an 1-D tensor, got ", k.shape(0),
              " instead.");
    std::vector<std::string> prefixes;
    for (const TString& prefix : k.in<TString>(0)) prefixes.push_back(prefix.str());
    const std::string merged = Text(k, 1, "destination_prefix");
    MergeBundles(prefixes, merged, allow_missing);
    if (!delete_old_dirs) return;
    for (const std::string& prefix : prefixes) {
      if (DirectoryOf(prefix) != DirectoryOf(merged)) RemoveEmptyDirectory(std::string(DirectoryOf(prefix)));
    }
  }
};

struct ShardedFilename {
  void operator()(KernelContext& k) const {
    for (const int i : {1, 2}) {
      k.Require(k.shape(i).rank() == 0, i == 1 ? "shard" : "num_shards", " must be a scalar, got shape ", k.shape(i));
    }
    char suffix[64];
    std::snprintf(suffix, sizeof(suffix), "-%05d-of-%05d", static_cast<int>(k.Int(1)), static_cast<int>(k.Int(2)));
    k.SetOutput(0, Tensor(TString(StrCat(Text(k, 0, "basename"), std::string_view(suffix)))));
  }
};

struct ShardedFilespec {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 0, "num_shards must be a scalar, got shape ", k.shape(1));
    char suffix[64];
    std::snprintf(suffix, sizeof(suffix), "-\?\?\?\?\?-of-%05d", static_cast<int>(k.Int(1)));
    k.SetOutput(0, Tensor(TString(StrCat(Text(k, 0, "basename"), std::string_view(suffix)))));
  }
};

struct ReadFile {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0, "Input filename tensor must be scalar, but had shape: ", k.shape(0));
    k.SetOutput(0, Tensor(TString(ReadWholeFile(Text(k, 0, "filename")))));
  }
};

struct WriteFile {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0, "Input filename tensor must be scalar, but had shape: ", k.shape(0));
    k.Require(k.shape(1).rank() == 0, "Contents tensor must be scalar, but had shape: ", k.shape(1));
    const std::string path = Text(k, 0, "filename");
    MakeDirectories(std::string(DirectoryOf(path)));
    WriteWholeFile(path, *k.input(1).data<TString>());
  }
};

struct MatchingFiles {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() <= 1, "Input patterns tensor must be scalar or vector, but had shape: ", k.shape(0));
    std::set<std::string> paths;
    for (const TString& pattern : k.in<TString>(0)) {
      for (std::string& path : MatchingPaths(pattern.str())) paths.insert(std::move(path));
    }
    const auto out = k.out<TString>(0, Shape({static_cast<int64_t>(paths.size())}));
    size_t i = 0;
    for (const std::string& path : paths) out[i++] = std::string_view(path);
  }
};

}  // namespace

void RegisterCheckpointKernels(KernelRegistry& kernels) {
  kernels.Add<Save>("SaveV2");
  kernels.Add<Restore>("RestoreV2");
  kernels.Add<SaveOne>("Save");
  kernels.Add<SaveOne>("SaveSlices");
  kernels.Add<RestoreOne>("Restore");
  kernels.Add<RestoreOne>("RestoreSlice");
  kernels.Add<Merge>("MergeV2Checkpoints");
  kernels.Add<ShardedFilename>("ShardedFilename");
  kernels.Add<ShardedFilespec>("ShardedFilespec");
  kernels.Add<ReadFile>("ReadFile");
  kernels.Add<WriteFile>("WriteFile");
  kernels.Add<MatchingFiles>("MatchingFiles");
}

}  // namespace penstock
