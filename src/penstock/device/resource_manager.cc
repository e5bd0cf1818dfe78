#include "penstock/device/resource_manager.h"

#include "penstock/base/fork.h"

namespace penstock {
namespace {

std::pair<std::string, std::string> Key(const std::string& default_container, std::string_view container,
                                        std::string_view name) {
  return {container.empty() ? default_container : std::string(container), std::string(name)};
}

}  // namespace

ResourceManager::~ResourceManager() {
  if (kept_whole_) ForgetAtFork(&mutex_);
}

void ResourceManager::KeepWhole() {
  if (!std::exchange(kept_whole_, true)) HoldDuringFork(&mutex_);
}

Ref<Resource> ResourceManager::Find(std::string_view container, std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto it = resources_.find(Key(default_container_, container, name));
  return it == resources_.end() ? nullptr : it->second;
}

Ref<Resource> ResourceManager::FindOrMakeAny(std::string_view container, std::string_view name,
                                             const std::function<Ref<Resource>()>& make) {
  std::lock_guard lock(mutex_);
  Ref<Resource>& slot = resources_[Key(default_container_, container, name)];
  if (!slot) {
    try {
      slot = make();
    } catch (...) {
      resources_.erase(Key(default_container_, container, name));
      throw;
    }
  }
  return slot;
}

void ResourceManager::Put(std::string_view container, std::string_view name, Ref<Resource> resource) {
  std::lock_guard lock(mutex_);
  std::swap(resources_[Key(default_container_, container, name)], resource);
}

bool ResourceManager::Remove(std::string_view container, std::string_view name) {
  Ref<Resource> doomed;  // destroyed after the lock is gone
  std::lock_guard lock(mutex_);
  const auto it = resources_.find(Key(default_container_, container, name));
  if (it == resources_.end()) return false;
  doomed = it->second;
  resources_.erase(it);
  return true;
}

void ResourceManager::Clear(std::string_view container) {
  std::map<std::pair<std::string, std::string>, Ref<Resource>> doomed;
  std::lock_guard lock(mutex_);
  const std::string name = container.empty() ? default_container_ : std::string(container);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (it->first.first == name) {
      doomed.insert(resources_.extract(it++));
    } else {
      ++it;
    }
  }
}

void ResourceManager::ClearAll() {
  std::map<std::pair<std::string, std::string>, Ref<Resource>> doomed;
  std::lock_guard lock(mutex_);
  doomed.swap(resources_);
}

}  // namespace penstock
