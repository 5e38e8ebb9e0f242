"""A private redis-server for tests in Python, and the texts of the function library."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import redis

SOURCE = Path(__file__).resolve().parents[2]
LUA = SOURCE / "src" / "lua"
PARTS = ("due jobs leases held tries dead meta idle keeper "
         "done ready dedupe groups schedules events").split()


def eventually(condition, within=5.0):
    """Whether `condition()` becomes true in time."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.002)
    return bool(condition())


def version():
    return re.search(r"project\(duly VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


def _joined(without):
    names = (LUA / "parts.txt").read_text().split()
    text = "".join((LUA / name).read_text() for name in names if name != without)
    return text.replace("@DULY_VERSION@", version())


def function_text(before=""):
    """The text for FUNCTION LOAD; `before` stands in front of all parts."""
    return "#!lua name=duly\n" + before + _joined("dispatch.lua")


def script_text():
    """The text for SCRIPT LOAD."""
    return _joined("register.lua")


def documented_rights():
    """The rules of the Redis user on the protocol page."""
    text = (SOURCE / "docs" / "protocol.md").read_text()
    return re.search(r"^ACL SETUSER app on (.*?)\n```", text, re.S | re.M)[1].replace("\\\n", " ").split()


def keys_of(queue):
    return [f"duly:{{{queue}}}:{part}" for part in PARTS]


class PrivateRedis:
    """Runs redis-server on a socket in a temporary folder until closed."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="duly-test-")
        self.socket = os.path.join(self.folder, "s")
        self.url = f"unix://{self.socket}"
        self._process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.folder,
             "--logfile", os.path.join(self.folder, "log"), *options],
            stdout=subprocess.DEVNULL, preexec_fn=_die_with_parent)
        if not eventually(self._answers):
            self.close()
            raise RuntimeError("redis-server did not start")

    def client(self, **options):
        return redis.Redis(unix_socket_path=self.socket, **options)

    def _answers(self):
        if not os.path.exists(self.socket):
            return False
        try:
            with self.client() as client:
                return client.ping()
        except redis.RedisError:
            return False

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _die_with_parent():
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Functions:
    """Calls duly by FCALL, as docs/protocol.md says."""

    def __init__(self, client, before=""):
        self.client = client
        client.execute_command("FUNCTION", "LOAD", "REPLACE", function_text(before))

    def __call__(self, name, queue, *arguments, source=()):
        keys = [*keys_of(queue), *source]
        return self.client.execute_command("FCALL", f"duly_{name}", len(keys), *keys, *arguments)

    def version(self):
        return self.client.execute_command("FCALL", "duly_version", 0)


class Script:
    """Calls duly by EVALSHA, as docs/protocol.md says."""

    def __init__(self, client):
        self.client = client
        self.sha = client.script_load(script_text())

    def __call__(self, name, queue, *arguments, source=()):
        keys = [*keys_of(queue), *source]
        return self.client.execute_command("EVALSHA", self.sha, len(keys), *keys, name, *arguments)

    def version(self):
        return self.client.execute_command("EVALSHA", self.sha, 0, "version")


def pairs(row):
    """Name value pairs of a reply as a dictionary; names as text."""
    return {row[i].decode(): row[i + 1] for i in range(0, len(row), 2)}
