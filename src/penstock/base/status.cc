#include "penstock/base/status.h"

#include <new>

namespace penstock {

std::string_view ToString(Code code) {
  static constexpr std::string_view kNames[] = {
      "OK",       "Cancelled",      "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  return kNames[static_cast<int>(code)];
}

Status::Status(Code code, std::string message, std::string node) {
  if (code != Code::kOk) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message), std::move(node)});
}

static const std::string kEmpty;

const std::string& Status::message() const { return ok() ? kEmpty : rep_->message; }
const std::string& Status::node() const { return ok() ? kEmpty : rep_->node; }

Status Status::At(const std::string& node) const {
  return ok() || !rep_->node.empty() ? *this : Status(rep_->code, rep_->message, node);
}

std::string Status::ToString() const { return ok() ? "OK" : StrCat(penstock::ToString(code()), ": ", message()); }

Status CurrentStatus() {
  try {
    throw;
  } catch (const Error& e) {
    return e.status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::exception& e) {
    return Status(Code::kInternal, e.what());
  } catch (...) {
    return Status(Code::kInternal, "unknown exception");
  }
}

}  // namespace penstock
