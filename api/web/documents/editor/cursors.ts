import { Plugin, PluginKey, type Transaction } from 'prosemirror-state'
import { Decoration, DecorationSet } from 'prosemirror-view'

/** The place of a person's cursor: a block, and offsets in its text. */
export interface Place {
  readonly block: string
  readonly anchor: number
  readonly head: number
}

/** Another window in which someone edits the document. */
export interface PersonHere {
  readonly client: string
  readonly name: string
  readonly place: Place | null
}

/** The number of colours of people in the styles. */
const COLOURS = 6

/** The colour of a window: the same for all who see it. */
export const colourOf = (client: string): number =>
  [...client].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % COLOURS

const key = new PluginKey<DecorationSet>('people')

export const showPeople = (tr: Transaction, people: readonly PersonHere[]): Transaction =>
  tr.setMeta(key, people).setMeta('addToHistory', false)

/** Shows the cursors and selections of other people with their names. */
export const cursorsPlugin = (): Plugin =>
  new Plugin<DecorationSet>({
    key,
    state: {
      init: () => DecorationSet.empty,
      apply(tr, shown) {
        const people = tr.getMeta(key) as readonly PersonHere[] | undefined
        return people === undefined
          ? shown.map(tr.mapping, tr.doc)
          : DecorationSet.create(tr.doc, decorations(tr, people))
      },
    },
    props: { decorations: (state) => key.getState(state) },
  })

function decorations({ doc }: Transaction, people: readonly PersonHere[]): Decoration[] {
  const starts = new Map<string, readonly [number, number]>()
  if (people.length > 0)
    doc.forEach((node, position) => void starts.set(node.attrs.id, [position + 1, position + node.nodeSize - 1]))
  return people.flatMap(({ client, name, place }) => {
    const block = place === null ? undefined : starts.get(place.block)
    if (place === null || block === undefined) return []
    const at = (offset: number) => Math.min(block[1], block[0] + offset)
    const [anchor, head] = [at(place.anchor), at(place.head)]
    const colour = `person-${colourOf(client)}`
    const cursor = Decoration.widget(head, () => cursorElement(name, colour), { key: `${client} ${name}`, side: 10 })
    if (anchor === head) return [cursor]
    return [cursor, Decoration.inline(Math.min(anchor, head), Math.max(anchor, head), { class: `selected ${colour}` })]
  })
}

function cursorElement(name: string, colour: string): HTMLElement {
  const cursor = document.createElement('span')
  cursor.className = `cursor ${colour}`
  const label = document.createElement('span')
  label.className = 'name'
  label.textContent = name
  cursor.append(label)
  return cursor
}
