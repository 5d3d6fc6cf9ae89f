import { afterAll } from 'vitest'
import { bodyOf, openWorld } from './http.ts'

export interface View {
  documentId: string
  revision: number
  frontier: string
  blocks: { id: string; type: string; hash: string; text: { text: string }[] }[]
}

/** Documents over HTTP, in a world of their own that is closed after the tests of the file. */
export async function openDocuments() {
  const world = await openWorld({ heartbeatMs: 60_000 })
  afterAll(() => world.close())
  const { ask } = world
  const create = async (format: string, content?: string, more: object = {}) =>
    bodyOf<{ documentId: string }>(
      await ask('POST', '/v1/documents', {
        body: { title: 'Plan', format, by: 'ada', ...(content && { content }), ...more },
      }),
    )
  const made = async (markdown: string) => (await create('markdown', markdown)).documentId
  const view = async (id: string, query = '') => bodyOf<View>(await ask('GET', `/v1/documents/${id}${query}`))
  const texts = ({ blocks }: View) => blocks.map(({ text }) => text.map((run) => run.text).join(''))
  const send = (id: string, body: unknown, by = 'model') =>
    ask('POST', `/v1/documents/${id}/envelopes?by=${by}`, { body })
  const binary = { 'content-type': 'application/octet-stream' }
  const update = (id: string, raw: Uint8Array) =>
    ask('POST', `/v1/documents/${id}/updates?by=bob`, { raw: raw as Uint8Array<ArrayBuffer>, headers: binary })
  const snapshotOf = async (id: string) =>
    new Uint8Array(await (await ask('GET', `/v1/documents/${id}?format=loro`)).arrayBuffer())
  const eventsOf = async (stream: string) => {
    const events: { type: string; actor: string }[] = []
    for await (const page of world.services.log.read(stream))
      for (const { header } of page) events.push({ type: header.type, actor: header.actor.id })
    return events
  }

  /** A replacement of the first block as it is now. */
  async function replacement(id: string, requestId: string, content: string) {
    const { frontier, blocks } = await view(id)
    return {
      doc_frontier: frontier,
      client_request_id: requestId,
      ops_xml: `<replace_spans><span span_id="${blocks[0]!.id}">${content}</span></replace_spans>`,
      preconditions: [{ span_id: blocks[0]!.id, if_match_context_hash: blocks[0]!.hash }],
    }
  }
  return { world, ask, create, made, view, texts, send, binary, update, snapshotOf, eventsOf, replacement }
}
