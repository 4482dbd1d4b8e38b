"""librdkafka's exported partitioner functions, in the shared object that a confluent-kafka wheel brings."""

import ctypes
import sys
from pathlib import Path

from . import Client

PRODUCER = 0  # rd_kafka_type_t


def open_client(partitioner):
    library = load(shared_object())
    library.rd_kafka_version_str.restype = ctypes.c_char_p
    function = getattr(library, f"rd_kafka_msg_partitioner_{partitioner}")
    function.restype = ctypes.c_int32
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
    topic = a_topic(library)

    def place(key, count):
        # A null key is a NULL pointer, an empty key a pointer with length 0.
        return function(topic, key, 0 if key is None else len(key), count, None, None)

    # The functions keep nothing between calls but the thread's random state,
    # so one topic handle serves for a process.
    return Client(library.rd_kafka_version_str().decode(), lambda: place)


def shared_object():
    packages = Path(sys.path[0])
    found = [path for pattern in ("librdkafka*.so*", "librdkafka*.dylib") for path in packages.rglob(pattern)]
    if len(found) != 1:
        raise SystemExit(f"{packages}: expected one shared object of librdkafka, found {len(found)}")
    return found[0]


def load(path):
    """Loads the wheel's other libraries first: in old wheels librdkafka doesn't say where they are."""
    waiting = [other for other in path.parent.glob("lib*") if other != path]
    for _ in range(len(waiting)):
        for other in list(waiting):
            try:
                ctypes.CDLL(str(other), mode=ctypes.RTLD_GLOBAL)
                waiting.remove(other)
            except OSError:
                pass  # it needs one that is still waiting, or librdkafka does not need it
    library = ctypes.CDLL(str(path))
    loaded = file_of(library.rd_kafka_version)
    if not loaded.samefile(path):
        # A loader takes what is already there under the same name.
        raise SystemExit(f"{path}: {loaded} was loaded instead")
    return library


class SymbolInfo(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def file_of(function):
    info = SymbolInfo()
    if not ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info)):
        raise SystemExit("dladdr does not know where librdkafka was loaded from")
    return Path(info.file.decode())


def a_topic(library):
    """The handle that the random ones ask whether a partition is available."""
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_topic_new"):
        getattr(library, name).restype = ctypes.c_void_p
    error = ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(library.rd_kafka_conf_new())
    # There is no broker to connect to, which need not be logged.
    library.rd_kafka_conf_set(conf, b"log_level", b"0", error, ctypes.c_size_t(len(error)))
    handle = library.rd_kafka_new(PRODUCER, conf, error, ctypes.c_size_t(len(error)))
    if not handle:
        raise SystemExit(f"rd_kafka_new: {error.value.decode()}")
    return library.rd_kafka_topic_new(ctypes.c_void_p(handle), b"topic", None)
