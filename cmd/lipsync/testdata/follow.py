"""Prints a JSON list with the curves of each output, as syncscore does, of the lips that `visemes --refined` reads.

usage: follow.py TOOLS (OUTPUT.mp4 SPEECH.wav EVENTS.json)...
"""

import importlib.machinery
import importlib.util
import json
import sys

import onnxruntime


class Session(onnxruntime.InferenceSession):
    """A network on one thread: others would only wait, by spinning."""

    def __init__(self, path, sess_options=None, **others):
        sess_options = sess_options or onnxruntime.SessionOptions()
        if sess_options.intra_op_num_threads == 0:  # the caller leaves it open
            sess_options.intra_op_num_threads = 1
        super().__init__(path, sess_options, **others)


onnxruntime.InferenceSession = Session
tools, *files = sys.argv[1:]
loader = importlib.machinery.SourceFileLoader("visemes", tools + "/visemes")
visemes = importlib.util.module_from_spec(importlib.util.spec_from_loader("visemes", loader))
loader.exec_module(visemes)
score = visemes.score
score.mesh_at = visemes.refined()


def curves(output, speech, events):
    opening = score.opening(score.landmarks(score.frames(output, fps=25)))
    with open(events) as file:
        asked = score.asked(json.load(file), len(opening))
    loudness = score.loudness(score.samples(speech), len(opening))
    return {name: score.summary(score.lags(opening, curve)) for name, curve in (("articulation", asked), ("envelope", loudness))}


print(json.dumps([curves(*files[i : i + 3]) for i in range(0, len(files), 3)]))
