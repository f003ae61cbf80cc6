"""Draw contact sheets: frames of a source and of what was made of it, below each other, with their phonemes.

usage: sheet.py JOB   (JSON, see sheetJob in sheets.go)

A sheet shows a passage of the speech, in frames from left to right and strips from top to bottom. Each frame is cropped to the
lower half of the face. Beneath it are its number and the phoneme at its middle, in red where the passage is about it. A thick
line parts frames that do not follow each other.

Prints a JSON list with the longest hold of each output, in seconds: of the frames with speech that follow each other and show the
mouth as the first of them does. Mouths are compared as the skull carries them, so a head that moves is no movement of the mouth.
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
SKULL = [33, 133, 362, 263, 168, 6, 197, 195, 5, 4]  # landmarks that no mouth moves: corners of the eyes, bridge of the nose
MOUTH, SLACK = (64, 48), 3  # size of a mouth that is compared, and how far it may be off, pixels
SAME = 0.985  # two mouths with this correlation of their pixels look the same to the eye
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


def cut(frame, M, size, how=cv2.INTER_LINEAR):
    """The picture of a size that M maps a part of a frame to."""
    scale = np.sqrt(abs(np.linalg.det(M[:, :2])))
    if scale < 0.7:  # cv2's warp does not average: blur first what it takes
        corners = cv2.invertAffineTransform(M) @ [[0, size[0], 0, size[0]], [0, 0, size[1], size[1]], [1, 1, 1, 1]]
        most = np.array(frame.shape[1::-1]) - 1
        (x, y), (right, bottom) = [np.clip(c, 0, most).astype(int) for c in (corners.min(1) - 8, corners.max(1) + 8)]
        frame = cv2.GaussianBlur(frame[y:bottom + 1, x:right + 1], (0, 0), 0.4 / scale)
        M = np.c_[M[:, :2], M @ [x, y, 1]]
    return cv2.warpAffine(frame, M, size, flags=how, borderMode=cv2.BORDER_REPLICATE)


def crops(frames, P):
    """The lower half of the face in each frame, from the tip of the nose to below the chin."""
    nose, chin, mouth = P[:, 4], P[:, 152], P[:, [61, 291]].mean(1)
    wide = 1.15 * np.median(np.linalg.norm(chin - nose, axis=1)) * CELL[0] / CELL[1]
    centre = gaussian_filter1d(np.stack([mouth[:, 0], (nose[:, 1] + chin[:, 1]) / 2], 1), 3, axis=0, mode="nearest")
    scale = CELL[0] / wide
    for frame, (x, y) in zip(frames, centre):
        M = np.float32([[scale, 0, CELL[0] / 2 - scale * x], [0, scale, CELL[1] / 2 - scale * y]])
        yield cut(frame, M, CELL, cv2.INTER_CUBIC)


def mouths(frames, P):
    """The mouth in each frame, small and grey, as it would be if the skull stayed where the first frame has it."""
    P = gaussian_filter1d(P, 2, axis=0, mode="nearest").astype(np.float32)
    still = [cv2.estimateAffinePartial2D(p[SKULL], P[0, SKULL], method=cv2.LMEDS)[0] for p in P]
    lips = np.stack([p[[61, 291, 0, 17]] @ M[:, :2].T + M[:, 2] for p, M in zip(P, still)])  # corners, upper and lower edge
    (x, y), scale = np.median(lips.mean(1), 0), MOUTH[0] / 1.2 / np.percentile(np.linalg.norm(lips[:, 0] - lips[:, 1], axis=1), 90)
    for frame, M in zip(frames, still):
        M = scale * M + [[0, 0, MOUTH[0] / 2 - scale * x], [0, 0, MOUTH[1] / 2 - scale * y]]
        grey = cv2.cvtColor(cut(frame, M, MOUTH), cv2.COLOR_BGR2GRAY)
        yield cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 1)


def longest_hold(pictures, spoken):
    """The first frame of the longest hold, and the one after its last."""
    best = 0, 0
    for i, picture in enumerate(pictures):
        inner, j = np.ascontiguousarray(picture[SLACK:-SLACK, SLACK:-SLACK]), i
        while j < len(pictures) and spoken[j] and cv2.matchTemplate(pictures[j], inner, cv2.TM_CCOEFF_NORMED).max() >= SAME:
            j += 1
        best = max(best, (i, j), key=lambda hold: hold[1] - hold[0])
    return best


def passage(name, spans, visemes, n, fps, hold):
    """Frames of a passage, in order, and its phonemes."""
    if name == "hold":  # with what comes before and after
        return list(range(max(hold[0] - 4, 0), min(hold[1] + 4, n))), set()
    if name == "run":  # consecutive frames from the first sound on
        first = next((p for m, p, _ in spans if m and not m.startswith("_")), 0)
        start = max(int(first * fps) - 2, 0)
        return list(range(start, min(start + 48, n))), set()
    about = {"closed": visemes.CLOSED, "vowels": visemes.OPEN, "teeth": visemes.TEETH, "rounded": visemes.ROUND}[name]
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
    height, width = source[0].shape[:2]
    made = {path: score.frames(path, size=(width, height)) for path in job["outputs"]}  # outputs of pixels that aren't square have another size
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
    spoken = [caption != "" and not caption.startswith("_") for caption in captions]
    holds = [longest_hold(list(mouths(frames[:n], P[k])), spoken) for frames in made.values()]
    json.dump([(end - start) / fps for start, end in holds], sys.stdout)
    for sheet in job["sheets"]:
        shown, about = passage(sheet["passage"], spans, visemes, n, fps, max(holds, key=lambda hold: hold[1] - hold[0]))
        rows = [original] + [cropped[row["path"]] for row in sheet["rows"]]
        names = ["source"] + [row["name"] for row in sheet["rows"]]
        if shown:
            sheets(sheet["prefix"], f"{job['title']}: {sheet['passage']}", rows, names, shown, captions, about)


main()
