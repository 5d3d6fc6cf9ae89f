import { cpSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const place = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

/** The demo's task, as a person would put it. */
export const TASK = 'A test of this project fails. Find out why, fix the code, and make all tests pass.'

/** The script that stands in for a model. */
export const demoScript = (): string => place('script.json')

/** A fresh copy of the demo's project, outside of everything else. */
export function freshProject(): string {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'keepup-demo-'))), 'till')
  cpSync(place('project'), folder, { recursive: true })
  return folder
}
