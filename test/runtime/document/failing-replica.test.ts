import { describe, expect, test } from 'vitest'
import type { Documents, OpenDocument } from '../../../domain/ports.ts'
import { REPLICA_EVERY } from '../../../domain/runtime/document/replica-cache.ts'
import { world } from '../../support/documents/gateway-world.ts'
import { Person } from '../../support/documents/person.ts'
import { BOB, DocumentGateway, KeptSnapshots, made, textsOf } from '../../support/documents/runtime.ts'

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
