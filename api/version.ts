import { readFileSync } from 'node:fs'

function read(): string {
  // Beside the sources in the clone, one level higher in the compiled package.
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as {
        name: string
        version: string
      }
      if (found.name === 'keepup') return found.version
    } catch {
      // Not here.
    }
  }
  return '0.0.0'
}

/** The version of this program. */
export const VERSION: string = read()
