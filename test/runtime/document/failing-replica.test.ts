import { describe, expect, onTestFinished, test } from 'vitest'
import { REPLICA_EVERY } from '../../../domain/document/runtime/replica-cache.ts'
import type { Documents, OpenDocument } from '../../../domain/ports/index.ts'
import { replaced } from '../../../domain/stream/runtime/replace-member.ts'
import { world } from '../../support/documents/gateway-world.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  BOB,
  DocumentGateway,
  KeptSnapshots,
  made,
  replaceFirst,
  requestFor,
  textsOf,
} from '../../support/documents/runtime.ts'

/** The replicas of other documents, with some methods in the place of theirs. */
const changed = (documents: Documents, methods: (replica: OpenDocument) => Partial<OpenDocument>): Documents => ({
  operations: documents.operations,
  async open(stored) {
    const replica = await documents.open(stored)
    const own = methods(replica)
    return new Proxy(replica, {
      get(target, name) {
        const value = Reflect.get(own, name) ?? Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  },
})

const failing = (): never => {
  throw new Error('null pointer passed to rust')
}

describe('a replica that fails', () => {
  test('at an import or at a look is opened anew, and nothing of it is left', async () => {
    const { ports } = await world()
    let fails: 'import' | 'snapshot' | 'blocks' | null = null
    const documents = changed(ports.documents, (replica) => {
      let isDead = false
      const orDie = <T>(name: typeof fails, work: () => T): T => {
        isDead ||= fails === name
        return isDead ? failing() : work()
      }
      return {
        import: (update) => orDie('import', () => replica.import(update)),
        snapshot: () => orDie('snapshot', () => replica.snapshot()),
        blocks: () => orDie('blocks', () => replica.blocks()),
      }
    })
    const gateway = new DocumentGateway({ ...ports, documents })
    const id = await made(gateway, '<p>Hello</p>')
    const person = new Person('77', (await gateway.snapshot(id)).bytes)
    const update = person.change(() => person.text(0).insert(5, '!'))
    fails = 'import'
    await expect(gateway.import(id, update, BOB)).rejects.toThrow('null pointer')
    fails = 'snapshot'
    expect(await textsOf(gateway, id)).toEqual(['Hello'])
    await expect(gateway.snapshot(id)).rejects.toThrow('null pointer')
    fails = null
    await gateway.import(id, update, BOB)
    expect(await textsOf(gateway, id)).toEqual(['Hello!'])
  })

  test.each(['discard', 'edit'] as const)(
    'at the %s of an edit is opened anew: what was not recorded is nowhere',
    async (where) => {
      const { ports, another } = await world()
      let fails = false
      const documents = changed(ports.documents, (replica) => ({
        *editing(edits) {
          const change = yield* replica.editing(edits)
          if (fails && where === 'edit') failing()
          return { ...change, discard: () => (fails ? failing() : change.discard()) }
        },
      }))
      const other = another()
      const id = await made(other, '<p>Hello</p>')
      const log = replaced(ports.log, 'append', async (...given) => {
        if (fails) await other.envelope(id, await requestFor(other, id, 'faster', replaceFirst('Faster')), BOB)
        return ports.log.append(...given)
      })
      const gateway = new DocumentGateway({ ...ports, documents, log })
      onTestFinished(() => gateway.close())
      const request = await requestFor(gateway, id, 'r1', replaceFirst('Lost'))
      fails = true
      await expect(gateway.envelope(id, request, ANN)).rejects.toThrow('null pointer')
      fails = false
      expect(await textsOf(gateway, id)).toEqual(await textsOf(other, id))
      const again = await requestFor(gateway, id, 'r2', replaceFirst('Again'))
      expect(await gateway.envelope(id, again, ANN)).toMatchObject({ status: 200 })
      expect(await textsOf(other, id)).toEqual(['Again'])
    },
  )

  test('at a snapshot for later openings loses no answer: the update is recorded, and the failure is told', async () => {
    const { ports } = await world()
    const told: string[] = []
    const documents = changed(ports.documents, () => {
      let n = 0
      return {
        get frontier() {
          return n === 0 ? '' : `77:${n - 1}`
        },
        import: () => {
          n += 1
          const change = { update: Uint8Array.of(1), frontier: `77:${n - 1}`, keep() {}, discard() {} }
          return { kind: 'imported', words: [], change }
        },
        snapshot: failing,
      }
    })
    const warn = (_: string, message: string) => void told.push(message)
    const gateway = new DocumentGateway({ ...ports, documents, warn, snapshots: new KeptSnapshots() })
    const { documentId } = await gateway.create({ title: 'Plan', source: 'empty', blocks: [] }, BOB)
    for (let n = 1; n <= REPLICA_EVERY; n++)
      expect(await gateway.import(documentId, Uint8Array.of(1), BOB)).toMatchObject({ revision: n, recorded: true })
    expect(told).toEqual([expect.stringContaining('null pointer')])
  })
})
