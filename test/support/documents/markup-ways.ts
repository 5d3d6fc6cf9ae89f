import { LoroMap, LoroText } from 'loro-crdt'
import { toTree } from '../../../adapters/loro/markup/to-tree.ts'
import { contentOf, toHtml } from '../../../domain/document/markup/document-html.ts'
import { MARKUP_LIMITS } from '../../../domain/document/markup/limits.ts'
import { toMarkdown } from '../../../domain/document/markup/markdown.ts'
import type { OpenDocument } from '../../../domain/ports/index.ts'
import { documentWith, Gateway } from './gateway.ts'
import { Person } from './person.ts'

// All ways in which markup enters a document, and the document's output.

const BASE = '<p>one</p><h2>two</h2><pre><code>three</code></pre><table><tbody><tr><td>four</td></tr></tbody></table>'

interface Way {
  readonly name: string
  /** Use one of this many payloads. */
  readonly every: number
  /** The document with the accepted content; null: everything was refused. The caller closes the document. */
  into(payload: string): Promise<OpenDocument | null>
}

const escaped = (text: string) =>
  text
    .replaceAll(/[&<>"\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')

const one = (id: string, content: string) => `<replace_spans><span span_id="${id}">${content}</span></replace_spans>`
const start = (content: string) => `<insert_blocks after="start">${content}</insert_blocks>`

/** Requests with markup at every place that allows it. */
const places = (xml: string): readonly Asked[] => [
  [start(xml)],
  [start(`<p>${xml}</p><ul><li>${xml}</li></ul><table><tr><td>${xml}</td></tr></table>`)],
  [one('b1', xml), 'b1'],
  [one('b3', xml), 'b3'],
  [one('b4/0/0', xml), 'b4/0/0'],
]

/** A request with the payload as text and as the value of every attribute. */
const asText = (text: string): Asked => [
  '<ops>' +
    one('b2', `${text} <b>${text}</b> <code>${text}</code>`) +
    `<insert_blocks after="start" annotation="${text}"><p>` +
    `<a href="/p" title="${text}" rel="${text}" target="${text}">x</a> <a href="${text}">y</a></p></insert_blocks></ops>`,
  'b2',
]

type Asked = readonly [ops: string, span?: string]

/** Envelopes. */
const envelopes: Way = {
  name: 'envelopes',
  every: 1,
  async into(payload) {
    const { document } = await documentWith(BASE)
    const gateway = new Gateway(document)
    let requests = 0
    const status = ([ops, span]: Asked) => gateway.ask(`r${requests++}`, ops, span === undefined ? [] : [span]).status
    const texts = status(asText(escaped(payload)))
    if (texts !== 200) throw new Error(`a text was answered with ${texts}`)
    // A malformed or hostile payload is refused at every place, so one place is enough.
    for (const asked of places(payload)) if (status(asked) === 400) break
    return document
  },
}

const creation = (format: 'html' | 'markdown'): Way => ({
  name: `a new document from ${format}`,
  every: 4,
  async into(payload) {
    const { depth, nodes } = MARKUP_LIMITS
    const parsed = toTree({ format, text: payload, limits: { depth, nodes } })
    if (parsed.kind === 'limits') return null
    const content = contentOf(parsed.children)
    if ('fault' in content) return null
    const { document } = await documentWith('')
    const blocks = content.blocks.map((block, n) => ({ ...block, id: `n${n}` }))
    document.edit([{ kind: 'insert', after: null, blocks }]).keep()
    return document
  },
})

/** A person's replica has hostile text, marks and ids inside the document model. */
const person: Way = {
  name: "a person's update",
  every: 10,
  async into(payload) {
    const { document, updates } = await documentWith(BASE)
    const peer = new Person('77', updates[0]!)
    const update = peer.change(() => {
      const text = peer.text(0)
      text.insert(0, payload)
      text.mark({ start: 0, end: 1 }, 'link', { href: payload, title: payload, rel: payload, target: payload })
      text.mark({ start: 0, end: 2 }, 'bold', true)
      text.mark({ start: 0, end: 2 }, 'code', payload)
      text.insert(text.length, 'z')
      text.mark({ start: text.length - 1, end: text.length }, 'link', { href: '/p', title: payload, onclick: payload })
      // Another test covers blocks outside the document model, which are refused as a whole.
      const block = peer.blocks.pushContainer(new LoroMap())
      block.set('id', `${payload}code`)
      block.set('type', 'code')
      block.set('attrs', { language: null })
      block.setContainer('text', new LoroText()).insert(0, payload)
    })
    const found = document.import(update)
    if (found.kind !== 'imported') {
      document.close()
      return null
    }
    found.change.keep()
    return document
  },
}

export const WAYS: readonly Way[] = [envelopes, creation('html'), creation('markdown'), person]

/** The output of a document. */
export const exported = (document: OpenDocument) => {
  const blocks = document.blocks()
  return { html: toHtml(blocks), markdown: toMarkdown(blocks) }
}
