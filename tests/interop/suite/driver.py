"""A client's driver as a process that answers one line of JSON with another."""

import json
import os
import queue
import subprocess
import threading

LIMIT = 90


class NotOffered(Exception):
    """The client has no such call; the message says which."""


class DriverFailed(Exception):
    """The client reported an error, ended, or did not answer in time."""


class Driver:
    def __init__(self, command, bootstrap, log):
        self.log = open(log, "wb")
        self.process = subprocess.Popen([str(word) for word in [*command, bootstrap]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, encoding="utf-8",
                                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.answers = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.ended = None

    def listen(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def ask(self, op, **arguments):
        if self.ended:
            raise DriverFailed(self.ended)
        try:
            self.process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=LIMIT)
        except queue.Empty:
            self.end(f"no answer to {op} within {LIMIT} seconds")
        except OSError as problem:
            self.end(f"the driver is gone: {problem}{self.last_words()}")
        if line is None:
            self.end(f"the driver ended at {op}{self.last_words()}")
        answer = json.loads(line)
        if "not_offered" in answer:
            raise NotOffered(answer["not_offered"])
        if "error" in answer:
            raise DriverFailed(answer["error"])
        return answer["ok"]

    def end(self, why):
        self.ended = why
        self.process.kill()
        raise DriverFailed(why)

    def last_words(self):
        self.log.flush()
        with open(self.log.name, errors="replace") as log:
            return ": " + " / ".join(log.read().splitlines()[-3:])

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.log.close()
