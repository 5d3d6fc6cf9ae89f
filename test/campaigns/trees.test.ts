import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'
import { tempFolder } from '../support/folders.ts'

// A tree of agents whose process is killed at one kind of boundary again and again. `TREES_CAMPAIGN=whole`: 40 agents at depths
// 0 to 3, killed up to 6 times at each kind; without it 15 agents, killed once.

const WHOLE = process.env.TREES_CAMPAIGN === 'whole'
const WIDTH = WHOLE ? 3 : 2
const KILLS = WHOLE ? 6 : 1
const GROWER = join(import.meta.dirname, '../support/tree/grower.ts')

interface Found {
  readonly lines: readonly string[]
  readonly faults: readonly string[]
  readonly shape: readonly string[]
}

/** A process of the tree in this folder; null: it was killed at its boundary. */
async function grow(folder: string, type: string, nth: number, ...more: string[]): Promise<Found | null> {
  const args = [GROWER, join(folder, 'data'), join(folder, 'effects.txt'), type, String(nth), ...more]
  const env = { ...process.env, KEEPUP_TREE_WIDTH: String(WIDTH) }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (out === '') throw new Error(`the process said nothing: ${err}`)
  const said = JSON.parse(out) as Found | 'killed'
  return said === 'killed' ? null : said
}

/** Kills the tree at its boundary until it has ended, or often enough; then lets it end. */
async function killed(type: string, below: number): Promise<{ found: Found; kills: number }> {
  const [folder, draw] = [tempFolder(), draws(FAULT_SEED)]
  for (let kills = 0; ; kills++) {
    const found = await grow(folder, type, kills < KILLS ? 1 + draw(below) : 0)
    if (found !== null) return { found, kills }
  }
}

/** The tree without kills. */
let whole: Promise<Found | null> | undefined

test.each([
  ['a birth is recorded and not delivered', 'child_delegated'],
  ['a birth is delivered and not acknowledged', 'agent_started'],
  ['a call is begun', 'tool_call_start'],
  ['a child has ended and its parent is not informed', 'end_reported'],
  ['the parent is informed and the settlement is half done', 'child_ended'],
  ['a delivery is acknowledged', 'delivered'],
])(`killed when %s, a tree ends as it does without (FAULT_SEED=${FAULT_SEED})`, async (_, type) => {
  whole ??= grow(tempFolder(), 'none', 0)
  const { lines, shape } = (await whole)!
  const { found, kills } = await killed(type, WHOLE ? 4 : 3)
  expect(kills).toBeGreaterThan(0)
  expect(found.faults).toEqual([])
  expect(found.lines.length).toBe(lines.length)
  expect(new Set(found.lines).size).toBe(lines.length)
  expect(found.shape).toEqual(shape)
})

test('a cancel that overtakes a birth ends every agent that was born, and none is born later', async () => {
  const folder = tempFolder()
  expect(await grow(folder, 'child_delegated', 1)).toBeNull()
  const found = (await grow(folder, 'none', 0, 'cancel'))!
  expect(found.shape.map((line) => line.split(':')[1]!.split(' turn')[0])).toEqual(
    found.shape.map(() => ' ERROR CANCELLED'),
  )
  expect(found.faults.filter((fault) => !/ agents instead of /.test(fault))).toEqual([])
  expect(found.lines).toEqual([])
})
