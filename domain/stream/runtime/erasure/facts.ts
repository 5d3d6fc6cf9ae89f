import { canonicalBytes } from '../../../log/canonical.ts'
import type { RecordedEvent, SealedEvent } from '../../../log/envelope.ts'
import { ERASED_FACT } from '../../../log/erased.ts'
import { LogError } from '../../../log/errors.ts'
import { saltBody } from '../../../log/seal.ts'
import { ERASURE_VERSION, erasureEvents, RESIDUE, type Residue } from '../../erasure.ts'
import type { Unsealed } from '../../sealing.ts'
import { requestRetry } from '../append-retry.ts'
import { bodyOf } from '../bodies.ts'
import { headOfEvent } from '../history.ts'
import { type Making, record } from '../journal.ts'
import type { StreamPorts } from '../ports.ts'
import type { Asker, Erasable, ErasureReason, Target } from './types.ts'

/** The maximum number of bodies that one fact names. It keeps facts far below the size limit of inline bodies. */
const NAMED = 256

interface Fact {
  readonly type: typeof RESIDUE | typeof ERASED_FACT
  readonly body: object
}

/** Appends the facts that empty the targets (in order, of the stream of `last`). Returns the last one. */
export async function recordErasure(
  ports: StreamPorts,
  aggregate: Erasable,
  last: SealedEvent,
  targets: readonly Target[],
  why: ErasureReason,
  asker: Asker,
): Promise<SealedEvent> {
  const { stream } = last.header
  const facts = factsOf(targets, await residues(ports, aggregate, stream, targets), why)
  const make = (making: Making) => ({ events: unsealedFacts(facts, last, asker, making) })
  const retry = requestRetry(ports)
  const sealed = await retry.once(() => record(ports, stream, headOfEvent(last), retry, make))
  return sealed.at(-1)!
}

function factsOf(targets: readonly Target[], kept: ReadonlyMap<number, Residue>, why: ErasureReason): Fact[] {
  const facts: Fact[] = []
  for (let at = 0; at < targets.length; at += NAMED) {
    const part = targets.slice(at, at + NAMED)
    const left = part.flatMap(({ revision }) => kept.get(revision) ?? [])
    if (left.length > 0) facts.push({ type: RESIDUE, body: { bodies: left } })
    const named = part.map(({ revision, bodyHash }) => ({ revision, bodyHash }))
    facts.push({ type: ERASED_FACT, body: { bodies: named, code: why.code ?? 'other', reason: why.reason } })
  }
  return facts
}

/** The facts do not change the state, so the stream keeps its wake time. */
function unsealedFacts(facts: readonly Fact[], { header }: SealedEvent, asker: Asker, making: Making): Unsealed[] {
  const { runId, agentId, wakeAt } = header
  const { by, commandId, correlationId, trace } = asker
  return facts.map(({ type, body }, index) => ({
    body: saltBody(canonicalBytes(erasureEvents[type].parse(body)), making.salt()),
    header: {
      ...{ type, version: ERASURE_VERSION, turn: 0, timestamp: new Date(making.now).toISOString() },
      ...{ commandId, actor: by },
      ...(runId === undefined ? {} : { runId }),
      ...(agentId === undefined ? {} : { agentId }),
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(trace === undefined ? {} : { trace }),
      ...(index < facts.length - 1 || wakeAt === undefined ? {} : { wakeAt }),
    },
  }))
}

/** The residues of the targets' bodies, read in one pass. An unreadable body is erased without a residue. */
async function residues(ports: StreamPorts, aggregate: Erasable, stream: string, targets: readonly Target[]) {
  const wanted = new Set(targets.map(({ revision }) => revision))
  const from = targets[0]!.revision
  const found = new Map<number, Residue>()
  for await (const page of ports.log.read(stream, { from, limit: targets.at(-1)!.revision - from + 1 })) {
    for (const recorded of page) {
      const kept = wanted.has(recorded.header.revision) ? await keptOf(ports, aggregate, recorded) : null
      if (kept !== null) found.set(kept.revision, kept)
    }
  }
  return found
}

async function keptOf(ports: StreamPorts, aggregate: Erasable, recorded: RecordedEvent): Promise<Residue | null> {
  try {
    const { type, body, revision, bodyHash } = aggregate.decode(recorded.header, await bodyOf(ports, recorded))
    const version = aggregate.versions[type]!
    return { revision, version, body: aggregate.erasing.residue(type, body, bodyHash) as Residue['body'] }
  } catch (error) {
    if (error instanceof LogError && UNREADABLE.has(error.code)) return null
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['BLOB_MISSING', 'LOG_CORRUPT', 'UNKNOWN_EVENT', 'BODY_ERASED'])
