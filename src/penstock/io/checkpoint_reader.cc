#include "penstock/io/checkpoint_reader.h"

namespace penstock {

CheckpointReader::CheckpointReader(const std::string& prefix) {
  if (FileExists(BundleIndexPath(prefix))) {
    bundle_ = std::make_unique<BundleReader>(prefix);
  } else {
    tables_ = std::make_unique<SliceTableReader>(prefix);
  }
}

std::vector<std::string> CheckpointReader::Names() const {
  if (bundle_) return bundle_->Names();
  std::vector<std::string> names;
  for (const auto& [name, entry] : tables_->entries()) names.push_back(name);
  return names;
}

std::optional<CheckpointReader::Info> CheckpointReader::Find(std::string_view name) const {
  if (bundle_) {
    const BundleEntry* entry = bundle_->Find(name);
    return entry ? std::optional(Info{entry->dtype, entry->shape}) : std::nullopt;
  }
  const SliceTableReader::Entry* entry = tables_->Find(name);
  return entry ? std::optional(Info{entry->dtype, entry->shape}) : std::nullopt;
}

CheckpointReader::Info CheckpointReader::Get(std::string_view name) const {
  const auto info = Find(name);
  if (!info) throw NotFound("Key ", name, " not found in checkpoint");
  return *info;
}

Tensor CheckpointReader::Read(std::string_view name) const {
  return bundle_ ? bundle_->Read(name) : tables_->Read(name);
}

Tensor CheckpointReader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  return bundle_ ? bundle_->ReadSlice(name, slice) : tables_->ReadSlice(name, slice);
}

}  // namespace penstock
