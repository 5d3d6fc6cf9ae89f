import { baseKeymap } from 'prosemirror-commands'
import { history } from 'prosemirror-history'
import { keymap } from 'prosemirror-keymap'
import { Schema } from 'prosemirror-model'
import { EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'

// The least editor that can write a text: the floor of the editor of documents.

const schema = new Schema({
  nodes: {
    doc: { content: 'paragraph+' },
    paragraph: { content: 'text*', toDOM: () => ['p', 0], parseDOM: [{ tag: 'p' }] },
    text: {},
  },
})

/** Shows an editor of these paragraphs. */
function open(paragraphs: readonly string[]): void {
  const nodes = paragraphs.map((text) => schema.nodes.paragraph.create(null, schema.text(text)))
  const plugins = [keymap(baseKeymap), history()]
  new EditorView(document.body, { state: EditorState.create({ doc: schema.nodes.doc.create(null, nodes), plugins }) })
}

Object.assign(globalThis, { openPlainEditor: open })
