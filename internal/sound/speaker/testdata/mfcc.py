# Writes mfcc.csv: what python_speech_features 0.6 makes of the sound of TestMFCC.
import numpy, python_speech_features

seed, sound = 1, []
for i in range(4000):
    seed = (seed * 1103515245 + 12345) % 2**31
    noise = seed / 2**31 - .5
    sound.append(int(6000 * numpy.sin(i * i / 9000) + 900 * noise) if i < 2400 else 0)
sound = numpy.array(sound, dtype=numpy.int16)
numpy.savetxt("mfcc.csv", python_speech_features.mfcc(sound, 16000), delimiter=",", fmt="%.5f")
