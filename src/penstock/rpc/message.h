// Bodies of calls as bytes: outgoing ones are lists of slices, incoming ones one block or partly in a tensor's buffer.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/ref.h"
#include "penstock/tensor/buffer.h"

namespace penstock::rpc {

// No body, sent or received, may be larger: protobuf's limit.
inline constexpr size_t kMaxMessage = (size_t{1} << 31) - 1;

// An outgoing body: its slices one after the other. Bytes of a Buffer are written to the socket from where they are, so
// they must not change until the call has ended.
class Message {
 public:
  class Slice {
   public:
    explicit Slice(std::string bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {}
    Slice(Ref<Buffer> buffer, size_t offset, size_t size)
        : buffer_(std::move(buffer)), data_(static_cast<const char*>(buffer_->data()) + offset), size_(size) {}
    const char* data() const { return data_ ? data_ : bytes_.data(); }
    size_t size() const { return size_; }
    bool owned() const { return !data_; }  // bytes of the message itself, not of a Buffer

   private:
    std::string bytes_;
    Ref<Buffer> buffer_;
    const char* data_ = nullptr;
    size_t size_;
  };

  Message() = default;
  explicit Message(std::string bytes) { Append(std::move(bytes)); }

  // Appends bytes that the message owns.
  void Append(std::string bytes) {
    if (bytes.empty()) return;
    size_ += bytes.size();
    slices_.emplace_back(std::move(bytes));
  }
  // Appends bytes [offset, offset + size) of `buffer`, which the message keeps alive.
  void Append(Ref<Buffer> buffer, size_t offset, size_t size) {
    if (size == 0) return;
    size_ += size;
    slices_.emplace_back(std::move(buffer), offset, size);
  }

  size_t size() const { return size_; }
  const std::vector<Slice>& slices() const { return slices_; }
  std::string ToString() const;  // a copy of all bytes

 private:
  std::vector<Slice> slices_;
  size_t size_ = 0;
};

// Where a part of an incoming body goes: bytes [from, from + size) of the body are received into `buffer`, beginning at
// its byte `offset`. No buffer: the body stays in one block.
struct Placement {
  size_t from = 0;
  size_t size = 0;
  Ref<Buffer> buffer;
  size_t offset = 0;
};

// Chooses the placement of a body of `size` bytes, of which `head` are the first. Called on a loop's thread, at most
// once for each body, and only for bodies of at least kPlacedAtLeast bytes. `from` must be at most head.size(), and
// from + size at most the body's size; anything else ends the call with Internal. May throw Error, which ends the call.
using PlaceBody = std::function<Placement(std::string_view head, size_t size)>;
inline constexpr size_t kPlacedAtLeast = 32 << 10;
inline constexpr size_t kHeadBytes = 4 << 10;  // how much of a body PlaceBody sees

// An incoming body.
class Incoming {
 public:
  Incoming() = default;
  Incoming(Incoming&& other) noexcept { *this = std::move(other); }
  Incoming& operator=(Incoming&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    placed_ = std::exchange(other.placed_, Placement());
    return *this;
  }

  // The body without the placed part.
  std::string_view bytes() const { return {data_.get(), size_}; }
  // The part that was received into a buffer; without a buffer if there is none.
  const Placement& placed() const { return placed_; }
  // Size of the whole body.
  size_t size() const { return size_ + placed_.size; }

 private:
  friend class BodyReader;
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0, capacity_ = 0;
  Placement placed_;
};

}  // namespace penstock::rpc
