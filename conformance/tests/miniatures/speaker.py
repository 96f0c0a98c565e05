"""``speaker.py RUNNER FAULT``: an engine that speaks the protocol itself, right but for one fault.

The fault shows at programs that hold the number 666.
"""

import json
import os
import runpy
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNER, FAULT = sys.argv[1:]
sys.path.insert(0, HERE)
runner = runpy.run_path(RUNNER)
engine = runner["Engine"](__import__("tiny"), "speaker")
schema = {}
kept = []


def say(message):
    line = message if isinstance(message, str) else json.dumps(message)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def hello():
    if FAULT == "silent":
        time.sleep(60)
    if FAULT == "crash at once":
        sys.exit("the engine is broken")
    if FAULT == "no hello":
        return say({"greetings": True})
    if FAULT == "other protocol":
        return say({"hello": dict(runner["describe"](engine), protocol=99)})
    if FAULT == "faulty hello":
        return say({"hello": {"protocol": 1, "name": "speaker"}})
    if FAULT.startswith("lacks "):
        described = runner["describe"](engine)
        described["capabilities"]["reads_absent"] = json.loads(FAULT[len("lacks ") :])
        return say({"hello": described})
    if FAULT == "unreadable":
        return say({"hello": dict(runner["describe"](engine), bytes="none")})
    if FAULT == "prints first":
        say("welcome to the speaker")
    return say({"hello": runner["describe"](engine)})


def answer(number, program, alone):
    trace = runner["run"](program, engine, schema)
    bad = os.environ.get("MINIATURE_AT", "666") in json.dumps(program)
    if FAULT == "late" and kept:
        say(kept.pop())
    reply = {"id": number, "trace": trace}
    if FAULT == "each twice":
        say(reply)
    if not bad:
        return say(reply)
    if FAULT == "garbage":
        return say("]]] not json")
    if FAULT == "number":
        return say("42")
    if FAULT == "nested":
        return say("[" * 100000)
    if FAULT == "nan":
        return say('{"id": NaN}')
    if FAULT == "wrong id":
        return say(dict(reply, id=number + 100000))
    if FAULT == "twice":
        say(reply)
        return say(reply)
    if FAULT == "late":
        return kept.append(reply)
    if FAULT == "no reply":
        return None
    if FAULT == "refuses":
        return say({"id": number, "error": "I do not like this one"})
    if FAULT == "no trace":
        return say({"id": number, "trace": {"steps": 7}})
    if FAULT == "another trace":
        return say(dict(reply, trace=dict(trace, program="0" * 64)))
    if FAULT == "huge":
        return say(dict(reply, padding="x" * 3000000))
    if FAULT == "slow":
        time.sleep(60)
    if FAULT == "closes":
        sys.stdout.flush()
        os.close(1)
        time.sleep(60)
    if FAULT == "crash in a batch" and not alone:
        os._exit(9)
    return say(reply)


for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "hello":
        schema = message["schema"]
        hello()
    elif message["do"] == "run":
        for entry in message["programs"]:
            answer(entry[0], entry[1], len(message["programs"]) == 1)
        say({"done": False if FAULT == "done is false" else message["batch"]})
    else:
        say({"bye": True})
        break
