import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { FAULT_SEED } from '../support/faults/seed.ts'

// Simulated histories in processes side by side. `SIMULATED_STEPS` sets their number.

const STEPS = Number(process.env.SIMULATED_STEPS ?? 1_000_000)
const MAIN = join(import.meta.dirname, '../simulation/main.ts')
const AT_ONCE = Math.min(4, availableParallelism())

interface Figures {
  readonly histories: number
  readonly steps: number
  readonly crashes: number
  readonly twice: number
  readonly seconds: number
  readonly found: { readonly seed: number; readonly what: string; readonly story: string } | null
}

async function simulated(seed: number): Promise<Figures> {
  const args = ['--no-warnings', MAIN, '--seed', String(seed), '--steps', String(Math.ceil(STEPS / AT_ONCE))]
  const child = spawn(process.execPath, args, { cwd: resolve(import.meta.dirname, '../..') })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (out === '') throw new Error(`the simulation printed nothing: ${err}`)
  return JSON.parse(out) as Figures
}

test(`every rule holds in ${STEPS} simulated steps (FAULT_SEED=${FAULT_SEED})`, async () => {
  const parts = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => simulated(FAULT_SEED + n * 1_000_000)))
  const sum = (of: 'histories' | 'steps' | 'crashes' | 'twice') => parts.reduce((all, part) => all + part[of], 0)
  const seconds = Math.max(...parts.map((part) => part.seconds))
  console.log(
    `${sum('histories')} histories, ${sum('steps')} steps, ${sum('crashes')} crashes, ${sum('twice')} histories played twice, ` +
      `${seconds.toFixed(0)} s, seeds from ${FAULT_SEED} (${AT_ONCE} processes)`,
  )
  expect(parts.flatMap(({ found }) => (found === null ? [] : [`seed ${found.seed}\n${found.story}`]))).toEqual([])
  expect(sum('steps')).toBeGreaterThanOrEqual(STEPS)
})
