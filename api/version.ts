import { readFileSync } from 'node:fs'

/** The manifest of this program, in the clone and in the package alike. */
export const MANIFEST = new URL('../package.json', import.meta.url)

/** The version in the manifest. */
export const VERSION: string = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version
