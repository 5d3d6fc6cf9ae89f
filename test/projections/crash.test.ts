import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Projector } from '../../projections/projector/projector.ts'
import { openSqliteStore } from '../../projections/store/sqlite.ts'
import { tempFolder } from '../support/folders.ts'
import { tape } from '../support/projections/fc.ts'
import { dumpFile, folded, sqliteKit } from '../support/projections/kit.ts'
import { tell } from '../support/projections/tell.ts'

const CHILD = fileURLToPath(new URL('../support/projections/child.ts', import.meta.url))

/** Runs the child until it has said `after` lines, kills it with SIGKILL, and returns the last count it said. */
function killedAfter(
  after: number,
  file: string,
  numbers: readonly number[],
): Promise<{ said: number; signal: string | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, file, JSON.stringify(numbers)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.split('\n').length > after) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (_, signal) => resolve({ said: Number(text.trim().split('\n').at(-1)), signal }))
  })
}

describe('a projector killed between and in batches', () => {
  it('loses nothing that it said, and ends with the same tables', async () => {
    const numbers = fc.sample(tape, { numRuns: 20, seed: 11 }).reduce((a, b) => (a.length > b.length ? a : b))
    const { log } = tell(numbers)
    const path = tempFolder()
    const whole = await folded(log, sqliteKit)
    const file = join(path, 'killed.db')
    let last = 0
    for (const after of [3, 20, 60]) {
      const { said, signal } = await killedAfter(after, file, numbers)
      expect(signal).toBe('SIGKILL')
      const store = await openSqliteStore(file)
      const stored = (await store.progress())!.events
      await store.close()
      expect(stored).toBeGreaterThanOrEqual(said)
      expect(stored).toBeGreaterThan(last)
      last = stored
    }
    expect(last).toBeLessThan(log.events.length)
    const store = await openSqliteStore(file)
    await new Projector({ log, blobs: log.blobs, store }).catchUp()
    await store.close()
    expect(dumpFile(file)).toEqual(whole)
  })
})
