import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder, removed after the current test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A fresh folder in `root` with an empty `ws` and `data` in it, removed by `remove`. */
export function freshFolders(root = tmpdir()) {
  const base = realpathSync(mkdtempSync(join(root, 'keepup-test-')))
  const ws = join(base, 'ws')
  const data = join(base, 'data')
  mkdirSync(ws)
  mkdirSync(data)
  return { base, ws, data, remove: () => rmSync(base, { recursive: true, force: true }) }
}
