import fc from 'fast-check'
import type { LoroText } from 'loro-crdt'
import { expect, it } from 'vitest'
import { authoredParts, InsertedRuns } from '../../../adapters/loro/authorship.ts'
import { Person } from '../../support/documents/person.ts'
import { property } from '../../support/property.ts'

interface Step {
  readonly who: number
  readonly op: 'insert' | 'delete' | 'mark' | 'merge'
  readonly at: number
  readonly length: number
  readonly text: string
}
const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat(2),
  op: fc.constantFrom('insert', 'insert', 'delete', 'delete', 'mark', 'merge'),
  at: fc.nat(60),
  length: fc.integer({ min: 1, max: 8 }),
  text: fc.constantFrom('a', 'ab', 'some words', '🦊', 'x🙂y', 'aaaa'),
})

/** The parts as Loro tells them character by character. */
function partsOf(text: LoroText) {
  const ids: { char: string; peer: string; counter: number }[] = []
  let at = 0
  for (const char of text.toString()) {
    const id = text.getCursor(at, 0)!.pos()!
    ids.push({ char, peer: id.peer, counter: id.counter })
    at += char.length
  }
  return ids
}

it('the writers of a text are those that Loro names for each character (law)', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const people = ['5', '6', '7'].map((peer) => new Person(peer))
      const textOf = ({ doc }: Person) => doc.getText('t')
      const start = (text: LoroText, at: number) => {
        const chars = [...text.toString()]
        return chars.slice(0, at % (chars.length + 1)).join('').length
      }
      for (const { who, op, at, length, text: added } of steps) {
        const person = people[who]!
        const text = textOf(person)
        const from = start(text, at)
        const chars = [...text.toString().slice(from)].slice(0, length).join('').length
        if (op === 'insert') text.insert(from, added)
        if (op === 'delete' && chars > 0) text.delete(from, chars)
        if (op === 'mark' && chars > 0) text.mark({ start: from, end: from + chars }, 'bold', true)
        if (op === 'merge') person.doc.import(people[(who + 1) % 3]!.doc.export({ mode: 'update' }))
        person.doc.commit()
      }
      for (const person of people) {
        const text = textOf(person)
        const parts = authoredParts(text, new InsertedRuns(person.doc))
        const chars = parts.flatMap(({ text: part, peer, counter }) =>
          [...part].map((char, n) => ({ char, peer, counter: counter + n })),
        )
        expect(chars).toEqual(partsOf(text))
      }
    }),
    property(150),
  )
})
