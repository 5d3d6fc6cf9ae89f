import { shownText } from '../../../domain/agent/events/arguments-ref.ts'
import { decode } from '../../../domain/agent/events/codec.ts'
import { Transcript } from '../../../domain/agent/state/transcript.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { sealedBody, unsalted } from '../../../domain/log/seal.ts'
import { Lru } from '../../memory/lru.ts'
import { fileOf, openLogToRead } from './connection.ts'
import { Reader } from './reader.ts'
import { StreamResidues } from './residues.ts'

const utf8 = new TextDecoder()

/** The text to show for a body that differs from the sealed one. */
const ALTERED = '{"altered":true}'

/**
 * Opens the log in a folder for auditors, with or without an owner: the LogSource of projections/engine/store/audit.ts.
 * An altered body is shown as {@link ALTERED}. `blob`: the bytes of a body in the blob store.
 */
export function openAuditSource(folder: string, blob: (owner: string, hash: string) => Uint8Array) {
  const db = openLogToRead(folder)
  const reader = new Reader(db)
  const storedOf = (event: RecordedEvent): Uint8Array =>
    event.body ?? blob(ownerOf(event.header), event.header.body.hash)
  const bytesOf = (event: RecordedEvent): Uint8Array | null => (event.erased ? null : unsalted(storedOf(event)))
  const at = (position: number) => reader.logPage(position, position, 1, true)[0]
  const textOf = (event: RecordedEvent | undefined): string | null => {
    if (!event || event.erased) return null
    const body = sealedBody(event.header.body, storedOf(event))
    return body === null ? ALTERED : utf8.decode(body)
  }
  const answers = new Lru<string, { readonly body: JsonObject | null }>(8)
  const tellers = new Lru<string, Teller>(8)
  return {
    path: fileOf(folder),
    eventsSql,
    payload: (position: number) => textOf(at(position)),
    shown(position: number): string | null {
      const event = at(position)
      const text = textOf(event)
      if (!event || text === null) return text
      const { type, stream } = event.header
      return shownText(type, text, (revision) => {
        const key = `${stream}@${revision}`
        let answer = answers.get(key)
        if (answer === undefined) {
          const said = textOf(reader.streamPage(reader.streamId(stream)!, revision, revision, 1, true)[0])
          answer = { body: said === null ? null : (JSON.parse(said) as JsonObject) }
          answers.set(key, answer)
        }
        return answer.body
      })
    },
    messages(agentId: string, revision: number): string {
      let teller = tellers.get(agentId)
      if (!teller || teller.revision > revision) {
        teller = new Teller(reader, bytesOf, agentId)
        tellers.set(agentId, teller)
      }
      return teller.tell(revision)
    },
    close: () => db.close(),
  }
}

/** Returns an agent's messages at increasing revisions, and reads each event once. */
class Teller {
  revision = -1
  readonly #reader: Reader
  readonly #bytesOf: (event: RecordedEvent) => Uint8Array | null
  readonly #agentId: string
  readonly #transcript = new Transcript()
  #lost = false

  constructor(reader: Reader, bytesOf: (event: RecordedEvent) => Uint8Array | null, agentId: string) {
    this.#reader = reader
    this.#bytesOf = bytesOf
    this.#agentId = agentId
  }

  tell(revision: number): string {
    this.#read(agentStream(this.#agentId), this.revision + 1, revision)
    this.revision = revision
    return JSON.stringify(this.#lost ? null : this.#transcript.messages)
  }

  /** A fork's messages begin with the messages of its source. */
  #read(stream: string, from: number, to: number): void {
    const id = this.#reader.streamId(stream)
    if (id === null) throw new LogError('LOG_CORRUPT', `the log has no stream ${stream}; restore a backup`)
    const residues = new StreamResidues(this.#reader, id, this.#bytesOf)
    for (let next = from; next <= to && !this.#lost; ) {
      const page = this.#reader.streamPage(id, next, to, to - next + 1, true)
      if (page.length === 0) return
      for (const recorded of page) {
        const bytes = this.#bytesOf(recorded)
        const event = bytes === null ? residues.of(recorded.header) : decode(recorded.header, bytes)
        if (event === null) {
          this.#lost = true
          return
        }
        if (event.type === 'forked') this.#read(event.body.stream, 0, event.body.revision)
        this.#transcript.push(event)
      }
      next = page.at(-1)!.header.revision + 1
    }
  }
}

// The view restores the shortened parts of the rows: see row.ts and domain/log/seal.ts (the id is part of the hash).
const eventsSql = (schema: string) => `select position,
    substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 14, 3) || '-' ||
      substr('89ab89ab89ab89ab', instr('0123456789abcdef', substr(h, 17, 1)), 1) || substr(h, 18, 3) || '-' ||
      substr(h, 21, 12) as event_id,
    stream, run_id, agent_id, turn, revision, type,
    strftime('%Y-%m-%dT%H:%M:%S', at / 1000, 'unixepoch') || printf('.%03dZ', at % 1000) as timestamp,
    case when substr(call, 1, 1) = char(1) then agent_id || substr(call, 2) else call end as tool_call_id,
    actor_kind, actor_id
  from (
    select e.position, lower(hex(substr(e.proof, 1, 16))) as h, s.name as stream,
      ifnull(o.run_id, s.name) as run_id, ifnull(o.agent_id, substr(s.name, instr(s.name, '-') + 1)) as agent_id, e.turn,
      e.revision, k.type, e.at, e.call, o.actor_kind, o.actor_id
    from ${schema}.events e
    join ${schema}.kinds k on k.id = e.kind
    join ${schema}.origins o on o.id = e.origin
    join ${schema}.streams s on s.id = e.stream)`
