import { bodyOf, openWorld } from './http.ts'

// Documents over HTTP, and requests on them that would be applied as they are.

export interface Block {
  readonly id: string
  readonly hash: string
  readonly rows?: readonly (readonly { readonly span_id: string; readonly hash: string }[])[]
}
export interface View {
  readonly documentId: string
  readonly frontier: string
  readonly root: string
  readonly blocks: readonly Block[]
}

const MARKUP = '<p>Hello</p><hr><pre><code>x</code></pre><table><tr><td>c</td></tr></table><p>World</p>'

export const insert = (content: string, after = 'start') => `<insert_blocks after="${after}">${content}</insert_blocks>`
export const remove = ({ id }: Block) => `<delete_blocks><span span_id="${id}"/></delete_blocks>`
export const nested = (depth: number, tag: string, inner = 'x') =>
  `<${tag}>`.repeat(depth) + inner + `</${tag}>`.repeat(depth)

/** A server with two documents of the same content. `request` and `replace` are about the `shared` one. */
export async function openTwoDocuments() {
  const world = await openWorld({ heartbeatMs: 60_000 })
  const { ask } = world
  const view = async (id: string) => bodyOf<View>(await ask('GET', `/v1/documents/${id}`))
  const create = async () => {
    const body = { title: 'Plan', format: 'html', content: MARKUP, by: 'ada' }
    const { documentId } = await bodyOf<View>(await ask('POST', '/v1/documents', { body }))
    return view(documentId)
  }
  const post = (id: string, raw: string | Uint8Array<ArrayBuffer>) =>
    ask('POST', `/v1/documents/${id}/envelopes?by=model`, { raw })
  const [shared, other] = [await create(), await create()]
  const [hello, divider, code, table] = shared.blocks as readonly [Block, Block, Block, Block]
  const [{ span_id: id, hash }] = table.rows![0] as [{ readonly span_id: string; readonly hash: string }]
  let requests = 0
  return {
    ...{ world, ask, view, create, post, shared, other },
    ...{ hello: () => hello, divider: () => divider, code: () => code, table: () => table, cell: () => ({ id, hash }) },
    replace: (content: string, span: Block = hello) =>
      `<replace_spans><span span_id="${span.id}">${content}</span></replace_spans>`,
    /** A request on the shared document that would be applied, but for `more`. */
    request: (ops_xml: string, more: object = {}, spans: readonly Block[] = [hello]) => ({
      doc_frontier: shared.frontier,
      client_request_id: `r${++requests}`,
      ops_xml,
      preconditions: spans.map((one) => ({ span_id: one.id, if_match_context_hash: one.hash })),
      ...more,
    }),
  }
}
