import { CommandRejected } from '../agent/errors.ts'
import { bodies, versions } from '../agent/events.ts'
import { canonicalBytes } from '../log/canonical.ts'
import { FORMAT, type Header, type RecordedEvent } from '../log/envelope.ts'
import { ConflictError } from '../log/errors.ts'
import { agentStream } from '../log/ids.ts'
import { saltBody, seal } from '../log/seal.ts'
import type { Asking } from './journal.ts'
import { revisionChanged } from './mailbox.ts'
import type { RuntimePorts } from './ports.ts'

// Erasure works on headers alone: what was erased before must not stand in the way of erasing more. Its fact therefore
// carries no digest.

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
    await ports.snapshots?.forget(agentId)
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
  const fact = bodies.erased.parse({ revision: found.header.revision, bodyHash: found.header.body.hash, reason })
  const body = saltBody(canonicalBytes(fact), ports.random.bytes(16))
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
  const sealed = seal(last.hash, header, body.bytes)
  await ports.log.append(stream, last.header.revision, [sealed], [{ stream, revision: found.header.revision }])
  return revision
}
