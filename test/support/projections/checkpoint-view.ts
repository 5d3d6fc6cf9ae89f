import { sql } from 'kysely'
import { expect } from 'vitest'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { Transcript } from '../../../domain/agent/state/transcript.ts'
import { ERASED } from '../../../domain/calls/events/residue.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { checkpointAt } from './checkpoint.ts'
import type { Tables } from './kit.ts'

type Row = Record<string, string | number | null>
type Sources = { readonly log: EventLog; readonly blobs: BlobStore }

export const rowsOfView = async ({ db }: Tables, view: 'events' | 'checkpoints'): Promise<Row[]> =>
  (await sql<Row>`select * from ${sql.table(view)} order by 1`.execute(db)).rows

/** The messages of an agent at a revision, from the domain; null: an earlier body is erased without a residue. */
async function messagesOf(sources: Sources, agentId: string, to: number): Promise<Told> {
  const transcript = new Transcript()
  try {
    for await (const page of history(sources, agentId, { to })) {
      for (const { event } of page) transcript.push(event)
    }
    return transcript.messages
  } catch (error) {
    if (error instanceof LogError && error.code === 'BODY_ERASED') return null
    throw error
  }
}

async function forksIn(log: EventLog): Promise<Set<string>> {
  const forks = new Set<string>()
  for await (const page of log.readAll(null, { bodies: false })) {
    for (const { header } of page) if (header.type === 'forked') forks.add(agentOf(header))
  }
  return forks
}

type Told = readonly { readonly role: string; readonly content: unknown }[] | null

const LEFT_OUT = /\n\[… \d+ of (\d+) bytes left out; .* …\]\n/

/**
 * SQL shows whole results, except results in the blob store. Cuts the results that the model saw as head and tail in
 * the same way.
 */
function cutAs(shown: Told, whole: Told): Told {
  if (whole === null) return null
  return whole.map((message, i) => {
    const content = String(shown?.[i]?.content)
    const cut = message.role === 'tool' ? LEFT_OUT.exec(content) : null
    if (cut === null || message.content === content) return message
    const text = String(message.content)
    expect([Buffer.byteLength(text), text.startsWith(content.slice(0, cut.index))]).toEqual([Number(cut[1]), true])
    expect(text.endsWith(content.slice(cut.index + cut[0].length))).toBe(true)
    return { ...message, content }
  })
}

/**
 * Compares each row of the seed's `checkpoints` in SQL with the domain and the queries over the same log. Returns the
 * number of rows, of forks, and of rows with an earlier erased body.
 */
export async function comparedCheckpoints(tables: Tables, sources: Sources) {
  const counts = { rows: 0, forked: 0, erased: 0 }
  const forks = await forksIn(sources.log)
  for (const row of await rowsOfView(tables, 'checkpoints')) {
    const columns = 'id thread_id step timestamp state_blob pending_tools completed_tools usage_tokens usage_cost'
    expect(Object.keys(row).join(' ')).toBe(columns)
    const agent = String(row.thread_id)
    const { row: found, ...made } = await checkpointAt(sources, tables.db, agent, Number(row.step))
    const messages = await messagesOf(sources, agent, found.revision)
    expect(row).toMatchObject({ id: found.id, timestamp: found.timestamp, usage_cost: made.usage.cost })
    expect(row.usage_tokens).toBe(made.usage.inputTokens + made.usage.outputTokens)
    const state = JSON.parse(String(row.state_blob)) as { messages: Told }
    expect({ ...state, messages: cutAs(messages, state.messages) }).toEqual({ ...made.state, messages })
    expect(JSON.parse(String(row.pending_tools))).toEqual(made.pendingToolCalls)
    const results = JSON.parse(String(row.completed_tools)) as Row[]
    expect(results.map((r) => [r.toolCallId, r.success, r.result ?? null])).toEqual(
      made.completedToolResults.map((r) => [r.toolCallId, r.success, r.erased ? ERASED : (r.result ?? null)]),
    )
    counts.rows++
    if (JSON.stringify(messages).includes(ERASED)) counts.erased++
    if (forks.has(agent)) counts.forked++
  }
  return counts
}
