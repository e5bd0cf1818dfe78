// Rendezvous within one process.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "penstock/kernel/services.h"

namespace penstock {

// Values sent under a key wait for receivers and the other way round, in order.
class LocalRendezvous final : public Rendezvous {
 public:
  void Send(const std::string& key, Tensor value, bool is_dead) override;
  void ReceiveAsync(const std::string& key, Received done) override;
  void Abort(Status status) override;

 private:
  struct Item {
    Tensor value;
    bool is_dead = false;
    Received receiver;  // set: somebody waits
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::deque<Item>> items_;
  Status aborted_;
};

}  // namespace penstock
