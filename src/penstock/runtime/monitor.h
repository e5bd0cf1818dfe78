// What a process does with every kernel that runs, once it is asked to: steps, functions and eager ops alike.
#pragma once

#include "penstock/io/config.h"

namespace penstock {

// Records it, from Start on; Stop gives what ran and ends it. Starting again begins anew.
void StartProcessTrace();
RunMetadata StopProcessTrace();

// Says on standard error which op runs where.
void LogPlacement(bool on);

// Refuses results that are not finite: the step fails with InvalidArgument, which names op and output. What ops of the
// kinds that only move values give is not looked at, nor are the statistics of batch normalisation.
void CheckNumerics(bool on);

}  // namespace penstock
