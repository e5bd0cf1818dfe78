// Forking while other threads run. A child has none of the parent's threads; a mutex that one of them held would stay
// locked in it for ever.
#pragma once

#include <mutex>

namespace penstock {

// Grows by one in every forked child.
int ForkGeneration();

// A mutex that the forking thread holds during fork(), so that it is free in the child and what it guards is whole: for
// all that is shared by the process (allocators, registries, caches, sessions). They need no order among each other:
// either all of them are taken or none, and none is waited for while another one is held. Where one is held for
// seconds, perhaps by a thread that waits for the forking one, fork() goes on without it.
class ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
};

// The same for a mutex that is declared elsewhere, until it is forgotten, before it is destroyed.
void HoldDuringFork(std::mutex* mutex);
void ForgetAtFork(std::mutex* mutex);

}  // namespace penstock
