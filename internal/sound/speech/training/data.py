#!/usr/bin/env python3
"""Have Debian's synthesizers speak, and keep the sound with the time of each phone.

usage: data.py FOLDER        (the packages are in README.md)

For each voice FOLDER gets a file VOICE.pkl: a list of {"voice", "language", "samples" (int16, 16 kHz), "sounds": [(start, end, name)]},
in seconds and the names of phones.py. No voice says a sentence that another of its language says, but for the two of Finnish.
"""
import ctypes, math, multiprocessing, pickle, random, subprocess, sys, tempfile, unicodedata
from pathlib import Path

import numpy as np
from scipy.io import wavfile
from scipy.signal import butter, resample_poly, sosfilt

import phones, texts

RATE = 16000
FESTIVAL = [  # name, voice, language of the phones, language of the text, sentences
    ("ked", "ked_diphone", "en", "en", 260), ("kal", "kal_diphone", "en", "en", 60), ("slt-hts", "cmu_us_slt_arctic_hts", "en", "en", 150),
    ("lp", "lp_diphone", "it", "it", 120), ("pc", "pc_diphone", "it", "it", 120), ("dita", "czech_dita", "cs", "cs", 120),
    ("krb", "czech_krb", "cs", "cs", 100), ("machac", "czech_machac", "cs", "cs", 120), ("ph", "czech_ph", "cs", "cs", 100),
    ("nsh", "msu_ru_nsh_clunits", "ru", "ru", 140), ("ona", "upc_ca_ona_hts", "ca", "es", 140),
    ("lj", "suo_fi_lj_diphone", "fi", "fi", 18), ("mv", "hy_fi_mv_diphone", "fi", "fi", 18),
    ("nsk-hindi", "hindi_NSK_diphone", "in", "hi", 18), ("nsk-telugu", "telugu_NSK_diphone", "in", "te", 13)]
FLITE = [("slt", 420), ("awb", 420), ("kal16", 200), ("rms", 140)]
ESPEAK = [  # voice, language of the text, sentences
    ("en-us", "en", 450), ("en", "en", 250), ("en-gb-scotland", "en", 80), ("en-gb-x-rp", "en", 80), ("en-gb-x-gbclan", "en", 60),
    ("en-029", "en", 60), ("de", "de", 120), ("es", "es", 80), ("it", "it", 60), ("pl", "pl", 90), ("fr", "fr", 240), ("nl", "nl", 60),
    ("sv", "sv", 80), ("nb", "sv", 60), ("af", "nl", 60), ("hu", "de", 40), ("tr", "de", 40), ("pt-br", "pt", 60), ("bg", "bg", 60), ("eo", "eo", 40)]
ESPEAK_LATE = .005  # seconds; espeak-ng reports phones 0 to 10 ms late


def share(items, spoken, voice, sentences):
    """the sentences of one voice: those after the voices of the same language before it"""
    start = 0
    for name, language, count in items:
        if name == voice:
            return [sentences[language][i % len(sentences[language])] for i in range(start, start + count)]
        start += count if language == spoken else 0


def release(samples, sounds):
    """End each p and b where the lips part, at the burst; what follows of it, the breath of an English p, is an h."""
    high = sosfilt(butter(2, 1000, "high", fs=RATE, output="sos"), samples)
    step = RATE // 400  # 2.5 ms
    level = 10 * np.log10((high[:len(high) // step * step].reshape(-1, step) ** 2).mean(1) + 1e-9 * (samples ** 2).max() + 1e-9)
    out = []
    for start, end, name in sounds:
        a, b = int((start + .3 * (end - start)) * 400), int(end * 400)
        if name in {"p", "b"} and b - a >= 6 and b <= len(level):
            rise = level[a + 2:b] - level[a:b - 2]
            burst = (a + 1 + int(rise.argmax())) / 400
            if rise.max() > 8 and end - burst > .015:
                out += [(start, burst, name), (burst, end, "h")]
                continue
        out.append((start, end, name))
    return out


def utterance(voice, language, samples, rate, sounds):
    """None if it is too long, too short or unlike its phones"""
    seconds = len(samples) / rate
    if not (.6 <= seconds <= 9 and len(sounds) >= 5 and abs(sounds[-1][1] - seconds) < .15 and np.abs(samples).max() > 300):
        return None
    if rate != RATE:
        common = math.gcd(RATE, rate)
        samples = resample_poly(samples, RATE // common, rate // common)
    samples = np.clip(samples, -32768, 32767)
    return dict(voice=voice, language=language, samples=samples.astype(np.int16), sounds=release(samples, phones.split(sounds)))


def flite(voice, lines):
    with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
        for text in lines:
            out = subprocess.run(["flite", "-voice", voice, "-psdur", "-t", text, wav.name], capture_output=True, text=True).stdout
            sounds, last = [], 0.0
            for word in out.split():
                name, end = word.rsplit(":", 1)
                sounds.append((last, float(end), phones.arpabet(name)))
                last = float(end)
            if all(end >= start for start, end, _ in sounds):
                rate, samples = wavfile.read(wav.name)
                yield utterance("flite-" + voice, "en", samples.astype(float), rate, sounds)


def festival(name, voice, language, lines):
    encoding = {"cs": "iso-8859-2", "it": "ascii", "ca": "ascii", "fi": "iso-8859-1"}.get(language, "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        script = f'(voice_{voice})\n(define (say text name) (set! u (SynthText text)) (utt.save.wave u (string-append "{folder}/" name ".wav") \'riff) (utt.save.segs u (string-append "{folder}/" name ".seg")))\n'.encode()
        for i, text in enumerate(lines):
            text = text.replace('"', "").replace("\\", "")
            if encoding == "ascii":
                text = unicodedata.normalize("NFD", text)  # the accents go, the letters stay
            script += b'(unwind-protect (say "' + text.encode(encoding, "ignore") + b'" "%d") (format t "failed"))\n' % i
        Path(folder, "say.scm").write_bytes(script)
        subprocess.run(["festival", "-b", folder + "/say.scm"], capture_output=True, timeout=1200)
        for i in range(len(lines)):
            wav, seg = Path(folder, f"{i}.wav"), Path(folder, f"{i}.seg")
            if not (wav.exists() and seg.exists()):
                continue
            sounds, last = [], 0.0
            for line in seg.read_text(errors="replace").split("\n")[1:]:
                if line.strip():
                    end, _, phone = line.split()[:3]
                    sounds.append((last, float(end), phones.festival(phone, language)))
                    last = float(end)
            rate, samples = wavfile.read(wav)
            yield utterance("festival-" + name, language, samples.astype(float), rate, sounds)


class Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("unique", ctypes.c_uint), ("text_position", ctypes.c_int), ("length", ctypes.c_int),
                ("audio_position", ctypes.c_int), ("sample", ctypes.c_int), ("user_data", ctypes.c_void_p), ("id", Id)]


class Espeak:
    PHONEME, SYNCHRONOUS, PHONEME_EVENTS, UTF8, SPEED, PITCH, RANGE = 7, 2, 1, 1, 1, 3, 4

    def __init__(self):
        self.lib = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.lib.espeak_Initialize(self.SYNCHRONOUS, 0, None, self.PHONEME_EVENTS)
        self.callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))(self._collect)
        self.lib.espeak_SetSynthCallback(self.callback)

    def _collect(self, samples, count, events):
        if count > 0 and samples:
            self.sound.append(np.ctypeslib.as_array(samples, (count,)).copy())
        i = 0
        while events[i].type:
            if events[i].type == self.PHONEME:
                name = bytes(events[i].id.string).split(b"\0")[0].decode(errors="replace")
                self.starts.append((max(events[i].audio_position / 1000 - ESPEAK_LATE, 0), phones.espeak(name, self.voice)))
            i += 1
        return 0

    def speak(self, text, voice, speed, pitch, span):
        """-> samples, [(start, end, sound)]"""
        self.sound, self.starts, self.voice = [], [], voice.split("+")[0]
        if self.lib.espeak_SetVoiceByName(voice.encode()):  # the voice before would go on
            raise ValueError("espeak-ng has no voice " + voice)
        for parameter, value in ((self.SPEED, speed), (self.PITCH, pitch), (self.RANGE, span)):
            self.lib.espeak_SetParameter(parameter, value, 0)
        raw = text.encode() + b"\0"
        self.lib.espeak_Synth(raw, len(raw), 0, 1, 0, self.UTF8, None, None)
        samples = np.concatenate(self.sound) if self.sound else np.zeros(0)
        starts = sorted((s for s in self.starts if s[1]), key=lambda s: s[0]) + [(len(samples) / self.rate, None)]
        return samples.astype(float), [(s, e, name) for (s, name), (e, _) in zip(starts, starts[1:]) if e > s]


def variants():
    """espeak-ng's other speakers, less those that don't speak plainly"""
    out = subprocess.run(["espeak-ng", "--voices=variant"], capture_output=True, text=True).stdout
    names = sorted(line.split("!v/")[1].split()[0] for line in out.split("\n") if "!v/" in line)
    return [n for n in names if n not in {"whisper", "whisperf", "fast", "announcer", "Demonic", "UniRobot", "croak"} and "obo" not in n]


def espeak(voice, lines):
    synthesizer, rng, others = Espeak(), random.Random(voice), variants()
    for text in lines:
        sound, sounds = synthesizer.speak(text, voice + "+" + rng.choice(others), rng.randint(130, 200), rng.randint(30, 75), rng.randint(30, 80))
        yield utterance("espeak-" + voice, voice, sound, synthesizer.rate, sounds)


def make(job):
    folder, kind, arguments = job
    kept = [u for u in kind(*arguments) if u]
    if not kept:
        raise RuntimeError(f"{arguments[0]} says nothing: are all packages of README.md installed?")
    pickle.dump(kept, open(Path(folder, kept[0]["voice"] + ".pkl"), "wb"))
    return kept[0]["voice"], len(kept), sum(len(u["samples"]) for u in kept) / RATE / 60, dict(phones.unknown)


def jobs(folder):
    sentences = texts.load()
    everyone = [("flite-" + v, "en", n) for v, n in FLITE] + [("festival-" + f[0], f[3], f[4]) for f in FESTIVAL] + [("espeak-" + v, t, n) for v, t, n in ESPEAK]
    lines = {name: share(everyone, language, name, sentences) for name, language, _ in everyone}
    for name, voice, language, _, _ in FESTIVAL:
        yield folder, festival, (name, voice, language, lines["festival-" + name])
    for voice, _ in FLITE:
        yield folder, flite, (voice, lines["flite-" + voice])
    for voice, _, _ in ESPEAK:
        yield folder, espeak, (voice, lines["espeak-" + voice])


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool(maxtasksperchild=1) as pool:
        for voice, count, minutes, unknown in pool.imap_unordered(make, jobs(folder), chunksize=1):
            print(f"{voice:24} {count:4} sentences {minutes:5.1f} minutes {unknown or ''}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
