// Stateful objects of a device, by container and name.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/tensor/resource_handle.h"

namespace penstock {

// Thread-safe. A name belongs to one object whatever its type.
class ResourceManager {
 public:
  explicit ResourceManager(std::string default_container = "localhost")
      : default_container_(std::move(default_container)) {}
  ~ResourceManager();
  // Keeps it usable in forked children (see ForkMutex): for the manager of a device, not for that of a step.
  void KeepWhole();
  // Null if absent.
  Ref<Resource> Find(std::string_view container, std::string_view name) const;
  // The object of that name, made by `make` if absent. InvalidArgument if one of another type T has the name.
  template <class T>
  Ref<T> FindOrMake(std::string_view container, std::string_view name, const std::function<Ref<T>()>& make) {
    return Cast<T>(FindOrMakeAny(container, name, [&]() -> Ref<Resource> { return make(); }), name);
  }
  template <class T>
  Ref<T> FindAs(std::string_view container, std::string_view name) const {
    return Cast<T>(Find(container, name), name);
  }
  void Put(std::string_view container, std::string_view name, Ref<Resource> resource);  // replaces
  bool Remove(std::string_view container, std::string_view name);
  void Clear(std::string_view container);  // Session.reset
  void ClearAll();
  const std::string& default_container() const { return default_container_; }

 private:
  template <class T>
  static Ref<T> Cast(Ref<Resource> any, std::string_view name) {
    T* typed = dynamic_cast<T*>(any.get());
    if (any && !typed)
      throw InvalidArgument("Resource ", name, " is of another type than expected: ", any->DebugString());
    Ref<T> result;
    if (typed) {
      typed->AddRef();
      result = Ref<T>(typed);
    }
    return result;
  }
  Ref<Resource> FindOrMakeAny(std::string_view container, std::string_view name,
                              const std::function<Ref<Resource>()>& make);
  std::string default_container_;
  mutable std::mutex mutex_;
  bool kept_whole_ = false;
  std::map<std::pair<std::string, std::string>, Ref<Resource>> resources_;
};

}  // namespace penstock
