import fc from 'fast-check'
import type { PeerID } from 'loro-crdt'
import { expect, it } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { LoroDocument } from '../../../adapters/loro/open-document.ts'
import { Replica } from '../../../adapters/loro/replica.ts'
import type { ImportedUpdate, OpenDocument } from '../../../domain/ports/index.ts'
import { documentWith, GATEWAY } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'
import { property } from '../../support/property.ts'

// A replica whose changes lose races is built again from a part of the history. It holds the same as one that loses none.

type Step =
  /** So many edits: of this gateway, lost by this gateway, or of another process. */
  | { readonly by: 'own' | 'lost' | 'other'; readonly count: number; readonly at: number }
  /** A person's update, sent here or to another process, from a replica that has the updates up to some steps ago. */
  | {
      readonly by: 'person'
      readonly here: boolean
      readonly loses: boolean
      readonly syncs: boolean
      readonly at: number
    }

const at = fc.nat(3)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ by: fc.constantFrom('own', 'other'), count: fc.constantFrom(1, 2, 40, 100), at }),
  fc.record({ by: fc.constant('lost'), count: fc.constant(1), at }),
  fc.record({ by: fc.constant('person'), here: fc.boolean(), loses: fc.boolean(), syncs: fc.boolean(), at }),
) as fc.Arbitrary<Step>

const replaced = (document: OpenDocument, at: number, text: string) =>
  document.edit([{ kind: 'replace', spanId: `b${at + 1}`, runs: [{ text, marks: at === 0 ? { bold: true } : {} }] }])

function changeOf(found: ImportedUpdate) {
  if (found.kind !== 'imported') throw new Error(found.kind === 'refused' ? found.message : found.kind)
  return found.change
}

it('holds the same as a replica that lost no race', async () => {
  let shallow = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const { document, updates } = await documentWith('<p>one</p><p>two</p><p>three</p><h1>four</h1>')
      const plain = await loroDocuments.open({ gatewayPeer: GATEWAY, updates })
      const stored = [...updates]
      const person = new Person('9', document.snapshot())
      let seen = stored.length
      for (const [n, step] of steps.entries()) {
        if (step.by === 'person') {
          if (step.syncs) for (const update of stored.slice(seen)) person.doc.import(update)
          if (step.syncs) seen = stored.length
          const update = person.change(() => person.text(step.at).insert(0, `p${n} `))
          if (step.loses) changeOf(document.import(update)).discard()
          if (step.here) changeOf(document.import(update)).keep()
          else document.follow(update)
          changeOf(plain.import(update)).keep()
          stored.push(update)
          continue
        }
        for (let i = 0; i < step.count; i++) {
          const [maker, follower] = step.by === 'other' ? [plain, document] : [document, plain]
          const change = replaced(maker, step.at, `${step.by} ${n}.${i}`)
          if (step.by === 'lost') {
            change.discard()
            shallow += 1
            continue
          }
          change.keep()
          follower.follow(change.update)
          stored.push(change.update)
        }
      }
      for (const replica of [plain, document]) {
        expect([replica.frontier, replica.blocks()]).toEqual([plain.frontier, plain.blocks()])
        expect([...replica.authorship()]).toEqual([...plain.authorship()])
      }
      // What is stored makes the same document, in both forms.
      for (const from of [{ updates: stored }, { snapshot: document.snapshot(), updates: [] }]) {
        const again = await loroDocuments.open({ gatewayPeer: GATEWAY, ...from })
        expect([again.frontier, again.blocks()]).toEqual([plain.frontier, plain.blocks()])
        again.close()
      }
      const change = replaced(document, 0, 'after the snapshot')
      change.discard()
      expect([document.frontier, document.blocks()]).toEqual([plain.frontier, plain.blocks()])
      document.close()
      plain.close()
    }),
    property(60),
  )
  expect(shallow).toBeGreaterThan(0)
})

it('one that cannot be built again is closed, with the change that it still bears', async () => {
  class Broken extends Replica {
    override rebuild(): never {
      throw new Error('null pointer passed to rust')
    }
  }
  const { updates } = await documentWith('<p>one</p>')
  const opened = () => new LoroDocument(new Broken(GATEWAY as PeerID, null, updates), GATEWAY as PeerID)
  const lost = opened()
  const change = replaced(lost, 0, 'lost')
  expect(() => change.discard()).toThrow('null pointer')
  expect(() => lost.blocks()).toThrow(expect.objectContaining({ code: 'DOCUMENT_CLOSED' }))
  const half = opened()
  const missing = { kind: 'delete', blockId: 'none' } as const
  expect(() => half.edit([{ kind: 'delete', blockId: 'b1' }, missing])).toThrow('null pointer')
  expect(() => half.frontier).toThrow(expect.objectContaining({ code: 'DOCUMENT_CLOSED' }))
})
