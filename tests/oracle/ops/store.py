"""Recorded answers in files: an index in JSON and one run of bytes, compressed together."""

import base64
import io
import json
import os

import numpy as np

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class Writer:
    def __init__(self):
        self.answers, self.data = {}, io.BytesIO()

    def add(self, key, dtype, answer):
        kept = dict(answer)
        for part in ("values", "state", "grads"):
            if part in kept:
                kept[part] = [self._array(value) for value in kept[part]]
        self.answers[f"{key}/{dtype}"] = kept

    def _array(self, value):
        if value is None:
            return None
        if value.dtype == object:
            return ["str", list(value.shape), [base64.b64encode(v).decode() for v in value.ravel()]]
        at = self.data.tell()
        self.data.write(np.ascontiguousarray(value).tobytes())
        return [value.dtype.str, list(value.shape), at]

    def write(self, family, version):
        os.makedirs(_FOLDER, exist_ok=True)
        index = json.dumps({"tensorflow": version, "answers": self.answers}, separators=(",", ":")).encode()
        np.savez_compressed(
            os.path.join(_FOLDER, family + ".npz"),
            index=np.frombuffer(index, np.uint8),
            data=np.frombuffer(self.data.getvalue(), np.uint8),
        )


def read(family):
    """{key: answer} with arrays."""
    with np.load(os.path.join(_FOLDER, family + ".npz")) as stored:
        index, data = json.loads(stored["index"].tobytes()), stored["data"].tobytes()
    answers = index["answers"]
    for answer in answers.values():
        for part in ("values", "state", "grads"):
            if part in answer:
                answer[part] = [_array(value, data) for value in answer[part]]
    return answers


def _array(value, data):
    if value is None:
        return None
    dtype, shape, at = value
    if dtype == "str":
        out = np.empty(len(at), object)
        out[:] = [base64.b64decode(v) for v in at]
        return out.reshape(shape)
    return np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
