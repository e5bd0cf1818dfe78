// One HTTP/2 connection of either side: nghttp2's session between a byte stream and the exchanges on it.
#pragma once

#include <nghttp2/nghttp2.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/rpc/body.h"
#include "penstock/rpc/byte_stream.h"
#include "penstock/rpc/loop.h"

namespace penstock::rpc {

class Connection;

// A request with its response, on either side. Its virtual functions are called with the connection's lock held;
// they leave callbacks to Run, which the loop calls without it.
class Exchange : public Runnable {
 protected:
  friend class Connection;
  virtual void OnHeader(std::string_view name, std::string_view value) = 0;
  virtual void OnHeadersEnd() = 0;  // a block of headers is complete: the first, or the trailers
  virtual void OnMessages(std::vector<Incoming>* messages) = 0;
  virtual void OnInputEnd() = 0;                   // the peer sends no more
  virtual void OnBroken(Status status) = 0;        // the input is malformed; the stream is reset afterwards
  virtual void OnClosed(Status status) = 0;        // last of all; OK if both sides have ended as they should
  virtual bool SubmitTrailers() { return false; }  // whether headers follow the messages

  BodyReader reader_;
  BodyWriter writer_;

 private:
  int32_t id_ = 0;
  size_t header_bytes_ = 0;
  bool deferred_ = false, input_ended_ = false, broken_ = false;
};

using Headers = std::vector<nghttp2_nv>;
// Of strings that live until the headers are submitted.
nghttp2_nv Header(std::string_view name, std::string_view value);
// Of constants; more of their work is saved.
nghttp2_nv ConstantHeader(std::string_view name, std::string_view value);

class Connection final : public Source {
 public:
  // Who made the connection. Called without the connection's lock, on its loop's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual Ref<Exchange> Accept(Connection* connection) = 0;  // a server's: of a new request; with the lock held
    virtual void OnGreeted(Connection* connection) = 0;        // the peer speaks HTTP/2
    virtual void OnEnd(Connection* connection, const Status& why) = 0;  // last
  };

  // `name`: of the peer, for errors.
  Connection(Loop* loop, std::unique_ptr<ByteStream> stream, bool server, std::string name,
             std::shared_ptr<Owner> owner);
  // Begins to read and write; the peer must greet within the time.
  void Start(std::chrono::milliseconds greeting);
  ~Connection() override;

  Loop* loop() const { return loop_; }
  const std::string& name() const { return name_; }

  // Holds the connection's lock, and releases unused messages after the lock.
  class Lock {
   public:
    explicit Lock(Connection* connection) : connection_(connection), lock_(connection->mutex_) {}
    ~Lock();

   private:
    friend class Connection;
    Connection* const connection_;
    std::vector<Ref<SharedMessage>> trash_;
    std::unique_lock<std::mutex> lock_;
  };

  // All that follows: with the lock held.
  bool open() const { return !closed_ && !draining_; }
  // A client's request, followed by the messages of its writer.
  void SubmitRequest(Ref<Exchange> exchange, const Headers& headers);
  // A server's response; if `body`, followed by the messages of its writer.
  void SubmitResponse(Exchange* exchange, const Headers& headers, bool body);
  void SubmitTrailers(Exchange* exchange, const Headers& headers);
  void Write(Exchange* exchange, Ref<SharedMessage> message);
  void CloseWrites(Exchange* exchange);
  // Ends an exchange without another word to it.
  void Reset(Exchange* exchange, uint32_t error);
  // Writes the submitted frames: at once if that is the quickest, or soon. May release the lock meanwhile.
  void Flush(Lock* lock);
  // Whether the peer reads so slowly that it gets no more answers for now; `exchange` is then run later.
  bool HoldBack(Exchange* exchange);
  // No more requests; closes when the exchanges have ended.
  void Drain();
  void Close(Status why);
  size_t exchanges() const { return exchanges_.size(); }

  void OnReady(uint32_t events) override;
  void OnStop() override;
  void Run() override;

 private:
  struct Callbacks;
  class GreetingTimer;

  // These release the lock while they read and write.
  void Receive(Lock* lock);
  void WriteOut(Lock* lock, size_t budget);
  bool Feed(Lock* lock, const char* data, size_t size);
  void Pull();
  void WatchWrites(bool watch);
  void Resume(Exchange* exchange);
  void Erase(Exchange* exchange);
  void DropBody(Exchange* exchange);
  void Consume(int32_t id, size_t size);
  void ReleaseHeld();
  Exchange* Find(int32_t id) const;

  Loop* const loop_;
  const bool server_;
  const std::string name_;

  std::mutex mutex_;  // guards all that follows
  std::shared_ptr<ByteStream> stream_;
  bool writing_ = false;  // a thread writes out_, without the lock
  std::shared_ptr<Owner> owner_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, Ref<Exchange>> exchanges_;
  mutable Exchange* found_ = nullptr;  // by Find, last
  OutQueue out_;
  std::vector<Ref<SharedMessage>> trash_;
  std::vector<Incoming> messages_;
  bool closed_ = false, draining_ = false, greeted_ = false;
  bool tell_greeted_ = false, tell_end_ = false, watches_writes_ = false;
  Status why_;
  Clock::time_point last_write_{};  // by a thread that is not the loop's
  bool received_ = false;           // something, since then
  Loop::TimerId greeting_timer_{};
  // The incoming DATA frame: its stream, and the number of bytes left.
  int32_t payload_id_ = 0;
  size_t payload_left_ = 0;
  // A peer that does not read: bytes of messages and requests that wait for it, and the bytes missing in its window.
  size_t waiting_bytes_ = 0, owed_window_ = 0;
  std::deque<Ref<Exchange>> held_;
};

}  // namespace penstock::rpc
