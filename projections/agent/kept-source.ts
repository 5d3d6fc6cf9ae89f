import { DatabaseSync } from 'node:sqlite'
import { shownText } from '../../domain/agent/events/arguments-ref.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { TRANSCRIPT_TYPES, Transcript } from '../../domain/agent/state/transcript.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { LogSource } from '../engine/store/audit.ts'

interface KeptRow {
  readonly stream: string
  readonly type: string
  readonly payload: string | null
}

interface ToldRow extends KeptRow {
  readonly agent_id: string
  readonly turn: number
  readonly tool_call_id: string | null
  readonly current: string | null
}

/** Reads the events that a file of tables keeps, for the seed's tables. The caller closes it. */
export function openKeptSource(path: string): LogSource & { close(): void } {
  const db = new DatabaseSync(path, { readOnly: true })
  const event = db.prepare('select stream, type, payload from event_rows where position = ?')
  const body = db.prepare('select payload from event_rows where stream = ? and revision = ?')
  const told = db.prepare(
    `select stream, agent_id, turn, type, tool_call_id, payload, current from event_rows
      where stream = ? and revision > ? and revision <= ? and type in (${TRANSCRIPT_TYPES.map((type) => `'${type}'`)}) order by revision`,
  )
  // Rows ask for the checkpoints of an agent in order, so each event is read once.
  let last = { agentId: '', revision: -1, transcript: new Transcript(), isWhole: true }
  const at = (position: number) => event.get(position) as KeptRow | undefined

  /** Adds the messages of events after `from` and up to `to`. False: a body was erased without a residue. */
  function tell(transcript: Transcript, stream: string, from: number, to: number): boolean {
    // All rows at once: a fork uses the statement again.
    for (const row of told.all(stream, from, to) as unknown[] as ToldRow[]) {
      const text = row.current ?? row.payload
      if (text === null) return false
      const one = eventOf(row, text)
      // A fork's messages begin with the messages of its source.
      if (one.type === 'forked' && !tell(transcript, one.body.stream, -1, one.body.revision)) return false
      transcript.push(one)
    }
    return true
  }

  return {
    path,
    eventsSql: (
      schema,
    ) => `select position, event_id, stream, run_id, agent_id, turn, revision, type, timestamp, tool_call_id,
      actor_kind, actor_id from ${schema}.event_rows`,
    payload: (position) => at(position)?.payload ?? null,
    shown(position) {
      const found = at(position)
      if (found === undefined || found.payload === null) return null
      return shownText(found.type, found.payload, (revision) => {
        const answer = body.get(found.stream, revision)?.payload ?? null
        return answer === null ? null : (JSON.parse(String(answer)) as JsonObject)
      })
    },
    messages(agentId, revision) {
      if (last.agentId !== agentId || last.revision > revision)
        last = { agentId, revision: -1, transcript: new Transcript(), isWhole: true }
      if (last.isWhole) last.isWhole = tell(last.transcript, agentStream(agentId), last.revision, revision)
      last.revision = revision
      return JSON.stringify(last.isWhole ? last.transcript.messages : null)
    },
    close: () => db.close(),
  }
}

/** The members of an event that messages need. Its body was checked when it was kept. */
const eventOf = ({ agent_id: agentId, turn, type, tool_call_id: toolCallId }: ToldRow, text: string): AgentEvent =>
  ({
    ...{ type, agentId, turn, size: text.length, body: JSON.parse(text) },
    ...(toolCallId !== null && { toolCallId }),
  }) as AgentEvent
