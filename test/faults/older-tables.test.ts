// @module-tag git
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { liveFile } from '../../projections/engine/store/pointer.ts'
import { inProcess } from '../api/support/cli.ts'
import { newPlace } from '../support/faults/cli.ts'
import { sandboxFlag, scripted } from '../support/faults/jobs.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A new version of the program opens tables that an older one made. Their position can be the log's end.

const place = newPlace()
const tables = join(place.data, 'tables')
const here = (...args: readonly string[]) => inProcess(['--data', place.data, '--by', 'ada', ...args])
const script = { script: 1 as const, turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }] }
const versionOf = (db: DatabaseSync) => Number(db.prepare('pragma user_version').get()?.user_version)

/** Changes the live tables, and returns their version before. */
function change(statements: (version: number) => string): number {
  const db = new DatabaseSync(liveFile(tables)!)
  try {
    const version = versionOf(db)
    db.exec(statements(version))
    return version
  } finally {
    db.close()
  }
}

afterAll(() => place.remove())
beforeAll(async () => {
  const how = ['--model', scripted(place, script), '-w', place.workspace, ...sandboxFlag]
  expect(await here('run', ...how, 'Write')).toMatchObject({ code: 0 })
})
beforeEach(async () => {
  expect(await here('rebuild', '--accept')).toMatchObject({ code: 0 })
})

test('a command that only reads makes tables anew whose rows have an older meaning', async () => {
  const present = change((version) => `update runs set status = 'older'; pragma user_version = ${version - 1000}`)
  const { code, out } = await here('runs', 'list')
  expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining('older') })
  expect(change(() => '')).toBe(present)
})

test('a command that only reads names tables of a newer program', async () => {
  change((version) => `pragma user_version = ${version + 1000}`)
  const { code, err } = await here('runs', 'list')
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('was written by a newer program') })
  change((version) => `pragma user_version = ${version - 1000}`)
})
