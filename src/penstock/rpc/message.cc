#include "penstock/rpc/message.h"

namespace penstock::rpc {

std::string Message::ToString() const {
  std::string all;
  all.reserve(size_);
  for (const Slice& slice : slices_) all.append(slice.data(), slice.size());
  return all;
}

}  // namespace penstock::rpc
