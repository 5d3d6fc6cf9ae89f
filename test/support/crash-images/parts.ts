import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { PlanFiles } from '../../../adapters/files/plan-files.ts'
import { markOf } from '../../../adapters/sqlite/log/mark.ts'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import type { Snapshot } from '../../../domain/ports/index.ts'
import type { Place } from '../faults/cli.ts'
import { NEW, Sealer } from '../log/sealing.ts'
import { programFile } from '../programs/program.ts'
import { logFindings } from './findings.ts'
import { LocalLog } from './local-log.ts'
import { blobOf, RUN, stateOf } from './part-facts.ts'
import { type Findings, nothing, type Said, type Scenario } from './scenario.ts'

const CHILD = programFile('test/support/crash-images/part-child.ts')
const task = (name: string, folder: string, count: number): string[] => [CHILD, name, folder, `${count}`]
const logOf = (place: Place): string => join(place.data, 'log')

/** A scenario that writes one part of a data folder. */
function part(
  name: string,
  commandOf: (place: Place) => string[],
  check: Scenario['check'],
  prepare: Scenario['prepare'] = nothing,
): Scenario {
  return { name, isDataFolder: false, prepare, command: commandOf, check, again: commandOf }
}

const checkLog = (place: Place, said: Said) => logFindings(logOf(place), said)

export const appends: Scenario = {
  ...part('appends', (place) => task('appends', logOf(place), 12), checkLog),
  // A stream begins once.
  again: () => null,
}

export const checkpoints: Scenario = {
  ...part('checkpoints of the log', (place) => task('checkpoints', logOf(place), 12), checkLog),
  again: () => null,
}

/** The mark is damaged, so the writer starts it again. */
export const mark: Scenario = {
  ...part(
    'a mark that starts again',
    (place) => task('appends', logOf(place), 8),
    checkLog,
    async (place) => {
      const log = LocalLog.open(logOf(place), () => undefined)
      log.append('agent-before', -1, new Sealer('before').batch('agent-before', NEW, [{}, {}]))
      log.close()
      writeFileSync(markOf(logOf(place)), 'no mark')
    },
  ),
  again: () => null,
}

export const snapshots = part('snapshots', (place) => task('snapshots', place.root, 16), checkSnapshots)
export const plans = part('plan files', (place) => task('plans', place.root, 16), checkPlans)
export const blobs = part('blobs', (place) => task('blobs', place.root, 12), checkBlobs)

/** Whether a state is the one that was put there, or one that a reader refuses because of its digest. */
function isPutOrExposed(stream: string, { revision, state }: Snapshot): boolean {
  const { text, sum } = state as ReturnType<typeof stateOf>
  if (typeof text !== 'string' || sha256(text) !== sum) return true
  return stream === `agent-${revision % 3}` && sum === stateOf(revision).sum
}

/** The store opens, returns nothing but states that were put or that their digest exposes, and accepts another one. */
async function checkSnapshots(place: Place): Promise<Findings> {
  const named: string[] = []
  try {
    const store = SqliteSnapshots.open(join(place.root, 'snapshots.db'), (path) => rmSync(path, { force: true }))
    for (const stream of ['agent-0', 'agent-1', 'agent-2']) {
      const found = await store.latest(stream, 1, {})
      if (found !== null && !isPutOrExposed(stream, found)) named.push(`${stream} returns a state that was not put`)
    }
    try {
      await store.put('agent-0', 1, { revision: 99, step: 99, state: stateOf(99) })
      const state = (await store.latest('agent-0', 1, {}))?.state as ReturnType<typeof stateOf> | undefined
      if (state?.sum !== stateOf(99).sum) named.push('a state that was put is not returned')
    } finally {
      store.close()
    }
  } catch (error) {
    named.push(`the snapshots are refused: ${error}`)
  }
  return { lost: [], named }
}

/** Each plan has one of its texts, whole, and is written again. */
async function checkPlans(place: Place): Promise<Findings> {
  const folder = join(place.root, 'plans')
  const texts = new Set(Array.from({ length: 16 }, (_, n) => stateOf(n).text))
  const files = existsSync(join(folder, RUN))
    ? readdirSync(join(folder, RUN)).filter((name) => /^plan-\d$/.test(name))
    : []
  const torn = files.filter((name) => !texts.has(readFileSync(join(folder, RUN, name), 'utf8')))
  const named = torn.map((name) => `${name} has a part of a text`)
  try {
    const plan = new PlanFiles(folder)
    for (const name of ['plan-0', 'plan-1']) {
      await plan.write(RUN, name, 'another text')
      if (readFileSync(plan.path(RUN, name), 'utf8') !== 'another text') named.push(`${name} is not written`)
    }
  } catch (error) {
    named.push(`a plan is refused: ${error}`)
  }
  return { lost: [], named }
}

/** Each acknowledged blob is there, whole; a deleted one is gone; and another one is stored. */
async function checkBlobs(place: Place, said: Said): Promise<Findings> {
  const store = new FileBlobs(join(place.root, 'blobs'))
  const [lost, named]: [string[], string[]] = [[], []]
  const numbers = (word: string) =>
    said.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.slice(word.length + 1)))
  const deleted = new Set(numbers('deleted'))
  const stored = new Set(await store.list(RUN))
  const put = numbers('blob')
  for (const n of put) {
    const hash = sha256(blobOf(n))
    if (deleted.has(n) && stored.has(hash)) lost.push(`the blob ${n} was deleted and is back`)
    // The next deletion may have begun.
    const mayBeGone = deleted.has(n) || (n % 3 === 2 && n === put.at(-1))
    if (!mayBeGone && !stored.has(hash)) lost.push(`the blob ${n} was acknowledged and is lost`)
  }
  for (const hash of stored)
    if (sha256(await store.get(RUN, hash)) !== hash) named.push(`the blob ${hash} has other bytes`)
  try {
    const bytes = blobOf(99)
    await store.put(RUN, sha256(bytes), bytes)
  } catch (error) {
    named.push(`a blob is refused: ${error}`)
  }
  return { lost, named }
}
