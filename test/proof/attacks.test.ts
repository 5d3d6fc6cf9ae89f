import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ATTACKS, type Attacked } from '../support/attacks/attacks.ts'
import { type Told, tell } from '../support/attacks/story.ts'
import { attackable, attacked, comparedRows, verified } from '../support/attacks/verification.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// Somebody changes the files of a data folder. Verification names each change: without anchors, or with one where the
// forger also has the heads or the keys that sign them. The whole campaign: npm run test:attacks.

const PLACES = Number(process.env.ATTACK_PLACES ?? 4)

const root = mkdtempSync(join(tmpdir(), 'keepup-attacks-'))
let told: Told
let before: Attacked
beforeAll(async () => {
  told = await tell(root)
  before = await attackable(told)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('nothing is said of the folder before the attacks', async () => {
  const streams = [...new Set(before.events.map(({ header }) => header.stream))]
  expect(await verified(told.data, streams, told.anchor)).toEqual([])
  expect(await comparedRows(told.data, streams)).toEqual([])
})

test.each(Object.keys(ATTACKS))(`%s is named (FAULT_SEED=${FAULT_SEED})`, { timeout: 3_600_000 }, async (attack) => {
  const draw = draws(FAULT_SEED)
  const missed: string[] = []
  let [named, onlyAnchored] = [0, 0]
  for (let places = 0; places < PLACES; ) {
    const done = await attacked(told, before, attack, draw).catch((error: Error) => error)
    if (done === null) continue
    places += 1
    if (done instanceof Error) missed.push(String(done.stack))
    else if (done.named) named += 1
    else if (done.anchored && done.forgery.needsAnchor) onlyAnchored += 1
    else missed.push(`${done.forgery.what}: ${JSON.stringify(done.problems).slice(0, 600)}`)
  }
  if (PLACES >= 100) console.log(`${attack}: ${PLACES} places, ${named} named, ${onlyAnchored} only with an anchor`)
  expect(missed).toEqual([])
})
