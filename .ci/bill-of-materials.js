// The bill of materials of the package (CycloneDX 1.6): the packages in the bundle, and those that npm installs beside it, with
// theirs. It has no time and no serial number, so that two builds of one commit are equal.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** https://github.com/package-url/purl-spec: the `@` of a scope is escaped. */
const purl = ({ name, version }) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

/** The folder where Node finds a package from another one; undefined where an optional one is not installed. */
function folderOf(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === dirname(at)) return undefined
  }
}

/** The license as an SPDX expression. */
function licensesOf({ license, licenses }) {
  const named =
    typeof license === 'string' ? license : (license?.type ?? licenses?.map(({ type }) => type).join(' OR '))
  return named ? [{ expression: named }] : []
}

/** `folders`: the packages that the package needs, as they are installed here. Their own dependencies are followed. */
export function billOfMaterials(own, folders) {
  const components = new Map()
  const dependencies = new Map()
  const named = (manifest) => ({
    type: 'library',
    'bom-ref': purl(manifest),
    name: manifest.name,
    version: manifest.version,
  })
  const visit = (folder) => {
    const manifest = manifestOf(folder)
    const ref = purl(manifest)
    if (components.has(ref)) return ref
    components.set(ref, { ...named(manifest), licenses: licensesOf(manifest), purl: ref })
    const found = Object.keys(manifest.dependencies ?? {}).flatMap((name) => folderOf(name, folder) ?? [])
    dependencies.set(ref, [...new Set(found.map(visit))].sort())
    return ref
  }
  const direct = [...new Set(folders.map(visit))].sort()
  const self = { ...named(own), type: 'application', licenses: licensesOf(own), purl: purl(own) }
  const byRef = ([a], [b]) => (a < b ? -1 : 1)
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: self },
    components: [...components].sort(byRef).map(([, component]) => component),
    dependencies: [
      { ref: purl(own), dependsOn: direct },
      ...[...dependencies].sort(byRef).map(([ref, dependsOn]) => ({ ref, dependsOn })),
    ],
  }
}
