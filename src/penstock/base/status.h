// What can go wrong, as a value (Status) and as the exception that carries it (Error).
//
// Inside one thread errors travel as exceptions: graph building, shape functions, kernels and sessions throw Error.
// Whatever crosses a thread, a callback or a machine travels as a Status. Entry points (bindings, C API) translate.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "penstock/base/strings.h"

namespace penstock {

// Numbers as in tensorflow/core/lib/core/error_codes.proto.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

std::string_view ToString(Code code);  // "InvalidArgument"

// OK is a null pointer; copying any status copies a pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, std::string node = {});

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : rep_->code; }
  const std::string& message() const;
  // The name of the node that failed, if one did.
  const std::string& node() const;
  // The same error, said to come from `node` unless an inner node was named already.
  Status At(const std::string& node) const;
  std::string ToString() const;  // "OK" or "InvalidArgument: message"

 private:
  struct Rep {
    Code code;
    std::string message, node;
  };
  std::shared_ptr<const Rep> rep_;
};

class Error : public std::exception {
 public:
  explicit Error(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }
  Code code() const { return status_.code(); }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
};

// throw InvalidArgument("axis ", axis, " is out of range");
template <class... Parts>
Error MakeError(Code code, const Parts&... parts) {
  return Error(Status(code, StrCat(parts...)));
}
#define PENSTOCK_ERROR(Name)                   \
  template <class... Parts>                    \
  Error Name(const Parts&... parts) {          \
    return MakeError(Code::k##Name, parts...); \
  }
PENSTOCK_ERROR(Cancelled)
PENSTOCK_ERROR(Unknown)
PENSTOCK_ERROR(InvalidArgument)
PENSTOCK_ERROR(DeadlineExceeded)
PENSTOCK_ERROR(NotFound)
PENSTOCK_ERROR(AlreadyExists)
PENSTOCK_ERROR(PermissionDenied)
PENSTOCK_ERROR(ResourceExhausted)
PENSTOCK_ERROR(FailedPrecondition)
PENSTOCK_ERROR(Aborted)
PENSTOCK_ERROR(OutOfRange)
PENSTOCK_ERROR(Unimplemented)
PENSTOCK_ERROR(Internal)
PENSTOCK_ERROR(Unavailable)
PENSTOCK_ERROR(DataLoss)
#undef PENSTOCK_ERROR

// The exception in flight as a status; to be called inside a catch block. bad_alloc becomes ResourceExhausted.
Status CurrentStatus();
inline void ThrowIfError(const Status& status) {
  if (!status.ok()) throw Error(status);
}

}  // namespace penstock
