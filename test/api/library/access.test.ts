import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { freshFolders } from '../../support/folders.ts'

// DESIGN "Access": a program with a key has the rights of its principal, with every method.

let folders: ReturnType<typeof freshFolders>
let owner: KeepUp
let runId: string
const key: Record<string, string> = {}

const scripts = { done: { script: 1 as const, turns: [{ text: 'It is simple.', calls: [] }] } }

beforeEach(async () => {
  folders = freshFolders()
  owner = await openKeepUp({ data: folders.data, scripts })
  key.ann = (await owner.setUpAccess({ principal: 'ann', name: 'Ann' })).key
  for (const [principal, role] of [
    ['vera', 'viewer'],
    ['olga', 'operator'],
  ] as const) {
    await owner.addPrincipal({ principal, roles: [role] })
    key[principal] = (await owner.createKey({ principal })).key
  }
  runId = (await owner.start({ task: 'go', model: 'scripted:done' })).runId
  await owner.close()
})
afterEach(() => folders.remove())

async function as<T>(principal: string | null, use: (keepup: KeepUp) => Promise<T>): Promise<T> {
  const asKey = principal === null ? {} : { key: key[principal]! }
  const keepup = await openKeepUp({ data: folders.data, scripts, ...asKey })
  try {
    return await use(keepup)
  } finally {
    await keepup.close()
  }
}

const first = async <T>(all: AsyncIterable<T>): Promise<T | undefined> => {
  for await (const one of all) return one
  return undefined
}

describe('a program with the key of a viewer', () => {
  it('is refused by each method that is no operation of its own and shows texts or changes something', async () => {
    const methods: Record<string, (keepup: KeepUp) => Promise<unknown>> = {
      start: (k) => k.start({ task: 'go', model: 'scripted:done' }),
      drive: (k) => k.drive(runId),
      work: (k) => k.work({ signal: AbortSignal.abort() }),
      follow: (k) => first(k.follow(runId)),
      say: (k) => k.say(runId, { kind: 'input', text: 'hello' }),
      checkpoint: (k) => k.checkpoint(runId, 1),
      agent: (k) => k.agent(runId),
      requests: (k) => k.requests(runId, 1),
      reused: (k) => k.reused(runId),
      compare: (k) => k.compare(runId, runId),
      fork: (k) => k.fork(runId),
      runAgent: (k) => k.runAgent('keepup', { prompt: 'go' }),
      'externalRuns.run': (k) => k.externalRuns.run('keepup', { prompt: 'go' }, { agentId: 'a' }),
      'contextStore.set': (k) => k.contextStore('notes').set('a', 1),
      'contextStore.list': (k) => k.contextStore('notes').list(),
      'threads.get': (k) => k.threads().get('t', '', undefined),
      'threads.list': (k) => first(k.threads().list(undefined)),
      'threads.write': (k) =>
        k.threads().write('t', { namespace: '', checkpoint: 'c', task: 'k', path: '', writes: [] }),
      'threads.delete': (k) => k.threads().delete('t'),
      'messages.send': (k) => k.messages.send(runId, { payload: 'hello' }),
      'messages.subscribe': (k) => first(k.messages.subscribe(runId)),
      'documents.read': (k) => k.documents.read('d'),
      'documents.text': (k) => k.documents.text('d', 'markdown'),
      'documents.snapshot': (k) => k.documents.snapshot('d'),
      'documents.import': (k) => k.documents.import('d', new Uint8Array()),
      'documents.updates': (k) => first(k.documents.updates('d')),
      sql: (k) => k.sql('select 1'),
      pack: (k) => first(k.pack()),
    }
    await as('vera', async (keepup) => {
      expect((await keepup.run(runId))?.runId).toBe(runId)
      for (const [name, method] of Object.entries(methods)) {
        const code = await method(keepup).then(
          () => 'allowed',
          (error: { code?: string }) => error.code,
        )
        expect([name, code]).toEqual([name, 'FORBIDDEN'])
      }
    })
  })
})

describe('a program with a key', () => {
  it('deletes a thread only with the right to erase streams', async () => {
    await as('olga', async (keepup) => {
      const write = { channel: 'x', index: 0, value: { type: 'json', text: '1' } }
      await keepup.threads().write('t', { namespace: '', checkpoint: 'c', task: 'k', path: '', writes: [write] })
      await expect(keepup.threads().delete('t')).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(keepup.eraseStream({ stream: 'thread-t', reason: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    })
    // Who lifted a hold does not erase what it kept, and the refusal changes nothing.
    await as('ann', async (keepup) => {
      const { hold } = await keepup.setHold({ of: 'thread-t', reason: 'the matter' })
      await keepup.liftHold({ hold, reason: 'settled' })
      const { revision } = (await keepup.services.log.head('thread-t'))!
      await expect(keepup.threads().delete('t')).rejects.toMatchObject({ code: 'NOT_YOUR_OWN' })
      expect((await keepup.services.log.head('thread-t'))!.revision).toBe(revision)
    })
  })

  it('reads under the name of its principal: exports, packs, SQL, methods and operations are recorded', async () => {
    await as(null, async (k) => {
      await k.addPrincipal({ principal: 'otto', roles: ['auditor'] })
      key.otto = (await k.createKey({ principal: 'otto' })).key
    })
    await as('otto', async (k) => {
      await k.exportEvents({ to: join(folders.base, 'events'), format: 'ndjson' })
      await k.exportTables({ to: join(folders.base, 'tables'), format: 'csv' })
      await first(k.pack())
      await k.sql('select 1')
      await k.agent(runId)
      await k.askAuditQuestion({ name: 'approvals', run: runId })
      for (let n = 0; n < 2; n++) await k.getRun({ id: runId })
      await k.getMe()
    })
    const reads = await as('otto', async (k) => {
      const events = (await Array.fromAsync(k.services.log.read('access-uses', { types: ['read_audited'] }))).flat()
      return events.map(({ body }) => JSON.parse(new TextDecoder().decode(unsalted(body!))))
    })
    const one = { principal: 'otto', run: null, count: 1 }
    expect(reads.filter(({ principal }) => principal === 'otto')).toEqual([
      { ...one, operation: 'exportEvents' },
      { ...one, operation: 'exportTables' },
      { ...one, operation: 'writePack' },
      { ...one, operation: 'askSql' },
      { ...one, operation: 'getRunState', run: runId },
      { ...one, operation: 'askAuditQuestion', run: runId },
      { ...one, operation: 'getRun', run: runId, count: 2 },
    ])
  })
})

describe('the name of a person', () => {
  it('is the principal of the key in the facts of a store', async () => {
    const actor = await as('olga', async (keepup) => {
      await keepup.contextStore('notes').set('a', 1)
      return (await Array.fromAsync(keepup.services.log.read('context-notes'))).flat().at(-1)!.header.actor
    })
    expect(actor).toEqual({ kind: 'user', id: 'olga' })
  })

  it('is refused without a key, so that the owner of the folder cannot act for another', async () => {
    await as(null, async (keepup) => {
      const claim = keepup.createDocument({ title: 'Plan', format: 'empty', by: 'ann' })
      await expect(claim).rejects.toMatchObject({ code: 'BY_REFUSED' })
      await keepup.createDocument({ title: 'Plan', format: 'empty' })
    })
  })
})
