import { decode } from '../agent/codec.ts'
import { CommandRejected } from '../agent/errors.ts'
import { bodies, versions } from '../agent/events.ts'
import { residueOf } from '../agent/residue.ts'
import { asBlob, blobsOf } from '../log/blobs.ts'
import { canonicalBytes } from '../log/canonical.ts'
import { FORMAT, type Header, type RecordedEvent } from '../log/envelope.ts'
import { ConflictError, LogError } from '../log/errors.ts'
import { agentStream } from '../log/ids.ts'
import { saltBody, seal } from '../log/seal.ts'
import { bodyOf } from './bodies.ts'
import type { Asking } from './journal.ts'
import { revisionChanged } from './mailbox.ts'
import type { RuntimePorts } from './ports.ts'

// Erasure folds nothing: what was erased before, or cannot be read, must not stand in the way of erasing more. Its fact
// therefore carries no digest.

const MAX_TRIES = 10

/**
 * Empties a body of a finished run for ever: the `erased` fact and the emptying are one append. Asked again it makes
 * sure that nothing is left. Rejects with RUN_UNKNOWN, EVENT_UNKNOWN, RUN_ACTIVE, NOT_ERASABLE, or REVISION_CHANGED where
 * the agent is not at the `expected` revision.
 */
export async function erase(
  ports: RuntimePorts,
  agentId: string,
  target: { readonly revision: number; readonly reason: string },
  asking: Asking,
  expected?: number,
): Promise<{ revision: number }> {
  for (let tries = 1; ; tries++) {
    const { last, found } = await look(ports, agentId, target.revision)
    const { header } = found
    let revision = last.header.revision
    if (!found.erased) {
      if (expected !== undefined && expected !== revision) throw revisionChanged(agentId, revision)
      try {
        revision = await append(ports, last, found, target.reason, asking)
      } catch (error) {
        if (error instanceof ConflictError && tries < MAX_TRIES) continue
        throw error
      }
    }
    if (header.body.place === 'blob') await ports.blobs.delete(header.runId, header.body.hash)
    // Forks hold what they inherited, so nobody's is kept.
    await ports.snapshots?.clear()
    return { revision }
  }
}

async function look(ports: RuntimePorts, agentId: string, revision: number) {
  let last: RecordedEvent | null = null
  let found: RecordedEvent | null = null
  let ended = false
  for await (const page of ports.log.read(agentStream(agentId), { bodies: false })) {
    for (const event of page) {
      last = event
      if (event.header.revision === revision) found = event
      ended ||= isEnd(event.header)
    }
  }
  if (last === null) throw new CommandRejected('RUN_UNKNOWN', `there is no agent ${agentId}`, 404)
  if (found === null) throw new CommandRejected('EVENT_UNKNOWN', `${agentId} has no event at revision ${revision}`, 404)
  if (!ended) throw new CommandRejected('RUN_ACTIVE', 'only a finished run can be erased from; cancel it first')
  if (found.header.type === 'erased' || found.header.type === 'forked') {
    throw new CommandRejected('NOT_ERASABLE', `${found.header.type} holds nothing but references and cannot be erased`)
  }
  return { last, found }
}

/** An `error` outside of a turn ends a run; one inside is a model attempt that failed. */
const isEnd = ({ type, turn }: Header) => type === 'completion' || (type === 'error' && turn === 0)

async function append(
  ports: RuntimePorts,
  last: RecordedEvent,
  found: RecordedEvent,
  reason: string,
  asking: Asking,
): Promise<number> {
  const { stream, runId, agentId } = last.header
  const revision = last.header.revision + 1
  const kept = await residue(ports, found.header)
  const { revision: erased, body: old } = found.header
  const fact = bodies.erased.parse({ revision: erased, bodyHash: old.hash, reason, ...(kept === null ? {} : { kept }) })
  const salted = saltBody(canonicalBytes(fact), ports.random.bytes(16))
  const large = blobsOf([salted.header.size]).length > 0
  const body = large ? asBlob(salted) : salted
  if (large) await ports.blobs.put(runId, salted.header.hash, salted.bytes)
  const at = Math.max(ports.clock.now(), Date.parse(last.header.timestamp), ports.log.floor())
  const { by, commandId, correlationId, trace } = asking
  const header: Header = {
    ...{ format: FORMAT, stream, type: 'erased', version: versions.erased, runId, agentId, turn: 0, revision },
    timestamp: new Date(at).toISOString(),
    commandId,
    actor: by,
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(trace === undefined ? {} : { trace }),
    body: body.header,
  }
  const sealed = seal(last.hash, header, large ? null : salted.bytes)
  await ports.log.append(stream, last.header.revision, [sealed], [{ stream, revision: erased }])
  return revision
}

/** What the fold needs of the body; null where it cannot be read, which is no reason to keep it. */
async function residue(ports: RuntimePorts, { stream, revision }: Header) {
  for await (const [recorded] of ports.log.read(stream, { from: revision, limit: 1 })) {
    if (recorded === undefined) continue
    try {
      const event = decode(recorded.header, await bodyOf(ports, recorded))
      return { version: versions[event.type], body: residueOf(event.type, event.body as never) }
    } catch (error) {
      if (error instanceof LogError && UNREADABLE.has(error.code)) return null
      throw error
    }
  }
  return null
}

const UNREADABLE: ReadonlySet<LogError['code']> = new Set([
  'BLOB_MISSING',
  'LOG_CORRUPT',
  'UNKNOWN_EVENT',
  'BODY_ERASED',
])
