import { readFileSync } from 'node:fs'

/** The version of this program, of the manifest in the folder above: in the clone and in the package alike. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version
