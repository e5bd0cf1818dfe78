// Derived errors: those of a step that only follow from another one, on this task or elsewhere. A master reports an
// error that is not derived if there is one.
#pragma once

#include <string_view>

#include "penstock/base/status.h"

namespace penstock {

// TensorFlow 1.15 marks them in the message, 2.21 in a payload of the status. Inside a process it is the message.
inline constexpr std::string_view kDerivedMark = "[_Derived_]";

inline bool IsDerived(const Status& status) { return status.message().find(kDerivedMark) != std::string::npos; }

// Cancelled: a master that cannot see the mark reports any other error first.
inline Status Derived(const Status& status) {
  if (IsDerived(status)) return status;
  return Status(Code::kCancelled, StrCat(kDerivedMark, status.message()), status.node());
}

// For the client of a step, to whom the mark means nothing.
inline Status WithoutMark(const Status& status) {
  const size_t at = status.message().find(kDerivedMark);
  if (at == std::string::npos) return status;
  std::string message = status.message();
  message.erase(at, kDerivedMark.size());
  return WithoutMark(Status(status.code(), std::move(message), status.node()));
}

}  // namespace penstock
