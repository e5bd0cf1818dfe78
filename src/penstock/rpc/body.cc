#include "penstock/rpc/body.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace penstock::rpc {
namespace {

// Slices up to this size are copied together: cheaper than a separate part for the kernel.
constexpr size_t kCopied = 8 << 10;
constexpr size_t kFirstBlock = 64 << 10;
// A compressed message may grow to this size, or to so many times its own.
constexpr size_t kInflated = 256 << 20, kInflatedTimes = 32;

}  // namespace

void OutQueue::Copy(const char* data, size_t size) {
  if (size == 0) return;
  const size_t offset = copied_.size();
  copied_.insert(copied_.end(), data, data + size);
  bytes_ += size;
  if (!empty() && !pieces_.back().data && pieces_.back().offset + pieces_.back().size == offset) {
    pieces_.back().size += size;
  } else {
    pieces_.push_back({nullptr, offset, size, nullptr});
  }
}

void OutQueue::Refer(const char* data, size_t size, Ref<SharedMessage> owner) {
  if (size == 0) return;
  pieces_.push_back({data, 0, size, std::move(owner)});
  bytes_ += size;
}

int OutQueue::Fill(iovec* parts, int count) const {
  int n = 0;
  size_t skip = done_;
  for (size_t i = next_; i < pieces_.size() && n < count; ++i, ++n) {
    const Piece& piece = pieces_[i];
    const char* data = piece.data ? piece.data : copied_.data() + piece.offset;
    parts[n] = {const_cast<char*>(data) + skip, piece.size - skip};
    skip = 0;
  }
  return n;
}

void OutQueue::Advance(size_t written, std::vector<Ref<SharedMessage>>* trash) {
  bytes_ -= written;
  while (written > 0) {
    Piece& piece = pieces_[next_];
    const size_t left = piece.size - done_;
    if (written < left) {
      done_ += written;
      return;
    }
    written -= left;
    done_ = 0;
    if (piece.owner) trash->push_back(std::move(piece.owner));
    ++next_;
  }
  if (empty()) {
    pieces_.clear();
    copied_.clear();
    if (copied_.capacity() > 1 << 20) copied_.shrink_to_fit();
    next_ = 0;
  }
}

void OutQueue::Clear(std::vector<Ref<SharedMessage>>* trash) { Advance(bytes_, trash); }

void BodyWriter::Add(Ref<SharedMessage> message) {
  pending_.fetch_add(message->body.size() + sizeof(uint32_t) + 1, std::memory_order_relaxed);
  for (const Message::Slice& slice : message->body.slices()) owned_ += slice.owned() ? slice.size() : 0;
  if (!current_) {
    current_ = std::move(message);
  } else {
    next_.push_back(std::move(message));
  }
}

void BodyWriter::Take(size_t size, OutQueue* out, std::vector<Ref<SharedMessage>>* trash) {
  pending_.fetch_sub(size, std::memory_order_relaxed);
  while (size > 0) {
    const Ref<SharedMessage>& message = current_;
    if (prefix_ < 5) {
      const size_t length = message->body.size();
      const char prefix[5] = {0, static_cast<char>(length >> 24), static_cast<char>(length >> 16),
                              static_cast<char>(length >> 8), static_cast<char>(length)};
      const size_t n = std::min(size, 5 - prefix_);
      out->Copy(prefix + prefix_, n);
      prefix_ += n;
      size -= n;
    }
    const auto& slices = message->body.slices();
    while (size > 0 && slice_ < slices.size()) {
      const Message::Slice& slice = slices[slice_];
      const size_t n = std::min(size, slice.size() - done_);
      if (n <= kCopied) {
        out->Copy(slice.data() + done_, n);
      } else {
        out->Refer(slice.data() + done_, n, message);
      }
      if (slice.owned()) owned_ -= n;
      size -= n;
      done_ += n;
      if (done_ == slice.size()) {
        ++slice_;
        done_ = 0;
      }
    }
    if (prefix_ == 5 && slice_ == slices.size()) {
      trash->push_back(std::move(current_));
      prefix_ = slice_ = 0;
      if (first_next_ < next_.size()) current_ = std::move(next_[first_next_++]);
      if (first_next_ == next_.size()) {
        next_.clear();
        first_next_ = 0;
      }
    }
  }
  if (first_next_ > 64) {  // a stream that always has something to write
    next_.erase(next_.begin(), next_.begin() + static_cast<ptrdiff_t>(first_next_));
    first_next_ = 0;
  }
}

void BodyWriter::Drop(std::vector<Ref<SharedMessage>>* trash) {
  if (current_) trash->push_back(std::move(current_));
  for (size_t i = first_next_; i < next_.size(); ++i) trash->push_back(std::move(next_[i]));
  next_.clear();
  first_next_ = prefix_ = slice_ = done_ = owned_ = 0;
  pending_.store(0, std::memory_order_relaxed);
  closed_ = true;
}

bool BodyReader::Direct(size_t least, char** data, size_t* size) {
  if (prefix_have_ < 5 || to_place_ || size_ - got_ < least) return false;
  *data = Target(size);
  return *size >= least;
}

void BodyReader::Feed(const char* data, size_t size, std::vector<Incoming>* done) {
  while (size > 0) {
    if (prefix_have_ < 5) {
      const size_t n = std::min(size, 5 - prefix_have_);
      std::memcpy(prefix_ + prefix_have_, data, n);
      prefix_have_ += n;
      data += n;
      size -= n;
      if (prefix_have_ < 5) return;
      Begin();
    }
    while (size > 0 && got_ < size_) {
      size_t room;
      char* target = Target(&room);
      const size_t n = std::min(size, room);
      if (target != data) std::memcpy(target, data, n);
      got_ += n;
      data += n;
      size -= n;
      if (to_place_ && got_ == kHeadBytes) Place();
    }
    if (got_ == size_) Complete(done);
  }
}

void BodyReader::Begin() {
  compressed_ = prefix_[0] != 0;
  size_ = size_t{prefix_[1]} << 24 | size_t{prefix_[2]} << 16 | size_t{prefix_[3]} << 8 | prefix_[4];
  got_ = 0;
  if (prefix_[0] > 1) throw Internal("malformed message: its first byte is ", int{prefix_[0]});
  if (compressed_ && encoding_ != "gzip" && encoding_ != "deflate") {
    if (encoding_.empty() || encoding_ == "identity") throw Internal("compressed message without grpc-encoding");
    throw Unimplemented("compression by '", encoding_, "' is not supported");
  }
  if (size_ > max_message_) {
    throw ResourceExhausted("Received message larger than max (", size_, " vs. ", max_message_, ")");
  }
  to_place_ = place_ && *place_ && !compressed_ && size_ >= kPlacedAtLeast;
  current_ = Incoming();
  current_.size_ = size_;
}

void BodyReader::Place() {
  to_place_ = false;
  Placement placed = (*place_)({current_.data_.get(), kHeadBytes}, size_);
  if (!placed.buffer || placed.size == 0) return;
  if (placed.from > kHeadBytes || placed.size > size_ - placed.from || placed.offset > placed.buffer->size() ||
      placed.size > placed.buffer->size() - placed.offset) {
    throw Internal("a message's content does not fit its place");
  }
  // Bytes received already move to the buffer, and those after the placed part to the block.
  char* block = current_.data_.get();
  const size_t come = std::min(kHeadBytes - placed.from, placed.size);
  std::memcpy(static_cast<char*>(placed.buffer->data()) + placed.offset, block + placed.from, come);
  std::memmove(block + placed.from, block + placed.from + come, kHeadBytes - placed.from - come);
  current_.size_ = size_ - placed.size;
  current_.placed_ = std::move(placed);
}

char* BodyReader::Target(size_t* room) {
  const Placement& placed = current_.placed_;
  if (!placed.buffer) {
    // The block grows with the bytes received, so that a length alone takes no memory.
    if (got_ == current_.capacity_) Reserve(std::min(size_, std::max(kFirstBlock, 2 * got_)));
    *room = (to_place_ ? kHeadBytes : current_.capacity_) - got_;
    return current_.data_.get() + got_;
  }
  if (const size_t end = placed.from + placed.size; got_ < end) {
    *room = end - got_;
    return static_cast<char*>(placed.buffer->data()) + placed.offset + (got_ - placed.from);
  }
  const size_t at = got_ - placed.size;
  if (at == current_.capacity_) Reserve(std::min(current_.size_, std::max(kFirstBlock, 2 * at)));
  *room = std::min(current_.capacity_, current_.size_) - at;
  return current_.data_.get() + at;
}

void BodyReader::Reserve(size_t size) {
  // A large block is moved by the kernel's page tables, not copied.
  char* grown = static_cast<char*>(std::realloc(current_.data_.get(), size));
  if (!grown) throw ResourceExhausted("out of memory for a message of ", size_, " bytes");
  [[maybe_unused]] char* old = current_.data_.release();
  current_.data_.reset(grown);
  current_.capacity_ = size;
}

void BodyReader::Complete(std::vector<Incoming>* done) {
  prefix_have_ = 0;
  if (!compressed_) {
    done->push_back(std::move(current_));
    current_ = Incoming();
    return;
  }
  const Incoming packed = std::move(current_);
  current_ = Incoming();
  z_stream zlib{};
  if (inflateInit2(&zlib, 15 + 32) != Z_OK) throw ResourceExhausted("out of memory for a compressed message");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&zlib, inflateEnd);
  zlib.next_in = reinterpret_cast<Bytef*>(packed.data_.get());
  zlib.avail_in = static_cast<uInt>(packed.size_);
  const size_t limit = std::min(max_message_, std::max(kInflated, kInflatedTimes * packed.size_));
  const auto too_large = [&] { return ResourceExhausted("Decompressed message larger than max (", limit, ")"); };
  size_t got = 0;
  for (int result = Z_OK; result != Z_STREAM_END;) {
    if (got == current_.capacity_) {
      if (got > limit) throw too_large();
      Reserve(std::max(kFirstBlock, 2 * got));
    }
    zlib.next_out = reinterpret_cast<Bytef*>(current_.data_.get()) + got;
    zlib.avail_out = static_cast<uInt>(std::min<size_t>(current_.capacity_ - got, 1 << 30));
    result = inflate(&zlib, Z_NO_FLUSH);
    got = reinterpret_cast<char*>(zlib.next_out) - current_.data_.get();
    if (result != Z_OK && result != Z_STREAM_END) throw Internal("malformed compressed message");
  }
  if (got > limit) throw too_large();
  current_.size_ = got;
  done->push_back(std::move(current_));
  current_ = Incoming();
}

}  // namespace penstock::rpc
