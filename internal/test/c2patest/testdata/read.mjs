// usage: node read.mjs FILE
// Reads and checks the manifest of an MP4 or MOV, and writes what it found as JSON.
import * as fs from 'node:fs/promises';
import { BMFF } from '@trustnxt/c2pa-ts/asset';
import { SuperBox } from '@trustnxt/c2pa-ts/jumbf';
import { ManifestStore } from '@trustnxt/c2pa-ts/manifest';

BMFF.canReadBrands.add('isom').add('qt  '); // it reads the boxes of any file of this family
const asset = new BMFF(await fs.readFile(process.argv[2]));
const store = asset.getManifestJUMBF();
const found = { signed: store !== undefined };
if (store) {
  const manifests = ManifestStore.read(SuperBox.fromBuffer(store));
  const result = await manifests.validate(asset);
  const manifest = manifests.getActiveManifest();
  found.valid = result.isValid;
  found.statuses = result.statusEntries.map((entry) => entry.code);
  found.title = manifest.claim.title;
  found.generator = manifest.claim.claimGeneratorName;
  found.assertions = manifest.assertions.assertions.map((assertion) => assertion.label);
  const actions = manifest.assertions.assertions.find((assertion) => assertion.label === 'c2pa.actions.v2');
  found.actions = actions.sourceBox.contentBoxes[0].content.actions;
}
console.log(JSON.stringify(found));
