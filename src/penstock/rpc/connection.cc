#include "penstock/rpc/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "penstock/rpc/address.h"
#include "penstock/rpc/wire.h"

namespace penstock::rpc {
namespace {

constexpr uint32_t kMaxFrame = 1 << 20;     // of either side
constexpr int32_t kStreamWindow = 1 << 30;  // messages are taken as they come, so windows need not hold them back
constexpr int32_t kConnectionWindow = 64 << 20;
constexpr uint32_t kMaxStreams = 1 << 16;
constexpr size_t kMaxHeaders = 64 << 10;     // bytes of one exchange
constexpr size_t kDirect = 64 << 10;         // a rest of a frame that is received without a copy
constexpr size_t kPulled = 1 << 20;          // taken from nghttp2 for one write
constexpr size_t kBudget = 4 << 20;          // before others on the loop have their turn
constexpr size_t kInlineBudget = 256 << 10;  // written by the thread that calls
constexpr size_t kMaxWaiting = 64 << 20;     // unsent bytes of answers to one peer
constexpr int kParts = 128;
// Resets of streams that a peer may send: at once, and each second. A failed step cancels thousands of calls.
constexpr uint64_t kResetBurst = 20'000, kResetRate = 2'000;
// Calls within this time are written together by the loop.
constexpr auto kTogether = std::chrono::microseconds(100);

std::string_view View(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

uint8_t* Bytes(std::string_view text) { return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data())); }

}  // namespace

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

nghttp2_nv ConstantHeader(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

Connection::Lock::~Lock() {
  trash_.swap(connection_->trash_);
  lock_.unlock();
}

// nghttp2's callbacks, always called by Receive or WriteOut.
struct Connection::Callbacks {
  static Connection* Self(void* user) { return static_cast<Connection*>(user); }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    Connection* self = Self(user);
    const bool plain = head->type == NGHTTP2_DATA && !(head->flags & NGHTTP2_FLAG_PADDED);
    self->payload_id_ = plain ? head->stream_id : 0;
    self->payload_left_ = plain ? head->length : 0;
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Connection* self = Self(user);
    if (!self->server_ || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Ref<Exchange> exchange = self->owner_->Accept(self);
    exchange->id_ = frame->hd.stream_id;
    self->exchanges_.emplace(frame->hd.stream_id, std::move(exchange));
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* user) {
    Exchange* exchange = Self(user)->Find(frame->hd.stream_id);
    if (!exchange) return 0;
    exchange->header_bytes_ += name_size + value_size + 32;
    if (exchange->header_bytes_ > kMaxHeaders) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    exchange->OnHeader(View(name, name_size), View(value, value_size));
    return 0;
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
    Connection* self = Self(user);
    if (self->payload_id_ == id) self->payload_left_ -= std::min(size, self->payload_left_);
    Exchange* exchange = self->Find(id);
    if (exchange && !exchange->broken_) {
      try {
        exchange->reader_.Feed(reinterpret_cast<const char*>(data), size, &self->messages_);
        if (!self->messages_.empty()) exchange->OnMessages(&self->messages_);
      } catch (...) {
        const Ref<Exchange> keep = ShareRef(exchange);
        exchange->OnBroken(CurrentStatus());
        // A server's answer would not go out after a reset; the reset follows it, see OnFrameSent.
        exchange->broken_ = true;
        if (!self->server_) self->Reset(exchange, NGHTTP2_CANCEL);
      }
      self->messages_.clear();
    }
    self->Consume(id, size);
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Connection* self = Self(user);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        if (!self->greeted_) self->greeted_ = self->tell_greeted_ = true;
        return 0;
      case NGHTTP2_GOAWAY: self->draining_ = !self->server_; return 0;
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA: break;
      default: return 0;
    }
    Exchange* exchange = self->Find(frame->hd.stream_id);
    if (!exchange) return 0;
    const Ref<Exchange> keep = ShareRef(exchange);
    if (frame->hd.type == NGHTTP2_HEADERS) exchange->OnHeadersEnd();
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
      exchange->input_ended_ = true;
      if (exchange->broken_) {
      } else if (exchange->reader_.inside()) {
        exchange->OnBroken(MakeError(Code::kInternal, "a message was cut off").status());
      } else {
        exchange->OnInputEnd();
      }
    }
    return 0;
  }

  // Stops a request that was answered before it was complete.
  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Connection* self = Self(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) self->draining_ = true;  // nghttp2's word to a peer that resets too much
    if (!self->server_ || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    const Exchange* exchange = self->Find(frame->hd.stream_id);
    if (exchange && !exchange->input_ended_) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error, void* user) {
    Connection* self = Self(user);
    Exchange* found = self->Find(id);
    if (!found) return 0;
    const Ref<Exchange> exchange = ShareRef(found);
    self->Erase(found);
    exchange->OnClosed(
        error == NGHTTP2_NO_ERROR
            ? Status()
            : Status(CodeOfStreamError(error), StrCat("Stream was reset by ", self->name_, " with HTTP/2 error ", error,
                                                      " (", nghttp2_http2_strerror(error), ")")));
    return 0;
  }

  static ssize_t FrameLength(nghttp2_session*, uint8_t, int32_t, int32_t, int32_t, uint32_t remote, void*) {
    return std::min(kMaxFrame, remote);
  }

  // How much of an exchange's body the next DATA frame takes.
  static ssize_t Read(nghttp2_session*, int32_t id, uint8_t*, size_t room, uint32_t* flags, nghttp2_data_source*,
                      void* user) {
    Connection* self = Self(user);
    Exchange* exchange = self->Find(id);
    if (!exchange) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t pending = exchange->writer_.pending();
    if (pending == 0 && !exchange->writer_.closed()) {
      exchange->deferred_ = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    const size_t taken = std::min(pending, room);
    if (taken == pending && exchange->writer_.closed()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (exchange->SubmitTrailers()) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    }
    return static_cast<ssize_t>(taken);
  }

  static int SendData(nghttp2_session*, nghttp2_frame* frame, const uint8_t* head, size_t size, nghttp2_data_source*,
                      void* user) {
    Connection* self = Self(user);
    if (self->out_.bytes() >= kPulled || self->out_.pieces() >= kParts) return NGHTTP2_ERR_WOULDBLOCK;
    Exchange* exchange = self->Find(frame->hd.stream_id);
    if (!exchange || exchange->writer_.pending() < size) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    self->out_.Copy(reinterpret_cast<const char*>(head), 9);
    const size_t before = exchange->writer_.owned();
    exchange->writer_.Take(size, &self->out_, &self->trash_);
    self->waiting_bytes_ -= before - exchange->writer_.owned();
    return 0;
  }

  static nghttp2_session_callbacks* All() {
    static nghttp2_session_callbacks* all = [] {
      nghttp2_session_callbacks* fresh;
      nghttp2_session_callbacks_new(&fresh);
      nghttp2_session_callbacks_set_on_begin_frame_callback(fresh, OnBeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(fresh, OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(fresh, OnHeader);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(fresh, OnDataChunk);
      nghttp2_session_callbacks_set_on_frame_recv_callback(fresh, OnFrame);
      nghttp2_session_callbacks_set_on_frame_send_callback(fresh, OnFrameSent);
      nghttp2_session_callbacks_set_on_stream_close_callback(fresh, OnStreamClose);
      nghttp2_session_callbacks_set_data_source_read_length_callback(fresh, FrameLength);
      nghttp2_session_callbacks_set_send_data_callback(fresh, SendData);
      return fresh;
    }();
    return all;
  }

  static nghttp2_option* Options() {
    static nghttp2_option* options = [] {
      nghttp2_option* fresh;
      nghttp2_option_new(&fresh);
      nghttp2_option_set_no_auto_window_update(fresh, 1);
      nghttp2_option_set_no_closed_streams(fresh, 1);  // their memory serves priorities only
      nghttp2_option_set_stream_reset_rate_limit(fresh, kResetBurst, kResetRate);
      return fresh;
    }();
    return options;
  }
};

// Closes a connection whose peer does not greet.
class Connection::GreetingTimer final : public Runnable {
 public:
  explicit GreetingTimer(Ref<Connection> connection) : connection_(std::move(connection)) {}
  void Run() override {
    const Lock lock(connection_.get());
    if (connection_->greeted_) return;
    connection_->Close(MakeError(Code::kUnavailable, connection_->name_, " does not answer as HTTP/2").status());
  }

 private:
  const Ref<Connection> connection_;
};

Connection::Connection(Loop* loop, std::unique_ptr<ByteStream> stream, bool server, std::string name,
                       std::shared_ptr<Owner> owner)
    : loop_(loop), server_(server), name_(std::move(name)), stream_(std::move(stream)), owner_(std::move(owner)) {
  const int failed = server_ ? nghttp2_session_server_new2(&session_, Callbacks::All(), this, Callbacks::Options())
                             : nghttp2_session_client_new2(&session_, Callbacks::All(), this, Callbacks::Options());
  if (failed) throw ResourceExhausted("out of memory for a connection with ", name_);
  nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}, {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxFrame},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaders},  {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},           {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, server_ ? 5 : 6);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Connection::~Connection() { nghttp2_session_del(session_); }

void Connection::Start(std::chrono::milliseconds greeting) {
  const Lock lock(this);
  if (closed_) return;
  greeting_timer_ = loop_->AddTimer(Clock::now() + greeting, MakeRef<GreetingTimer>(ShareRef(this)));
  if (!loop_->Add(stream_->fd(), EPOLLIN, ShareRef(this))) {
    return Close(Status(Code::kUnavailable, StrCat("Cannot watch the connection with ", name_)));
  }
  loop_->Schedule(ShareRef(this));
}

Exchange* Connection::Find(int32_t id) const {
  if (found_ && found_->id_ == id) return found_;  // callbacks of one stream follow each other
  const auto it = exchanges_.find(id);
  if (it == exchanges_.end()) return nullptr;
  return found_ = it->second.get();
}

void Connection::SubmitRequest(Ref<Exchange> exchange, const Headers& headers) {
  nghttp2_data_provider body{{.ptr = nullptr}, Callbacks::Read};
  const int32_t id = nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(), &body, nullptr);
  if (id < 0) {  // out of memory, or of numbers for streams
    draining_ = true;
    exchange->OnClosed(Status(Code::kUnavailable, StrCat("Cannot send to ", name_, ": ", nghttp2_strerror(id))));
    return;
  }
  exchange->id_ = id;
  waiting_bytes_ += exchange->writer_.owned();
  exchanges_.emplace(id, std::move(exchange));
}

void Connection::SubmitResponse(Exchange* exchange, const Headers& headers, bool body) {
  nghttp2_data_provider provider{{.ptr = nullptr}, Callbacks::Read};
  nghttp2_submit_response(session_, exchange->id_, headers.data(), headers.size(), body ? &provider : nullptr);
}

void Connection::SubmitTrailers(Exchange* exchange, const Headers& headers) {
  nghttp2_submit_trailer(session_, exchange->id_, headers.data(), headers.size());
}

void Connection::Write(Exchange* exchange, Ref<SharedMessage> message) {
  const size_t before = exchange->writer_.owned();
  exchange->writer_.Add(std::move(message));
  waiting_bytes_ += exchange->writer_.owned() - before;
  Resume(exchange);
}

void Connection::CloseWrites(Exchange* exchange) {
  exchange->writer_.Close();
  Resume(exchange);
}

void Connection::Resume(Exchange* exchange) {
  if (!exchange->deferred_) return;
  exchange->deferred_ = false;
  nghttp2_session_resume_data(session_, exchange->id_);
}

void Connection::DropBody(Exchange* exchange) {
  waiting_bytes_ -= exchange->writer_.owned();
  exchange->writer_.Drop(&trash_);
}

void Connection::Erase(Exchange* exchange) {
  DropBody(exchange);
  if (payload_id_ == exchange->id_) payload_id_ = 0;
  found_ = nullptr;
  exchanges_.erase(exchange->id_);
}

void Connection::Reset(Exchange* exchange, uint32_t error) {
  if (closed_ || Find(exchange->id_) != exchange) return;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange->id_, error);
  Erase(exchange);
}

void Connection::Consume(int32_t id, size_t size) {
  nghttp2_session_consume_stream(session_, id, size);
  owed_window_ += size;
  if (held_.empty()) nghttp2_session_consume_connection(session_, std::exchange(owed_window_, 0));
}

bool Connection::HoldBack(Exchange* exchange) {
  if (waiting_bytes_ < kMaxWaiting) return false;
  held_.push_back(ShareRef(exchange));
  return true;
}

void Connection::ReleaseHeld() {
  if (held_.empty() || waiting_bytes_ >= kMaxWaiting / 2) return;
  for (Ref<Exchange>& exchange : held_) loop_->Schedule(std::move(exchange));
  held_.clear();
  nghttp2_session_consume_connection(session_, std::exchange(owed_window_, 0));
}

void Connection::Drain() {
  if (closed_ || draining_) return;
  draining_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
  loop_->Schedule(ShareRef(this));
}

void Connection::Close(Status why) {
  if (closed_) return;
  closed_ = true;
  why_ = std::move(why);
  loop_->CancelTimer(greeting_timer_);
  loop_->Remove(stream_->fd(), this);
  stream_.reset();
  if (!writing_) out_.Clear(&trash_);
  held_.clear();
  std::unordered_map<int32_t, Ref<Exchange>> exchanges;
  exchanges.swap(exchanges_);
  found_ = nullptr;
  for (const auto& [id, exchange] : exchanges) {
    exchange->writer_.Drop(&trash_);
    exchange->OnClosed(why_);
  }
  tell_end_ = true;
  loop_->Schedule(ShareRef(this));
}

void Connection::OnStop() {
  const Lock lock(this);
  Close(Status(Code::kCancelled, "the process ends"));
}

void Connection::OnReady(uint32_t events) {
  Lock lock(this);
  if (closed_) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) Receive(&lock);
  // Written after the exchanges that were scheduled meanwhile have run, so that their answers go out together.
  loop_->Schedule(ShareRef(this));
}

void Connection::Run() {
  bool greeted, ended;
  std::shared_ptr<Owner> owner;
  Status why;
  {
    Lock lock(this);
    if (!closed_) WriteOut(&lock, kBudget);
    greeted = std::exchange(tell_greeted_, false);
    ended = std::exchange(tell_end_, false);
    owner = owner_;
    if (ended) {
      owner_.reset();
      why = why_;
    }
  }
  if (greeted && owner) {
    loop_->CancelTimer(greeting_timer_);
    owner->OnGreeted(this);
  }
  if (ended && owner) owner->OnEnd(this, why);
}

void Connection::Flush(Lock* lock) {
  if (closed_) return;
  if (writing_) return;  // that thread goes on with it
  if (Loop::Here() != loop_ && !watches_writes_) {
    // A call alone, or one after the other's answer, is written by its own thread, which is the quickest; many in turn
    // are left to the loop, which writes them together.
    const auto now = Clock::now();
    if (exchanges_.size() <= 1 || received_ || now - last_write_ > kTogether) {
      last_write_ = now;
      received_ = false;
      WriteOut(lock, kInlineBudget);
      return;
    }
  }
  if (!watches_writes_) loop_->Schedule(ShareRef(this));
}

void Connection::Receive(Lock* lock) {
  for (size_t budget = kBudget; !closed_;) {
    iovec parts[2];
    int count = 0;
    size_t direct_size = 0, room = Loop::kScratch;
    Ref<Exchange> exchange;  // whose place is written to
    if (payload_left_ >= kDirect) {
      exchange = ShareRef(Find(payload_id_));
      char* data;
      size_t size;
      try {
        if (exchange && !exchange->broken_ && exchange->reader_.Direct(kDirect, &data, &size)) {
          direct_size = std::min(size, payload_left_);
          parts[count++] = {data, direct_size};
          room = 64;  // the next frame's header
        }
      } catch (const Error&) {  // no memory: Feed says so
      }
    }
    parts[count++] = {loop_->scratch(), room};
    const std::shared_ptr<ByteStream> stream = stream_;
    lock->lock_.unlock();
    const ssize_t got = stream->Read(parts, count);
    lock->lock_.lock();
    if (closed_) return;
    if (got == -EAGAIN) return;
    if (got <= 0) {
      return Close(Status(Code::kUnavailable, got == 0 ? StrCat("Connection with ", name_, " was closed by the peer")
                                                       : StrCat("Connection with ", name_,
                                                                " failed: ", ErrorText(static_cast<int>(-got)))));
    }
    const size_t size = static_cast<size_t>(got), first = std::min(size, direct_size);
    if (first > 0 && !Feed(lock, static_cast<const char*>(parts[0].iov_base), first)) return;
    if (size > first && !Feed(lock, loop_->scratch(), size - first)) return;
    if (size < direct_size + room || size >= budget) return;
    budget -= size;
  }
}

bool Connection::Feed(Lock* lock, const char* data, size_t size) {
  received_ = true;
  const ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(data), size);
  if (taken >= 0) return true;
  WriteOut(lock, kInlineBudget);  // nghttp2 may have a last word
  Close(Status(Code::kUnavailable,
               StrCat("Connection with ", name_, " failed: ", nghttp2_strerror(static_cast<int>(taken)))));
  return false;
}

void Connection::Pull() {
  while (out_.bytes() < kPulled && out_.pieces() < kParts) {
    const uint8_t* data;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) {
      Close(Status(Code::kUnavailable,
                   StrCat("Connection with ", name_, " failed: ", nghttp2_strerror(static_cast<int>(size)))));
      return;
    }
    if (size == 0) return;
    out_.Copy(reinterpret_cast<const char*>(data), size);
  }
}

void Connection::WriteOut(Lock* lock, size_t budget) {
  if (writing_) return;  // that thread writes the rest too
  for (size_t written = 0; !closed_;) {
    if (out_.empty()) Pull();
    if (closed_ || out_.empty()) break;
    if (written >= budget) return WatchWrites(true);
    iovec parts[kParts];
    const int count = out_.Fill(parts, kParts);
    const std::shared_ptr<ByteStream> stream = stream_;
    writing_ = true;
    lock->lock_.unlock();
    const ssize_t n = stream->Write(parts, count);
    lock->lock_.lock();
    writing_ = false;
    if (closed_) return out_.Clear(&trash_);
    if (n == -EAGAIN) return WatchWrites(true);
    if (n < 0) {
      return Close(
          Status(Code::kUnavailable, StrCat("Connection with ", name_, " failed: ", ErrorText(static_cast<int>(-n)))));
    }
    out_.Advance(n, &trash_);
    written += n;
  }
  if (closed_) return;
  WatchWrites(false);
  ReleaseHeld();
  if ((draining_ && exchanges_.empty()) ||
      (!nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_))) {
    Close(Status(Code::kUnavailable, StrCat("Connection with ", name_, " was shut down")));
  }
}

void Connection::WatchWrites(bool watch) {
  if (watch == watches_writes_) return;
  watches_writes_ = watch;
  loop_->Change(stream_->fd(), watch ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
}

}  // namespace penstock::rpc
