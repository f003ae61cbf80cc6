"""Draw contact sheets: frames of a source and of what was made of it, below each other, with their phonemes.

usage: sheet.py JOB   (JSON, see sheetJob in sheets.go)

A sheet shows a passage of the speech, in frames from left to right and strips from top to bottom. Each frame is cropped to the
lower half of the face. Beneath it are its number and the phoneme at its middle, in red where the passage is about it. A thick
line parts frames that do not follow each other.
"""
import importlib.machinery, importlib.util, json, os, sys
from pathlib import Path

import cv2
import numpy as np
from scipy.ndimage import gaussian_filter1d

CELL = 140, 112  # width and height of a frame, pixels
COLUMNS, PAGE = 8, 1100  # frames in a strip; height of a page in pixels
CAPTION, MARGIN, LABEL = 18, 4, 56
NEAR = 0.07  # seconds before and after a phoneme that belong to its passage
FONT, INK, RED = cv2.FONT_HERSHEY_SIMPLEX, (40, 40, 40), (30, 30, 220)


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def source_landmarks(job, score, frames):
    """Landmarks of each source frame, (n, 468, 2), from the file of an earlier call if there is one."""
    cache = Path(job["landmarks"])
    if not cache.exists():
        part = cache.with_suffix(f".{os.getpid()}.npy")
        np.save(part, score.landmarks(frames))
        part.rename(cache)
    return np.load(cache)


def crops(frames, P):
    """The lower half of the face in each frame, from the tip of the nose to below the chin."""
    nose, chin, mouth = P[:, 4], P[:, 152], P[:, [61, 291]].mean(1)
    wide = 1.15 * np.median(np.linalg.norm(chin - nose, axis=1)) * CELL[0] / CELL[1]
    centre = gaussian_filter1d(np.stack([mouth[:, 0], (nose[:, 1] + chin[:, 1]) / 2], 1), 3, axis=0, mode="nearest")
    scale = CELL[0] / wide
    for frame, (x, y) in zip(frames, centre):
        M = np.float32([[scale, 0, CELL[0] / 2 - scale * x], [0, scale, CELL[1] / 2 - scale * y]])
        # cv2's warp does not average: shrink large pictures first.
        small = cv2.GaussianBlur(frame, (0, 0), 0.4 / scale) if scale < 0.7 else frame
        yield cv2.warpAffine(small, M, CELL, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def passage(name, spans, visemes, n, fps):
    """Frames of a passage, in order, and its phonemes."""
    if name == "run":  # consecutive frames from the first sound on
        first = next((p for m, p, _ in spans if m and not m.startswith("_")), 0)
        start = max(int(first * fps) - 2, 0)
        return list(range(start, min(start + 48, n))), set()
    about = {"closed": visemes.CLOSED, "teeth": visemes.TEETH, "rounded": visemes.ROUND}[name]
    picked = set()
    for m, p, q in spans:
        if m in about:
            picked |= set(range(max(int((p - NEAR) * fps), 0), min(int((q + NEAR) * fps) + 1, n)))
    return sorted(picked), about


def text(page, at, words, colour):
    cv2.putText(page, words, at, FONT, 0.4, colour, 1, cv2.LINE_AA)


def strip(page, y, rows, names, shown, captions, about, last):
    for r, (row, name) in enumerate(zip(rows, names)):
        text(page, (2, y + r * CELL[1] + CELL[1] // 2), name, INK)
        for i, k in enumerate(shown):
            x = LABEL + i * CELL[0]
            page[y + r * CELL[1]:y + (r + 1) * CELL[1], x:x + CELL[0]] = row[k]
    bottom = y + len(rows) * CELL[1]
    for i, k in enumerate(shown):
        x = LABEL + i * CELL[0]
        text(page, (x + 6, bottom + 13), str(k), INK)
        text(page, (x + 60, bottom + 13), captions[k], RED if captions[k] in about else INK)
        if k != last + 1:
            cv2.line(page, (x, y), (x, bottom), (255, 255, 255), 6)
            cv2.line(page, (x, y), (x, bottom), (0, 0, 0), 2)
        last = k
    return last


def sheets(prefix, title, rows, names, shown, captions, about):
    """Write as many pages as the frames need."""
    height = len(rows) * CELL[1] + CAPTION + MARGIN
    strips = [shown[i:i + COLUMNS] for i in range(0, len(shown), COLUMNS)]
    each = max((PAGE - 24) // height, 1)
    for number, start in enumerate(range(0, len(strips), each), 1):
        part = strips[start:start + each]
        page = np.full((24 + len(part) * height, LABEL + COLUMNS * CELL[0], 3), 255, np.uint8)
        text(page, (4, 16), f"{title}, page {number}", INK)
        last = part[0][0] - 1
        for i, frames in enumerate(part):
            last = strip(page, 24 + i * height, rows, names, frames, captions, about, last)
        cv2.imwrite(f"{prefix}-{number}.png", page)


def main():
    job = json.loads(sys.argv[1])
    tools = Path(job["tools"])
    visemes = load(tools / "visemes")
    score = visemes.score
    source = score.frames(job["source"])
    P = source_landmarks(job, score, source)
    made = {path: score.frames(path) for path in {row["path"] for sheet in job["sheets"] for row in sheet["rows"]}}
    n = min(len(frames) for frames in made.values())
    # The source is played forward and backward until the speech ends.
    period = max(2 * len(source) - 2, 1)
    k = np.arange(n) % period
    k = np.where(k < len(source), k, period - k)
    cropped = {path: list(crops(frames[:n], P[k])) for path, frames in made.items()}
    original = list(crops(source[k], P[k]))

    fps = score.probe(next(iter(made)))
    spans = visemes.spans(json.load(open(job["events"])))
    captions = [next((m for m, p, q in spans if p <= (i + 0.5) / fps < q), "") for i in range(n)]
    for sheet in job["sheets"]:
        shown, about = passage(sheet["passage"], spans, visemes, n, fps)
        rows = [original] + [cropped[row["path"]] for row in sheet["rows"]]
        names = ["source"] + [row["name"] for row in sheet["rows"]]
        if shown:
            sheets(sheet["prefix"], f"{job['title']}: {sheet['passage']}", rows, names, shown, captions, about)


main()
