// What every binary links: fills the registries from the explicit lists.
#pragma once

namespace penstock {

// Registers ops, kernels and devices of this process. Idempotent; to be called before anything else.
void Initialize();

}  // namespace penstock
