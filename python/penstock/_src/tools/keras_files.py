"""penstock inspect of Keras' files: the layers of a .keras file, the arrays of a .h5 file."""
import io
import json
import zipfile


def inspect(path, out):
    """Prints the table; the exit status."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            config = json.loads(file.read("config.json"))
            metadata = json.loads(file.read("metadata.json"))
            weights = file.read("model.weights.h5") if "model.weights.h5" in file.namelist() else None
        print("Keras %s: %s %s" % (metadata.get("keras_version", "?"), config.get("class_name", "model"),
                                   config.get("config", {}).get("name", "")), file=out)
        for layer in config.get("config", {}).get("layers", []):
            inner = layer.get("config", {})
            shape = inner.get("batch_shape") or layer.get("build_config", {}).get("input_shape") or ""
            print("  %-20s %-24s %s" % (layer.get("class_name", "?"), inner.get("name", ""), shape), file=out)
        return 0 if weights is None else _arrays(io.BytesIO(weights), out)
    return _arrays(path, out)


def _arrays(file, out):
    """The arrays of an HDF5 file, with the groups that lead to them."""
    try:
        import h5py
    except ImportError:
        print("the arrays are in HDF5: pip install h5py", file=out)
        return 1
    found = []
    with h5py.File(file, "r") as opened:
        config = opened.attrs.get("model_config")
        if config is not None:
            model = json.loads(config)
            print("Keras %s: %s" % (opened.attrs.get("keras_version", "?"), model.get("class_name", "model")), file=out)
        opened.visititems(lambda name, item: found.append((name, item.dtype.name, list(item.shape), item.nbytes))
                          if isinstance(item, h5py.Dataset) else None)
    print("%d arrays, %d bytes" % (len(found), sum(row[3] for row in found)), file=out)
    for name, dtype, shape, _ in found:
        print("  %-50s %-8s %s" % (name, dtype, shape), file=out)
    return 0
