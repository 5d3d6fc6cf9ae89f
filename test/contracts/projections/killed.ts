import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { tape } from '../../support/projections/fc.ts'
import { folded, type Tables, type TablesKit } from '../../support/projections/kit.ts'
import { tell } from '../../support/projections/tell.ts'

const CHILD = fileURLToPath(new URL('../../support/projections/child.ts', import.meta.url))

/** How much further than to where it is killed the child may come: the kill may be late. */
const BEYOND = 12

/** Runs the child until it has said `after` lines, kills it with SIGKILL, and returns the last count it said. */
function killedAfter(
  after: number,
  where: readonly string[],
  numbers: readonly number[],
): Promise<{ said: number; signal: string | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(numbers), String(after + BEYOND), ...where], {
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

/** `fresh`: tables of this process, and what tells the child where they are. */
export function killedContract(
  kit: TablesKit,
  fresh: () => Promise<{ readonly tables: Pick<Tables, 'open' | 'dump'>; readonly where: readonly string[] }>,
): void {
  describe('a projector killed between and in batches', () => {
    it('loses nothing that it said, and ends with the same tables', async () => {
      const numbers = fc.sample(tape, { numRuns: 20, seed: 11 }).reduce((a, b) => (a.length > b.length ? a : b))
      const { log } = tell(numbers)
      const { tables, where } = await fresh()
      let last = 0
      for (const after of [3, 20, 60]) {
        const { said, signal } = await killedAfter(after, where, numbers)
        expect(signal).toBe('SIGKILL')
        const store = await tables.open()
        const stored = (await store.progress())!.events
        await store.close()
        expect(stored).toBeGreaterThanOrEqual(said)
        expect(stored).toBeGreaterThan(last)
        last = stored
      }
      expect(last).toBeLessThan(log.events.length)
      const store = await tables.open()
      await new Projector({ log, blobs: log.blobs, store }).catchUp()
      await store.close()
      expect(await tables.dump()).toEqual(await folded(log, kit))
    })
  })
}
