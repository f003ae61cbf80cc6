#!/usr/bin/env python3
"""Measures the published pipeline, to compare with.

    pip install -r requirements-reference.txt
    export.py --random 1 --checkpoint random.pth random.onnx
    reference.py CHECKOUT random.pth VIDEO AUDIO

CHECKOUT is a copy of github.com/Rudrabha/Wav2Lip, which is not for commercial
use and no part of this repository. Its inference.py is run as it is, but that the
box of the face is given to it, so that it looks for none. What is timed is its
whole job, from reading the video to the file with sound, without the import of
its libraries. It loads its network for each job, and that is timed too, while
the jobs that bench_test.go times share one that is loaded before.
"""

import argparse
import os
import runpy
import sys
import tempfile
import time

import cv2
import librosa.filters
import torch


def main():
    parser = argparse.ArgumentParser(description="Measure the published pipeline.")
    parser.add_argument("checkout")
    parser.add_argument("files", nargs=3, metavar="FILE", help="checkpoint, video, audio")
    parser.add_argument("--batch", default="16")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    checkpoint, video, audio = map(os.path.abspath, args.files)
    torch.set_num_threads(args.threads)
    sys.path.insert(0, os.path.abspath(args.checkout))

    # The published code is older than the library's present rule of keywords.
    mel = librosa.filters.mel
    librosa.filters.mel = lambda sr, n_fft, **options: mel(sr=sr, n_fft=n_fft, **options)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("temp")
        capture = cv2.VideoCapture(video)
        width, height = int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
        capture.release()
        box = [height // 5, height * 4 // 5, width // 4, width * 3 // 4]  # top, bottom, left, right
        sys.argv = ["inference.py", "--checkpoint_path", checkpoint, "--face", video, "--audio", audio,
                    "--wav2lip_batch_size", args.batch, "--outfile", "out.mp4", "--box", *map(str, box)]
        inference = runpy.run_module("inference")
        started = time.perf_counter()
        inference["main"]()
        took = time.perf_counter() - started
        out = cv2.VideoCapture("out.mp4")
        frames = int(out.get(cv2.CAP_PROP_FRAME_COUNT))
    print(f"reference: {frames} frames in {took:.2f} s: {frames / took:.2f} frames/s")


if __name__ == "__main__":
    main()
