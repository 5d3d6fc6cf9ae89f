import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { PersonReplica } from '../../../adapters/loro/person-replica.ts'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { blockText, type DocumentBlock } from '../../../domain/document/model/block.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { isUpdate, updateBytes } from '../../../domain/document/stream/events.ts'
import { type DocumentState, evolveDocument } from '../../../domain/document/stream/state.ts'
import { foldThread, type Thread } from '../../../domain/document/stream/threads.ts'
import { ANN, BOB, DocumentGateway, eventsOf, made, portsOver } from '../../support/documents/runtime.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

interface Step {
  readonly op: 'type' | 'type' | 'suggest' | 'comment' | 'accept' | 'refuse' | 'resolve' | 'read'
  readonly who: number
  readonly at: number
  readonly length: number
  readonly text: string
}
const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('type', 'type', 'type', 'suggest', 'comment', 'accept', 'accept', 'refuse', 'resolve', 'read'),
  who: fc.nat(1),
  at: fc.nat(40),
  length: fc.nat(6),
  text: fc.constantFrom('', 'new', 'two words', '🦊'),
})
const PEOPLE = [ANN, BOB]
const ALL = { status: 'all', limit: 1000 } as const

/** Writes as a person at the page does: replaces a part of a paragraph, or removes the paragraph. */
function typed(replica: PersonReplica, { at, length, text }: Step): void {
  const block = replica.blocks[at % Math.max(1, replica.blocks.length)] as DocumentBlock | undefined
  if (block === undefined || !('text' in block)) return
  const old = [...blockText(block)]
  old.splice(at % (old.length + 1), length, text)
  const next = { ...block, text: [{ text: old.join(''), marks: {} }] } as DocumentBlock
  replica.write(replica.blocks.map((one) => (one === block ? next : one)))
}

it('with comments and suggestions the fold of the stream, a fresh gateway and the replicas of people are equal (law)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const ports = portsOver(new MemoryLog({ clock: BEFORE }))
      const gateway = new DocumentGateway(ports)
      const fresh = new DocumentGateway(ports)
      onTestFinished(async () => void (await Promise.all([gateway.close(), fresh.close()])))
      const id = await made(gateway, '<p>one <b>two</b> three</p><p>four five</p>')
      const { discussions } = gateway
      const { bytes } = await gateway.snapshot(id)
      const people = PEOPLE.map((caller) => ({ caller, replica: new PersonReplica(bytes), seen: -1 }))
      const catchUp = async (one: (typeof people)[number]) => {
        const events = await eventsOf(ports, documentStream(id))
        one.replica.import(
          events.filter((event) => event.revision > one.seen && isUpdate(event)).map((e) => updateBytes(e as never)),
        )
        one.seen = events.at(-1)!.revision
      }
      for (const one of steps) {
        const person = people[one.who]!
        const { threads } = await discussions.list(id, ALL)
        const open = threads.filter(
          ({ status, kind }) => status === 'open' && (kind === 'comment') === (one.op === 'resolve'),
        )
        const thread = open[one.at % Math.max(1, open.length)]
        const texts = (await gateway.read(id)).blocks.filter((block) => blockText(block as never) !== '')
        const block = texts[one.at % Math.max(1, texts.length)]
        if (one.op === 'read') await catchUp(person)
        if (one.op === 'type') {
          typed(person.replica, one)
          for (let unsent = person.replica.unsent(); unsent !== null; unsent = person.replica.unsent()) {
            await gateway.import(id, unsent.update, person.caller)
            unsent.sent()
          }
        }
        if ((one.op === 'suggest' || one.op === 'comment') && block !== undefined) {
          const chars = [...blockText(block as never)]
          const from = one.at % chars.length
          const quote = chars.slice(from, from + one.length + 1).join('')
          const place = { spanId: block.id!, quote, start: chars.slice(0, from).join('').length }
          if (one.op === 'comment') await discussions.comment(id, place, 'why?', person.caller)
          else if (quote !== one.text) await discussions.suggest(id, { ...place, replacement: one.text }, person.caller)
        }
        if (thread === undefined) continue
        if (one.op === 'resolve') await discussions.resolve(id, thread.id, person.caller)
        if (one.op === 'refuse') await discussions.refuse(id, thread.id, 'no', person.caller)
        if (one.op !== 'accept' || thread.kind !== 'suggestion') continue
        const before = (await gateway.read(id)).blocks
        const accepted = discussions.accept(id, thread.id, person.caller)
        const span = before.find((found) => found.id === thread.anchor.span)
        if (thread.outdated) {
          await expect(accepted).rejects.toMatchObject({ code: 'SUGGESTION_OUTDATED' })
          expect((await gateway.read(id)).blocks).toEqual(before)
          continue
        }
        await accepted
        const old = blockText(span as never)
        const { start, end } = thread.range!
        expect(old.slice(start, end)).toBe(thread.anchor.quote)
        const now = (await gateway.read(id)).blocks.find((found) => found.id === span!.id)
        expect(blockText(now as never)).toBe(old.slice(0, start) + thread.replacement + old.slice(end))
      }
      const events = await eventsOf(ports, documentStream(id))
      const state = events.reduce<DocumentState | null>(evolveDocument, null)!
      const folded = new Map<string, Thread>()
      for (const event of events) foldThread(folded, event)
      const [here, there] = [await gateway.read(id), await fresh.read(id)]
      expect(there).toEqual(here)
      expect(state).toMatchObject({ frontier: here.frontier, root: here.root })
      const list = await discussions.list(id, ALL)
      expect(await fresh.discussions.list(id, ALL)).toEqual(list)
      expect(list.threads.map(({ range: _, outdated: __, ...thread }) => thread)).toEqual([...folded.values()])
      const open = list.threads.filter(({ status }) => status === 'open')
      expect(Object.keys(state.open ?? {})).toEqual(open.map((thread) => thread.id))
      for (const person of people) {
        await catchUp(person)
        expect(person.replica.blocks).toEqual(here.blocks)
        for (const { anchor, range, status } of list.threads) {
          const found = person.replica.range(anchor.span, anchor)
          expect(found?.text && status === 'open' ? found : null).toEqual(range)
        }
      }
      expect(await gateway.history.verify(id)).toMatchObject({ ok: true })
    }),
    property(25),
  )
})
