import { Schema } from 'prosemirror-model'
import { expect, test } from 'vitest'
import { caretAfter } from '../../../api/web/documents/editor/caret-after.ts'

const schema = new Schema({
  nodes: { doc: { content: 'paragraph+' }, paragraph: { content: 'text*' }, text: { inline: true } },
})
const paragraphs = (texts: readonly string[]) =>
  schema.node(
    'doc',
    null,
    texts.map((text) => schema.node('paragraph', null, text === '' ? [] : [schema.text(text)])),
  )

/** The text around a caret after a change: `|` is the caret in both texts. */
function kept(before: readonly string[], after: readonly string[]): string | null {
  const nth = before.findIndex((text) => text.includes('|'))
  const old = paragraphs(before.map((text) => text.replace('|', '')))
  const start = old.children.slice(0, nth).reduce((sum, { nodeSize }) => sum + nodeSize, 0) + 1
  const now = paragraphs(after)
  const changed = { before: old, head: 0, removed: old.children, added: now.children }
  const at = caretAfter(changed, start + before[nth]!.indexOf('|'))
  if (at === null) return null
  const place = now.resolve(at)
  const text = place.parent.textContent
  return `${text.slice(0, place.parentOffset)}|${text.slice(place.parentOffset)}`
}

test('a caret stays beside its character when others change the document', () => {
  // A split before the caret, with words that the other wrote.
  expect(kept(['one two th|'], ['new one', ' two th'])).toBe(' two th|')
  expect(kept(['one two th|', 'last'], ['one', ' two th', 'last'])).toBe(' two th|')
  expect(kept(['one| two'], ['one', ' two'])).toBe('one|')
  expect(kept(['one |two'], ['one ', 'two'])).toBe('one |')
  // Two paragraphs become one.
  expect(kept(['one', 't|wo'], ['onetwo'])).toBe('onet|wo')
  // The start of a block has no character before it.
  expect(kept(['|one'], ['zero', 'one'])).toBe('|one')
  // The character is gone.
  expect(kept(['one tw|o'], ['one'])).toBe(null)
})
