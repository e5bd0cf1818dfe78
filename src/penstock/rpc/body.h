// gRPC's framing of messages: five bytes (flag, length), then the body.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <string>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/rpc/message.h"

namespace penstock::rpc {

// A message that several places hold: the stream that sends it, and the queue of its socket.
class SharedMessage : public RefCounted {
 public:
  explicit SharedMessage(Message message) : body(std::move(message)) {}
  const Message body;
};

// The bytes to write to the socket next: small parts copied together, large ones where they are.
class OutQueue {
 public:
  bool empty() const { return next_ == pieces_.size(); }
  size_t bytes() const { return bytes_; }
  size_t pieces() const { return pieces_.size() - next_; }

  void Copy(const char* data, size_t size);
  void Refer(const char* data, size_t size, Ref<SharedMessage> owner);
  // The next bytes to write.
  int Fill(iovec* parts, int count) const;
  // Those were written. Owners that are no longer needed go to `trash`.
  void Advance(size_t written, std::vector<Ref<SharedMessage>>* trash);
  void Clear(std::vector<Ref<SharedMessage>>* trash);

 private:
  struct Piece {
    const char* data;  // null: `offset` in copied_
    size_t offset, size;
    Ref<SharedMessage> owner;
  };
  std::vector<Piece> pieces_;
  size_t next_ = 0, done_ = 0, bytes_ = 0;  // done_: of the first piece
  std::vector<char> copied_;
};

// The messages that one side of a stream sends.
class BodyWriter {
 public:
  void Add(Ref<SharedMessage> message);
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }
  size_t pending() const { return pending_.load(std::memory_order_relaxed); }
  // How much of that is bytes that messages own themselves.
  size_t owned() const { return owned_; }
  // Moves the next `size` bytes, at most pending(), to `out`.
  void Take(size_t size, OutQueue* out, std::vector<Ref<SharedMessage>>* trash);
  void Drop(std::vector<Ref<SharedMessage>>* trash);

 private:
  Ref<SharedMessage> current_;  // the message in turn, and those after it
  std::vector<Ref<SharedMessage>> next_;
  size_t first_next_ = 0;
  size_t prefix_ = 0, slice_ = 0, done_ = 0;  // how far it is: bytes of its prefix, slices, bytes of the slice
  std::atomic<size_t> pending_{0};
  size_t owned_ = 0;
  bool closed_ = false;
};

// The messages that one side of a stream receives.
class BodyReader {
 public:
  // `place` may be null. `gzip`: that a message with the compressed flag is inflated, by zlib's formats.
  void Configure(size_t max_message, const PlaceBody* place) { max_message_ = max_message, place_ = place; }
  void set_encoding(std::string encoding) { encoding_ = std::move(encoding); }

  // Where the next bytes of the body may be received to at once, if at least `least` bytes would fit.
  bool Direct(size_t least, char** data, size_t* size);
  // Takes the next bytes, which may have been received to where Direct said. Complete messages are added to `done`.
  // Throws Error for a malformed or too large message.
  void Feed(const char* data, size_t size, std::vector<Incoming>* done);
  // Whether a message has begun and not ended.
  bool inside() const { return prefix_have_ > 0; }

 private:
  void Begin();
  void Place();
  void Complete(std::vector<Incoming>* done);
  // The next place to write to, and how much may go there.
  char* Target(size_t* room);
  void Reserve(size_t size);

  size_t max_message_ = kMaxMessage;
  const PlaceBody* place_ = nullptr;
  std::string encoding_;
  unsigned char prefix_[5];
  size_t prefix_have_ = 0;
  size_t size_ = 0, got_ = 0;  // of the body
  bool compressed_ = false, to_place_ = false;
  Incoming current_;
};

}  // namespace penstock::rpc
