"""Records what real TensorFlow answers to the cases: python tests/oracle/ops/record.py [FAMILY ...]"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import families  # noqa: E402
import runner  # noqa: E402
import store  # noqa: E402
import tensorflow  # noqa: E402

tf = tensorflow.compat.v1
_ABSENT = (
    "No OpKernel was registered",
    "not in the list of allowed values",
    "Could not find device",
    "not in list of allowed",
    "Could not find valid device",
    "could not be created. Make sure",
    "No registered",
    "is not available in GraphDef",
    "is not allowed",
    "incompatible with",
)


def absent(error):
    return error[0] in ("TypeError", "KeyError", "NotFoundError") or any(phrase in error[1] for phrase in _ABSENT)


def record(family):
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    kept = store.Writer()
    for case in families.cases(family):
        first = True
        for dtype in case.sweep():
            if case.error is not None:
                answer = {
                    "error": runner.evaluate(tf, case, dtype, config).get("error"),
                    "fed": runner.fed_error(tf, case, dtype, config),
                }
                if answer["error"] is None and answer["fed"] is None:
                    print("NO ERROR", case.text())
                    continue
                for where in ("error", "fed"):
                    if answer[where] and case.error not in answer[where][1]:
                        print("PHRASE", case.text(), where, answer[where][0], answer[where][1][:200].replace("\n", " "))
                    answer[where] = answer[where] and [
                        answer[where][0],
                        case.error if case.error in answer[where][1] else "",
                    ]
                kept.add(case.key, dtype, answer)
                continue
            answer = runner.evaluate(tf, case, dtype, config)
            if "error" in answer:
                if absent(answer["error"]):
                    continue
                print(
                    "ERROR", case.text(), dtype, answer["error"][0], answer["error"][1][-200:].replace("\n", " ")
                ) if len(case.sweep()) > 1 else None
                answer["error"][1] = ""
            if "grads_error" in answer:
                answer["grads_error"] = answer["grads_error"][0]
            if first and case.shapes and "error" not in answer:
                answer["shapes"] = runner.shapes(tf, case, dtype)
            first = False
            kept.add(case.key, dtype, answer)
        if first and case.error is None:
            print("NO TYPE", case.text())
    kept.write(family, tensorflow.__version__)
    return len(kept.answers)


if __name__ == "__main__":
    for name in sys.argv[1:] or families.NAMES:
        start = time.time()
        print(name, record(name), "answers", f"{time.time() - start:.0f} s", flush=True)
