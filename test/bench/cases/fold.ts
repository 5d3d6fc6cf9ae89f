import { createHash } from 'node:crypto'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { decode } from '../../../domain/agent/events/codec.ts'
import { verifyAgent } from '../../../domain/agent/runtime/history/verify.ts'
import { fold as foldAll } from '../../../domain/agent/state/evolve.ts'
import { canonicalHeader } from '../../../domain/log/canonical.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { countOnly } from '../../../domain/log/root.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, least, rate } from '../figure.ts'
import { type Pairs, paired } from '../measure.ts'

// Folding and proving a run of 100,000 events, per second of CPU of one core.

const EVENTS = 35_000
/** A single fold takes so little time that a round is several of them. */
const FOLDS = 10

function perSecond(name: string, events: number, pairs: Pairs, goal: Figure['goal'], note: string): Figure {
  const { ours, floor } = pairs.of('cpuMs')
  const [mine, bare] = [events / (ours / 1000), events / (floor / 1000)]
  return {
    name,
    ours: rate(mine, 'ev'),
    floor: rate(bare, 'ev'),
    value: goal === null ? bare / mine : mine,
    goal,
    note,
  }
}

/** The log in memory: pages of recorded events as the file gives them. Only what proving a run asks for. */
function inMemory(log: EventLog, events: readonly RecordedEvent[]): EventLog {
  async function* read() {
    for (let at = 0; at < events.length; at += 512) yield events.slice(at, at + 512)
  }
  return reading(log, read)
}

export const fold: Case = {
  name: 'fold',
  async run(bench: Bench) {
    const { data, agentId } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const blobs = new FileBlobs(paths(data).blobs)
    const recorded: RecordedEvent[] = []
    for await (const page of log.read(agentStream(agentId), { limit: EVENTS })) recorded.push(...page)
    const count = recorded.length
    const decoded = recorded.map(({ header, body }) => decode(header, unsalted(body!)))
    const headers = recorded.map(({ header }) => canonicalHeader(header))

    const folding = await paired(
      bench.rounds,
      () => repeat(() => foldAll(null, decoded, countOnly)),
      () => repeat(() => decoded.reduce((sum, { revision }) => sum + revision, 0)),
    )
    const hashing = () => {
      recorded.forEach(({ body, hash }, i) => {
        JSON.parse(Buffer.from(unsalted(body!)).toString('utf8'))
        createHash('sha256').update(body!).digest()
        createHash('sha256').update(hash, 'hex').update(headers[i]!).digest()
      })
    }
    const prove = async (stores: { log: EventLog; blobs: FileBlobs }) => {
      const { ok, problems } = await verifyAgent(stores, agentId)
      if (!ok) throw new Error(`the measured run is not proved: ${JSON.stringify(problems.slice(0, 3))}`)
    }
    const proving = await paired(bench.rounds, () => prove({ log: inMemory(log, recorded), blobs }), hashing)
    const proved = `per CPU second; floor: JSON.parse and two SHA-256 of the same bytes; ${proving.of('cpuMs').ratio.toFixed(1)} × its CPU`
    const fromFile = await paired(2, () => prove({ log: limited(log, EVENTS), blobs }), hashing)
    await log.close()
    return [
      perSecond(
        'fold, decoded, without digest',
        FOLDS * count,
        folding,
        least(1_000_000, ' ev/s'),
        'per CPU second; floor: a loop over them',
      ),
      perSecond('verified from bytes, with digest', count, proving, least(60_000, ' ev/s'), proved),
      perSecond('the same, read from the file', count, fromFile, null, 'per CPU second'),
    ]
  },
}

function repeat(work: () => unknown): void {
  for (let n = 0; n < FOLDS; n++) work()
}

function limited(log: EventLog, limit: number): EventLog {
  const read: EventLog['read'] = (stream, options) => log.read(stream, { ...options, limit })
  return reading(log, read)
}

/** A log with another way to read. A class with private members needs itself as the receiver of its methods. */
function reading(log: EventLog, read: EventLog['read']): EventLog {
  const get = (target: EventLog, name: string | symbol) => {
    if (name === 'read') return read
    const member: unknown = Reflect.get(target, name)
    return typeof member === 'function' ? member.bind(target) : member
  }
  return new Proxy(log, { get })
}
