// Reference variables that are read again behind an update.
//
// `variable/read`, the Identity that stands for the value of a reference variable, is made once, but programs of
// version 1 use it behind updates too: `with tf.control_dependencies([update]): y = variable * 2`. In TensorFlow its
// output is the variable's memory, so that y sees the update. Here a read is a snapshot; what is ordered behind an
// update gets a read of its own.
#pragma once

#include "penstock/graph/graph.h"

namespace penstock {

// Gives each node that is ordered behind an update of a reference variable, and reads the variable through something
// that is not, a read that is. Looks through identities, reshapes and conditionals, whose outputs are memory of
// the variable in TensorFlow. A result that is such memory is ordered behind all updates, be they in branches or
// loops. A loop that updates a variable takes the variable from outside and not a value of it.
void RereadVariables(Graph& graph);

}  // namespace penstock
