// The licences of third-party code in dist: in dist/THIRD-PARTY.txt, and in the scripts of the workbench themselves, as
// these are distributed alone.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const rootUrl = new URL('../', import.meta.url);

/** The folders of the packages that the files of a bundle come from. */
export function packagesOf(paths) {
  const folders = paths.flatMap((path) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** The licence texts of packages. */
export function licencesOf(folders) {
  return folders.map(licenceOf).join('\n\n');
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const files = readdirSync(folder).filter((one) => /^(licen[cs]e|notice)/i.test(one));
  if (files.length === 0) throw new Error(`${name} has no licence to hand on`);
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

/** The packages in the command, from the file names in its source maps. */
function packagesOfCommand() {
  const folder = fileURLToPath(new URL('dist/cli', rootUrl));
  if (!existsSync(folder)) return [];
  const maps = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.map'));
  const sources = maps.flatMap((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')).sources);
  const inRoot = sources.flatMap((path) => /node_modules\/.*/.exec(path)?.[0] ?? []);
  return packagesOf(inRoot.map((path) => fileURLToPath(new URL(path, rootUrl))));
}

/** Writes dist/THIRD-PARTY.txt for these packages and those in the command. */
export function writeThirdParty(folders) {
  const all = [...new Set([...folders, ...packagesOfCommand()])].sort();
  const text = `windrow contains code of these packages, under the licences that follow.\n\n${licencesOf(all)}\n`;
  writeFileSync(new URL('dist/THIRD-PARTY.txt', rootUrl), text);
}
