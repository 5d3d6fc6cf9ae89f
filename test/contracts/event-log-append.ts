import { describe, expect, test } from 'vitest'
import { canonicalHeader } from '../../domain/log/canonical.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { collect, NEW, Sealer, tipOf } from '../support/log/sealing.ts'
import { asSealed, code, type EventLogFactory, opened } from './event-log-factory.ts'

/** The promises of every EventLog about appends: conflicts, order, resends, the trap of ids, refusals. */
export function appendContract(factory: EventLogFactory): void {
  const stream = 'agent-a1'
  const open = () => opened(factory)

  describe(`${factory.name}: append`, () => {
    test('what was sealed comes back exactly, in order, and verifies', async () => {
      const { log, sealer } = await open()
      const digest = { fold: 3, value: 'c'.repeat(64) }
      const cipher = { alg: 'A256GCM', keyId: 'k-1', nonce: 'n' }
      const first = sealer.batch(stream, NEW, [
        { body: { text: 'ü€😀\u0000'.repeat(900) } },
        { body: null, header: { digest, toolCallId: 'a1.t1.c0', commandId: 'a1.t1.c0#1', trace: '00-ab-cd-01' } },
        { blob: true, header: { driver: { id: 'd1', epoch: 2 }, actor: { kind: 'user', id: 'ann', claimed: true } } },
      ])
      const second = sealer.batch(stream, tipOf(first), [
        {
          type: 'other',
          cipher,
          header: { version: 4, turn: 7, correlationId: 'c-1', causationId: 'agent-p@3', runId: 'r9' },
        },
      ])
      await log.append(stream, -1, first)
      const { position } = await log.append(stream, 2, second)
      const events = await collect(log.read(stream))
      expect(events.map(asSealed)).toEqual([...first, ...second].map(asSealed))
      expect(events.at(-1)!.position).toBe(position)
      const verifier = new StreamVerifier(stream)
      verifier.page(events)
      expect(verifier.result()).toMatchObject({ ok: true, events: 4, unfetched: [2] })
    })

    test('headers of every kind of stream come back exactly: wake times, readers, keys, actors, and no run where there is none', async () => {
      const { log, sealer } = await open()
      const document = 'document-d1'
      const own = { runId: undefined, agentId: undefined }
      const batch = sealer.batch(document, NEW, [
        { header: { ...own, minReader: 2, keyId: 'k-1', wakeAt: null, actor: { kind: 'gateway', id: 'g' } } },
        { header: { ...own, runId: 'r1', wakeAt: 0, toolCallId: 'd1.t1' } },
        { header: { ...own, wakeAt: 1_800_000_000_000, actor: { kind: 'backend', id: 'codex' } } },
        { header: own },
      ])
      await log.append(document, -1, batch)
      const events = await collect(log.read(document))
      expect(events.map(asSealed)).toEqual(batch.map(asSealed))
      expect(events.map(({ header }) => Object.keys(header).sort())).toEqual(
        batch.map(({ header }) => Object.keys(JSON.parse(canonicalHeader(header))).sort()),
      )
      const verifier = new StreamVerifier(document)
      verifier.page(events)
      expect(verifier.result()).toMatchObject({ ok: true, events: 4 })
      const [identity] = await collect(log.read('log-meta'))
      expect(identity!.header).toMatchObject({ minReader: 1 })
      expect(Object.keys(identity!.header)).not.toContain('runId')
    })

    test('refuses an agent without its run, and a reader or a key on a later event', async () => {
      const { log, sealer } = await open()
      for (const header of [{ runId: undefined }, { agentId: undefined }, { wakeAt: -1 }, { minReader: 0 }])
        await expect(log.append(stream, -1, sealer.batch(stream, NEW, [{ header }]))).rejects.toEqual(
          code('APPEND_INVALID'),
        )
      for (const header of [{ minReader: 1 }, { keyId: 'k' }])
        await expect(log.append(stream, -1, sealer.batch(stream, NEW, [{}, { header }]))).rejects.toEqual(
          code('APPEND_INVALID'),
        )
      expect(await log.head(stream)).toBeNull()
    })

    test('at a wrong revision is a conflict that names the head, and writes nothing', async () => {
      const { log, sealer } = await open()
      const batch = sealer.batch(stream, NEW, [{}, {}, {}])
      await log.append(stream, -1, batch)
      const other = new Sealer('other')
      const late = other.batch(stream, tipOf(batch.slice(0, 2)), [{}])
      const early = other.batch(stream, { revision: 5, hash: batch[2]!.hash }, [{}])
      const next = other.batch(stream, { revision: 3, hash: batch[2]!.hash }, [{}])
      const again = other.batch(stream, NEW, [{}])
      for (const [expected, wrong] of [
        [1, late],
        [3, next],
        [5, early],
        [-1, again],
      ] as const)
        await expect(log.append(stream, expected, wrong)).rejects.toMatchObject({
          code: 'CONFLICT',
          stream,
          expected,
          actual: 2,
        })
      await expect(
        log.append('agent-none', 3, other.batch('agent-none', { ...NEW, revision: 3 }, [{}])),
      ).rejects.toMatchObject({ code: 'CONFLICT', actual: -1 })
      expect((await collect(log.read(stream))).map(asSealed)).toEqual(batch.map(asSealed))
      expect(await log.head('agent-none')).toBeNull()
    })

    test('of two writers at one revision exactly one wins', async () => {
      const { log } = await open()
      const batches = ['a', 'b', 'c', 'd'].map((name) => new Sealer(name).batch(stream, NEW, [{ body: 'same' }]))
      const results = await Promise.allSettled(batches.map((batch) => log.append(stream, -1, batch)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toEqual(code('CONFLICT'))
      const winner = batches[results.findIndex(({ status }) => status === 'fulfilled')]!
      expect((await collect(log.read(stream))).map(({ id }) => id)).toEqual(winner.map(({ id }) => id))
    })

    test('calls of one tick for a stream are written in call order, and one that fails stops those that stand on it', async () => {
      const { log, sealer } = await open()
      const a = sealer.batch(stream, NEW, [{}])
      const b = sealer.batch(stream, tipOf(a), [{}, {}])
      const c = sealer.batch('agent-c', NEW, [{}])
      const wrong = sealer.batch(stream, { revision: 7, hash: a[0]!.hash }, [{}])
      const onWrong = sealer.batch(stream, tipOf(wrong), [{}])
      const calls = [a, b, wrong, onWrong, c]
      const results = await Promise.allSettled(
        calls.map((batch) => log.append(batch[0]!.header.stream, batch[0]!.header.revision - 1, batch)),
      )
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ])
      const all = await collect(log.readAll(null))
      const ids = (name: string) => all.filter(({ header }) => header.stream === name).map(({ id }) => id)
      expect(ids(stream)).toEqual([...a, ...b].map(({ id }) => id))
      expect(ids('agent-c')).toEqual([c[0]!.id])
    })

    test('sent again after it was written is a success that writes nothing, also when others came after', async () => {
      const { log, sealer } = await open()
      const a = sealer.batch(stream, NEW, [{}, {}])
      const b = sealer.batch(stream, tipOf(a), [{}])
      const first = await log.append(stream, -1, a)
      expect(await log.append(stream, -1, a)).toEqual(first)
      await log.append(stream, 1, b)
      expect(await log.append(stream, -1, a)).toEqual(first)
      await log.append(stream, -1, a.slice(0, 1))
      expect(await collect(log.read(stream))).toHaveLength(3)
      // More than what stands there, or in another order, was never sent before.
      const tail = new Sealer('other').batch(stream, tipOf(a), [{ ms: 50 }])
      await expect(log.append(stream, -1, [...a, ...tail])).rejects.toEqual(code('CONFLICT'))
      expect(await collect(log.read(stream))).toHaveLength(3)
    })

    test('the trap of ids: equal ids with other content', async () => {
      const { log } = await open()
      const mine = new Sealer('mine').batch(stream, NEW, [{ body: 'mine' }])
      const theirs = new Sealer('theirs').batch(stream, NEW, [{ body: 'theirs' }])
      await log.append(stream, -1, mine)
      const forged = theirs.map((event, index) => ({ ...event, id: mine[index]!.id, hash: mine[index]!.hash }))
      const sent = log.append(stream, -1, forged)
      if (factory.idempotence === 'ids') await sent
      else await expect(sent).rejects.toEqual(code('APPEND_INVALID'))
      expect((await collect(log.read(stream))).map(asSealed)).toEqual(mine.map(asSealed))
    })

    test('the trap stays shut: salts make ids of equal content differ, and the second writer is told', async () => {
      const { log } = await open()
      const [mine, theirs] = ['mine', 'theirs'].map((name) => {
        const sealer = new Sealer(name)
        return sealer.batch(stream, NEW, [{ body: 'same', header: { commandId: 'same' } }])
      })
      expect(theirs![0]!.id).not.toBe(mine![0]!.id)
      await log.append(stream, -1, mine!)
      await expect(log.append(stream, -1, theirs!)).rejects.toEqual(code('CONFLICT'))
    })

    test('refuses what cannot stand there', async () => {
      const { log, sealer } = await open()
      const batch = sealer.batch(stream, NEW, [{}])
      await expect(log.append(stream, -1, [])).rejects.toEqual(code('APPEND_INVALID'))
      await expect(log.append('agent-b', -1, batch)).rejects.toEqual(code('APPEND_INVALID'))
      const loose = sealer.batch(stream, { revision: -1, hash: 'f'.repeat(64) }, [{}])
      await expect(log.append(stream, -1, loose)).rejects.toEqual(code('APPEND_INVALID'))
      expect(await log.head(stream)).toBeNull()
      await log.append(stream, -1, batch)
    })
  })
}
