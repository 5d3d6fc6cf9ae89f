import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A fresh folder with an empty `ws` and `data` in it, removed by `remove`. */
export function freshFolders() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-')))
  const ws = join(base, 'ws')
  const data = join(base, 'data')
  mkdirSync(ws)
  mkdirSync(data)
  return { base, ws, data, remove: () => rmSync(base, { recursive: true, force: true }) }
}
