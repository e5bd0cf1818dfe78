#include "penstock/device/device.h"

#include <algorithm>
#include <random>

namespace penstock {
namespace {

bool IsWord(std::string_view s) {
  return !s.empty() && std::ranges::all_of(s, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

// "3" -> 3, "*" -> any.
bool ParseIndex(std::string_view text, int* value, bool* has) {
  if (text == "*") return true;
  int64_t i;
  if (!ParseInt64(text, &i) || i < 0 || i > INT32_MAX) return false;
  *value = static_cast<int>(i);
  *has = true;
  return true;
}

std::string UpperCase(std::string_view s) {
  std::string upper(s);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

bool ParsePart(std::string_view part, DeviceName* name) {
  if (part.empty()) return true;
  const std::vector<std::string_view> fields = StrSplit(part, ':');
  const std::string_view key = fields[0];
  if (key == "job" && fields.size() == 2) {
    if (fields[1] == "*") return true;
    name->job = fields[1];
    return name->has_job = IsWord(fields[1]);
  }
  if (key == "replica" && fields.size() == 2) return ParseIndex(fields[1], &name->replica, &name->has_replica);
  if (key == "task" && fields.size() == 2) return ParseIndex(fields[1], &name->task, &name->has_task);
  if (key == "device" && (fields.size() == 2 || fields.size() == 3)) {
    if (fields[1] != "*") {
      if (!IsWord(fields[1])) return false;
      name->type = fields[1] == "cpu" || fields[1] == "gpu" ? UpperCase(fields[1]) : std::string(fields[1]);
      name->has_type = true;
    }
    return fields.size() == 2 || ParseIndex(fields[2], &name->id, &name->has_id);
  }
  // The short form "/cpu:0".
  if (fields.size() <= 2 && IsWord(key) && key != "job" && key != "replica" && key != "task" && key != "device") {
    name->type = UpperCase(key);
    name->has_type = true;
    return fields.size() == 1 || ParseIndex(fields[1], &name->id, &name->has_id);
  }
  return false;
}

}  // namespace

bool DeviceName::TryParse(std::string_view text, DeviceName* name) {
  *name = DeviceName();
  if (text.empty() || text == "/") return true;
  for (std::string_view part : StrSplit(text, '/')) {
    if (!ParsePart(part, name)) return false;
  }
  return true;
}

DeviceName DeviceName::Parse(std::string_view text) {
  DeviceName name;
  if (!TryParse(text, &name)) throw InvalidArgument("Malformed device specification '", text, "'");
  return name;
}

std::string DeviceName::ToString() const {
  std::string text;
  if (has_job) text += "/job:" + job;
  if (has_replica) text += StrCat("/replica:", replica);
  if (has_task) text += StrCat("/task:", task);
  if (has_type) text += StrCat("/device:", type, ":", has_id ? StrCat(id) : std::string("*"));
  if (!has_type && has_id) text += StrCat("/device:*:", id);
  return text;
}

bool DeviceName::Matches(const DeviceName& full) const {
  return (!has_job || job == full.job) && (!has_replica || replica == full.replica) &&
         (!has_task || task == full.task) && (!has_type || type == full.type) && (!has_id || id == full.id);
}

void DeviceName::MergeFrom(const DeviceName& other, bool override_conflicts) {
  const auto conflict = [&](std::string_view what) {
    throw InvalidArgument("Cannot merge devices with incompatible ", what, "s: '", ToString(), "' and '",
                          other.ToString(), "'");
  };
  const auto merge = [&](auto& mine, bool& has, const auto& theirs, bool other_has, std::string_view what) {
    if (!other_has) return true;
    if (has && mine != theirs) {
      if (!override_conflicts || (what != "type" && what != "id")) conflict(what);
      has = false;
      return false;
    }
    mine = theirs;
    has = true;
    return true;
  };
  merge(job, has_job, other.job, other.has_job, "job");
  merge(replica, has_replica, other.replica, other.has_replica, "replica");
  merge(task, has_task, other.task, other.has_task, "task");
  if (!merge(type, has_type, other.type, other.has_type, "type")) {
    has_id = false;  // an index says nothing without its type
    return;
  }
  merge(id, has_id, other.id, other.has_id, "id");
}

void DeviceName::OverrideWith(const DeviceName& o) {
  if (o.has_job) job = o.job, has_job = true;
  if (o.has_replica) replica = o.replica, has_replica = true;
  if (o.has_task) task = o.task, has_task = true;
  if (o.has_type) type = o.type, has_type = true;
  if (o.has_id) id = o.id, has_id = true;
}

Device::Device(std::string name, std::string type, Allocator* allocator)
    : name_(std::move(name)),
      type_(std::move(type)),
      parsed_(DeviceName::Parse(name_)),
      allocator_(allocator),
      resources_(std::make_shared<ResourceManager>()) {
  resources_->KeepWhole();
  std::random_device seed;
  incarnation_ = (uint64_t{seed()} << 32 | seed()) | 1;
}
Device::~Device() = default;

void Device::SetResources(std::shared_ptr<ResourceManager> resources) {
  resources_ = std::move(resources);
  resources_->KeepWhole();
}

void DeviceRegistry::Add(std::unique_ptr<DeviceFactory> factory) { factories_.push_back(std::move(factory)); }

DeviceRegistry& DeviceRegistry::Global() {
  static auto* registry = new DeviceRegistry();
  return *registry;
}

}  // namespace penstock
