import type { Client } from '../cli/client.ts'
import type { Context } from '../cli/context.ts'
import { FROM_BIRTH, resuming } from '../cli/follow/drive.ts'
import { follow } from '../cli/follow/follow.ts'
import { asOne, take } from '../http/answers.ts'
import type { DocumentView } from '../operations/document/schemas.ts'
import type { EventView } from '../operations/events/schemas.ts'
import { architectScript } from './project.ts'

/** The person who edits the document together with the architect. */
const PERSON = 'ada'

/** Edits a document with an architect: a person changes a text just before the architect changes the same text. */
export async function playDocument(ctx: Context, client: Client): Promise<boolean> {
  const note = (text: string) => ctx.note(`  ${text}`)
  ctx.line(`\n${ctx.paint('bold', 'A document that an architect and a person write')}`)
  note('A scripted model plays the Architect; each edit waits for approval, and you see the change first.')
  const json = {
    ...{ task: 'Write down how the till rounds.', role: 'architect', model: `scripted:${architectScript()}` },
    ...{ approve: ['create_document'], drive: false, by: ctx.by },
  }
  const { runId } = await take(client.v1.runs.$post({ header: {}, json }))
  const from = { ...FROM_BIRTH }
  let edited = false
  for (;;) {
    const backend = await ctx.backend('write')
    const watch = { runId, ...from, onEvent: (event: EventView) => tell(note, event), onText: () => {} }
    const { end } = await follow(backend, watch, resuming(ctx, runId))
    from.cursor = watch.cursor
    const [asked] = (await take(client.v1.approvals.$get({ query: { run: runId } }))).approvals
    if (end !== 'waiting' || asked === undefined) return end === 'done' && (await tellDocument(ctx, client))
    const param = { toolCallId: asked.toolCallId }
    const { preview, questionHash } = await take(client.v1.approvals[':toolCallId'].$get({ param }))
    for (const line of preview.text.split('\n').filter((one) => /^[-+](?![-+])/.test(one))) note(line)
    for (const said of preview.notes) note(said)
    if (!edited) await editAsPerson(ctx, client, note)
    edited = true
    await take(
      client.v1.approvals[':toolCallId'].$post({
        ...{ param, header: asOne(), json: { decision: 'approved', questionHash, by: PERSON } },
      }),
    )
  }
}

/** Reports the outcome of an edit of the architect. */
function tell(note: (text: string) => void, { type, payload }: EventView): void {
  if (type !== 'tool_call_end' || payload?.toolName !== 'edit_document') return
  const { error } = payload
  const { client_request_id: id } = (payload.result ?? {}) as { client_request_id?: string }
  note(error === undefined ? `applied as ${id}` : `${error.code}: ${error.message.split('. ')[0]}`)
}

async function theDocument(client: Client): Promise<string> {
  const { documents } = await take(client.v1.documents.$get({ query: { limit: '500' } }))
  return documents.at(-1)!.documentId
}

/** Before the person approves, the person changes the same block. */
async function editAsPerson(ctx: Context, client: Client, note: (text: string) => void): Promise<void> {
  const id = await theDocument(client)
  const read = await take(client.v1.documents[':id'].$get({ param: { id }, query: {} }))
  const { frontier, blocks } = read as DocumentView
  const { id: span_id, hash } = blocks.at(-1)!
  const text = 'Refunds: only with the receipt.'
  const body = {
    ...{ doc_frontier: frontier, client_request_id: 'demo-1' },
    ops_xml: `<replace_spans annotation="the rule of the shop"><span span_id="${span_id}">${text}</span></replace_spans>`,
    preconditions: [{ span_id, if_match_context_hash: hash }],
  }
  const backend = await ctx.backend('write')
  const url = `http://localhost/v1/documents/${id}/envelopes?by=${PERSON}`
  const headers = { 'content-type': 'application/json' }
  const answer = await backend.fetch(new Request(url, { method: 'POST', body: JSON.stringify(body), headers }))
  note(`${PERSON} writes first: "${text}" (${answer.status}), then approves`)
}

/** Shows the writer of each part of the text, and the proof. */
async function tellDocument(ctx: Context, client: Client): Promise<boolean> {
  const param = { id: await theDocument(client) }
  const { spans, sources } = await take(client.v1.documents[':id'].blame.$get({ param, query: {} }))
  for (const { text, revision } of spans.flatMap(({ parts }) => parts)) {
    const { by, toolCallId } = sources.find((one) => one.revision === revision)!
    const author = toolCallId === undefined ? by.id : `architect, call ${toolCallId.slice(toolCallId.indexOf('.') + 1)}`
    if (text.trim() !== '') ctx.note(`  ${JSON.stringify(text).padEnd(36)} ${author}`)
  }
  const proof = await take(client.v1.documents[':id'].verify.$get({ param }))
  ctx.line(
    `  ${proof.ok ? ctx.paint('green', 'holds') : ctx.paint('red', 'BROKEN')}: ${proof.events} events of ${param.id}`,
  )
  ctx.note(`  ${ctx.command('docs', 'history', param.id)}`)
  return proof.ok
}
