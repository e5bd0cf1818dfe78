// Which process this is, for whoever has threads: a forked child has none of those that its parent started.
#pragma once

namespace penstock {

// Grows by one in every forked child.
int ForkGeneration();

}  // namespace penstock
