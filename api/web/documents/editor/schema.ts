import { DOMSerializer, type MarkSpec, type NodeSpec, Schema } from 'prosemirror-model'

// The document model as a schema of ProseMirror. Nodes have the types, attributes and marks of the model under its names. `id`
// is the block's id; null: the block is new.

const block = (tag: string, more: Partial<NodeSpec> = {}): NodeSpec => ({
  group: 'block',
  content: 'text*',
  // A text of the model may contain line feeds and several spaces.
  whitespace: 'pre',
  attrs: { id: { default: null } },
  parseDOM: [{ tag }],
  toDOM: () => [tag, 0],
  ...more,
})

const HEADINGS = [1, 2, 3, 4, 5, 6]

const nodes = {
  doc: { content: 'block+' },
  paragraph: block('p'),
  heading: block('h1', {
    attrs: { id: { default: null }, level: { default: 1 } },
    parseDOM: HEADINGS.map((level) => ({ tag: `h${level}`, attrs: { level } })),
    toDOM: ({ attrs }) => ['p', { class: `heading h${attrs.level}`, role: 'heading', 'aria-level': attrs.level }, 0],
  }),
  quote: block('blockquote'),
  code: block('pre', {
    code: true,
    defining: true,
    marks: '',
    attrs: { id: { default: null }, language: { default: null } },
    parseDOM: [
      {
        tag: 'pre',
        preserveWhitespace: 'full',
        getAttrs: ({ dataset }: HTMLElement) => ({ language: dataset.language ?? null }),
      },
    ],
  }),
  list_item: block('li', {
    attrs: { id: { default: null }, ordered: { default: false }, indent: { default: 0 } },
    parseDOM: [
      {
        tag: 'li',
        getAttrs: ({ dataset, parentElement }: HTMLElement) => ({
          ordered: parentElement?.tagName === 'OL' || dataset.ordered === 'true',
          indent: Math.min(8, Math.max(0, Number(dataset.indent) || 0)),
        }),
      },
    ],
    toDOM: ({ attrs }) => ['p', { class: `item indent-${attrs.indent}${attrs.ordered ? ' ordered' : ''}` }, 0],
  }),
  divider: block('hr', { content: '', toDOM: () => ['hr'] }),
  table: block('table', { content: 'row+', isolating: true, toDOM: () => ['table', ['tbody', 0]] }),
  row: { content: 'cell+', parseDOM: [{ tag: 'tr' }], toDOM: () => ['tr', 0] },
  cell: {
    content: 'text*',
    whitespace: 'pre',
    isolating: true,
    attrs: { header: { default: false }, colspan: { default: 1 }, rowspan: { default: 1 } },
    parseDOM: [{ tag: 'th', attrs: { header: true } }, { tag: 'td' }],
    toDOM: ({ attrs }) => [attrs.header ? 'th' : 'td', { colspan: attrs.colspan, rowspan: attrs.rowspan }, 0],
  },
  /** A block outside the document model. It can be deleted, not edited. */
  unreadable: {
    group: 'block',
    atom: true,
    attrs: { id: { default: null } },
    toDOM: () => ['p', { class: 'quiet' }, 'a block that this page cannot show'],
  },
  text: {},
} satisfies Record<string, NodeSpec>

const mark = (...tags: string[]): MarkSpec => ({
  parseDOM: tags.map((tag) => ({ tag })),
  toDOM: () => [tags[0]!, 0],
})

const marks = {
  bold: mark('strong', 'b'),
  italic: mark('em', 'i'),
  underline: mark('u'),
  strike: mark('del', 's'),
  /** The mark `code` of the model. A schema has no two parts of one name. */
  inline_code: { ...mark('code'), inclusive: false },
  link: {
    inclusive: false,
    attrs: { link: {} },
    parseDOM: [{ tag: 'a[href]', getAttrs: (a: HTMLElement) => ({ link: { href: a.getAttribute('href') } }) }],
    // No address: the text of the link may name a different one, which a click must not follow.
    toDOM: ({ attrs }) => ['span', { class: 'link', title: attrs.link.href }, 0],
  },
} satisfies Record<string, MarkSpec>

export const schema: Schema<keyof typeof nodes, keyof typeof marks> = new Schema({ nodes, marks })

/** What other programs, and this editor, get when a person copies: HTML with headings, lists and links. */
export const clipboard = new DOMSerializer(
  {
    ...DOMSerializer.nodesFromSchema(schema),
    heading: ({ attrs }) => [`h${attrs.level}`, 0],
    list_item: ({ attrs }) => ['li', { 'data-ordered': attrs.ordered, 'data-indent': attrs.indent }, 0],
    code: ({ attrs }) => ['pre', attrs.language === null ? {} : { 'data-language': attrs.language }, 0],
  },
  { ...DOMSerializer.marksFromSchema(schema), link: ({ attrs }) => ['a', { href: attrs.link.href }, 0] },
)
