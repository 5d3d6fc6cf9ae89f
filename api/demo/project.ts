import { cpSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const place = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

/** The demo's task, as a person would put it. */
export const TASK = 'A test of this project fails. Find out why, fix the code, and make all tests pass.'

/** The script that stands in for a model. */
export const demoScript = (): string => place('script.json')

/** The script of an architect with a team. */
export const teamScript = (): string => place('team.json')

/** The script of the architect who writes a document. */
export const architectScript = (): string => place('architect.json')

/** A folder outside of everything else, with a fresh copy of the demo's project and a place for its data. */
export function freshDemo(): { folder: string; project: string; data: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-demo-')))
  const project = join(folder, 'till')
  cpSync(place('project'), project, { recursive: true })
  return { folder, project, data: join(folder, 'data') }
}
