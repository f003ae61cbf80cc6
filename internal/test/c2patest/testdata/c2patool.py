# usage: c2patool IN -m MANIFEST -o OUT -f
# Signs a file as the program c2patool does, by the Python library of the same project, which can be installed from a registry.
import argparse
import json
import os
import pathlib
import sys

import c2pa

parser = argparse.ArgumentParser()
parser.add_argument("input")
parser.add_argument("-m", "--manifest", required=True)
parser.add_argument("-o", "--output", required=True)
parser.add_argument("-f", "--force", action="store_true")
a = parser.parse_args()
if pathlib.Path(os.environ["HOME"], ".config/c2pa/c2pa.toml").exists():
    sys.exit("this home has settings, which this script can't read")
if pathlib.Path(os.environ["TMPDIR"]).resolve() != pathlib.Path(a.output).parent.resolve():
    sys.exit("temporary files would lie elsewhere than the output")
manifest = json.loads(pathlib.Path(a.manifest).read_text())


def content(name):
    return pathlib.Path(manifest.pop(name)).read_bytes()


algorithm = getattr(c2pa.C2paSigningAlg, manifest.pop("alg").upper())
info = c2pa.C2paSignerInfo(alg=algorithm, sign_cert=content("sign_cert"), private_key=content("private_key"), ta_url=None)
with c2pa.Builder(manifest) as builder, c2pa.Signer.from_info(info) as signer:
    builder.sign_file(a.input, a.output, signer)
