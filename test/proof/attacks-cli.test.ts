import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inProcess } from '../api/support/cli.ts'
import { ATTACKS, type Attacked } from '../support/attacks/attacks.ts'
import { type Told, tell } from '../support/attacks/story.ts'
import { attackable, type Found, openOf } from '../support/attacks/verification.ts'
import { environment, keepup, type Place } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// A sample of the attacks of attacks.test.ts as a person meets them: "keepup verify --anchors" over the whole data folder,
// and its exit code. ATTACK_PLACES: the number of places for each attack, at most 100.

const PLACES = Math.min(100, Number(process.env.ATTACK_PLACES ?? 1))

const root = mkdtempSync(join(tmpdir(), 'keepup-attacks-cli-'))
const place: Place = { root, data: join(root, 'copy'), workspace: root }
let told: Told
let before: Attacked
beforeAll(async () => {
  told = await tell(root)
  before = await attackable(told)
}, 120_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A copy of the folder that anybody can write to. */
function fresh(): string {
  rmSync(place.data, { recursive: true, force: true })
  cpSync(openOf(told.data), place.data, { recursive: true })
  return place.data
}

const VERIFY = ['-o', 'jsonl', 'verify', '--anchors']
/** The command in this process, with the environment of a process of its own. */
const verify = () => inProcess(['--data', place.data, ...VERIFY], environment(place))

interface Line {
  readonly damage?: string
  readonly agents?: readonly Line[]
  readonly heads?: Line
  readonly loss?: { readonly message: string } | null
  readonly problems?: readonly { readonly code: string; readonly message: string; readonly revision?: number }[]
}

/** The problems in the lines of the output. Proofs do not name their stream, so each problem is one of all `streams`. */
function problemsIn(out: string, streams: readonly string[]): Found[] {
  const lines = out.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Line).flatMap((line) => problemsOf(line, streams))
}

function problemsOf({ problems = [], heads, agents = [], damage, loss }: Line, streams: readonly string[]): Found[] {
  const inStreams = (code: string, message: string, revision = -1) => [
    { where: code === 'TABLE' ? ('rows' as const) : ('stream' as const), stream: '', code, message, revision },
    ...streams.map((stream) => ({ where: 'stream' as const, stream, code, message, revision })),
  ]
  return [
    ...problems.flatMap(({ code, message, revision }) => inStreams(code, message, revision)),
    ...agents.flatMap((agent) => problemsOf(agent, streams)),
    ...(heads?.problems ?? []).map((one) => ({ ...one, where: 'heads' as const, stream: '', revision: -1 })),
    ...(damage === undefined ? [] : inStreams('LOG', damage)),
    ...(loss ? [{ where: 'heads' as const, code: 'LOSS', message: loss.message, stream: '', revision: -1 }] : []),
  ]
}

test('keepup verify accepts the folder before the attacks', { timeout: 120_000 }, async () => {
  fresh()
  const accepted = { code: 0, out: expect.stringMatching(/"ok":true,"checked".*\n$/) }
  expect(await verify()).toMatchObject(accepted)
  expect(await keepup(place, VERIFY)).toMatchObject(accepted)
})

test.each(Object.keys(ATTACKS))(
  `keepup verify names it and exits with 5: %s (FAULT_SEED=${FAULT_SEED})`,
  { timeout: 3_600_000 },
  async (attack) => {
    const draw = draws(FAULT_SEED)
    for (let places = 0; places < PLACES; ) {
      const forgery = ATTACKS[attack]!(fresh(), before, draw)
      if (forgery === null) continue
      places += 1
      const { code, out, err } = await verify()
      const isNamed = problemsIn(out, forgery.streams).some(forgery.names)
      expect({ what: forgery.what, code, isNamed, out, err }).toMatchObject({ code: 5, isNamed: true })
    }
  },
)
