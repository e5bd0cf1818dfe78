"""What is known of code without running it.

activity: names that statements read and write. liveness: names whose values are still read. reaching_definitions:
assignments from which a name has its value. reaching_fndefs: local functions that may be called. type_inference:
types, as a program tells them.
"""
