import { describe, expect, onTestFinished, test } from 'vitest'
import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import type { EventLog } from '../../domain/ports.ts'
import { collect, NEW, Sealer, tipOf } from '../support/sealing.ts'

/** How an adapter is brought into the kit. */
export interface EventLogFactory {
  readonly name: string
  /** A new, empty log (or a namespace of its own on a shared server). The kit closes it. */
  open(): Promise<EventLog>
  /**
   * `ids`: an append at an old revision is compared by ids alone, so that forged ones pass. `hashes`: they are refused.
   */
  readonly idempotence: 'ids' | 'hashes'
  /** Bodies can be emptied in place. */
  readonly erases: boolean
}

const code = (name: string) => expect.objectContaining({ code: name })

/** An event as it was sealed, without what the log adds. */
export const asSealed = ({ header, body, hash, id }: SealedEvent): SealedEvent => ({
  header,
  body: body && new Uint8Array(body),
  hash,
  id,
})

async function take(pages: AsyncIterable<readonly RecordedEvent[]>, count: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for await (const page of pages) {
    events.push(...page)
    if (events.length >= count) break
  }
  return events
}

/** What every EventLog promises. Run it once for each adapter. */
export function eventLogContract(factory: EventLogFactory): void {
  const open = async () => {
    const log = await factory.open()
    onTestFinished(() => log.close())
    return { log, sealer: new Sealer() }
  }
  const stream = 'agent-a1'

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

    test('calls of one tick are written in call order, and one that fails stops those that stand on it', async () => {
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
      expect(all.slice(-4).map(({ id }) => id)).toEqual([...a, ...b, ...c].map(({ id }) => id))
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

  describe(`${factory.name}: read`, () => {
    const filled = async () => {
      const { log, sealer } = await open()
      const a = sealer.batch(
        stream,
        NEW,
        Array.from({ length: 700 }, (_, n) => ({ body: { n } })),
      )
      const b = sealer.batch('agent-b', NEW, [{}, {}])
      await log.append(stream, -1, a)
      await log.append('agent-b', -1, b)
      return { log, sealer, a, b }
    }

    test('a stream from a revision, with a limit, without bodies; a missing one yields nothing', async () => {
      const { log, a } = await filled()
      const part = await collect(log.read(stream, { from: 3, limit: 600 }))
      expect(part.map(({ id }) => id)).toEqual(a.slice(3, 603).map(({ id }) => id))
      const bare = await collect(log.read(stream, { from: 698, bodies: false }))
      expect(bare).toMatchObject([
        { header: a[698]!.header, body: null },
        { header: a[699]!.header, body: null },
      ])
      expect(await collect(log.read(stream, { from: 700 }))).toEqual([])
      expect(await collect(log.read(stream, { limit: 0 }))).toEqual([])
      expect(await collect(log.read('agent-none'))).toEqual([])
    })

    test('the head of a stream', async () => {
      const { log, a } = await filled()
      const last = a.at(-1)!
      expect(await log.head(stream)).toEqual({
        revision: 699,
        hash: last.hash,
        timestamp: Date.parse(last.header.timestamp),
      })
      expect(await log.head('agent-none')).toBeNull()
    })

    test('the log goes up to the head at the time of the call, and on from any of its cursors', async () => {
      const { log, sealer, a, b } = await filled()
      const pages = log.readAll(null)
      await log.append('agent-c', -1, sealer.batch('agent-c', NEW, [{}]))
      const events = await collect(pages)
      const ours = events.filter(({ header }) => header.stream !== 'log-meta')
      expect(ours.map(({ id }) => id)).toEqual([...a, ...b].map(({ id }) => id))
      for (let at = 1; at < events.length; at++) expect(events[at]!.position).toBeGreaterThan(events[at - 1]!.position)
      const after = await collect(log.readAll(log.cursor(ours[400]!), { limit: 3, bodies: false }))
      expect(after.map(({ id, body }) => [id, body])).toEqual(a.slice(401, 404).map(({ id }) => [id, null]))
      expect(await collect(log.readAll(await log.headCursor()))).toEqual([])
    })

    test('a cursor of another log, or of another state of this one, does not match', async () => {
      const { log } = await filled()
      const head = await log.headCursor()
      const wrong = [
        { ...head, logId: '0000000000000000' },
        { ...head, hash: '0'.repeat(64) },
        { ...head, position: head.position + 1 },
      ]
      for (const cursor of wrong) {
        await expect(collect(log.readAll(cursor))).rejects.toEqual(code('CURSOR_MISMATCH'))
        await expect(take(log.subscribe(cursor, AbortSignal.abort()), 1)).rejects.toEqual(code('CURSOR_MISMATCH'))
      }
    })

    test('streams by prefix, in order of birth', async () => {
      const { log, sealer } = await filled()
      await log.append('agent-a0', -1, sealer.batch('agent-a0', NEW, [{}]))
      await log.append('document-d', -1, sealer.batch('document-d', NEW, [{}]))
      const names = async (prefix: string) => (await Array.fromAsync(log.streams(prefix))).flat()
      expect(await names('agent-')).toEqual([stream, 'agent-b', 'agent-a0'])
      expect(await names('agent-a')).toEqual([stream, 'agent-a0'])
      expect(await names('agent_')).toEqual([])
      expect(await names('%')).toEqual([])
    })
  })

  describe(`${factory.name}: subscribe`, () => {
    test('gives what is there, then what comes, each once and in order, until the signal', async () => {
      const { log, sealer } = await open()
      let tip = NEW
      const sent: string[] = []
      const write = async (count: number) => {
        const batch = sealer.batch(
          stream,
          tip,
          Array.from({ length: count }, () => ({})),
        )
        await log.append(stream, tip.revision, batch)
        tip = tipOf(batch)
        sent.push(...batch.map(({ id }) => id))
      }
      await write(3)
      const stop = new AbortController()
      const after = await log.headCursor()
      await write(600)
      const seen: RecordedEvent[] = []
      const done = (async () => {
        for await (const page of log.subscribe(after, stop.signal)) {
          seen.push(...page)
          if (seen.length === 600) await write(1)
          if (seen.length === 601) write(5)
          if (seen.length >= 606) stop.abort()
        }
      })()
      await done
      expect(seen.map(({ id }) => id)).toEqual(sent.slice(3))
      expect(seen.every(({ body }) => body !== null)).toBe(true)
    })

    test('ends at once when nothing comes and the signal aborts', async () => {
      const { log } = await open()
      const stop = new AbortController()
      const next = log
        .subscribe(await log.headCursor(), stop.signal)
        [Symbol.asyncIterator]()
        .next()
      stop.abort()
      expect((await next).done).toBe(true)
    })
  })

  describe(`${factory.name}: floor and close`, () => {
    test('what is sealed at the floor is accepted', async () => {
      const { log, sealer } = await open()
      const far = sealer.batch(stream, NEW, [{ ms: 5000 }])
      const first = log.append(stream, -1, far)
      const floor = log.floor()
      sealer.ms = 0
      const other = sealer.batch('agent-b', NEW, [
        { header: { timestamp: new Date(Math.max(floor, 1)).toISOString() } },
      ])
      await Promise.all([first, log.append('agent-b', -1, other)])
    })

    test('a closed log says so', async () => {
      const { log, sealer } = await open()
      const pages = log.subscribe(await log.headCursor(), new AbortController().signal)[Symbol.asyncIterator]()
      const waiting = pages.next()
      const written = log.append(stream, -1, sealer.batch(stream, NEW, [{}]))
      await written
      await waiting
      const ended = expect(pages.next()).rejects.toEqual(code('LOG_CLOSED'))
      await log.close()
      await ended
      await expect(log.append('agent-b', -1, sealer.batch('agent-b', NEW, [{}]))).rejects.toEqual(code('LOG_CLOSED'))
      await expect(collect(log.read(stream))).rejects.toEqual(code('LOG_CLOSED'))
      await expect(log.head(stream)).rejects.toEqual(code('LOG_CLOSED'))
    })
  })

  describe.runIf(factory.erases)(`${factory.name}: erase`, () => {
    test('empties the body that a fact of the same append names, and verification says "erased"', async () => {
      const { log, sealer } = await open()
      const batch = sealer.batch(stream, NEW, [{}, { body: { secret: 'x' } }, {}])
      await log.append(stream, -1, batch)
      const body = { revision: 1, bodyHash: batch[1]!.header.body.hash, reason: 'asked for' }
      const fact = sealer.batch(stream, tipOf(batch), [{ type: 'erased', body }])
      const target = { stream, revision: 1 }
      await expect(log.append(stream, 2, sealer.batch(stream, tipOf(batch), [{}]), [target])).rejects.toEqual(
        code('APPEND_INVALID'),
      )
      await expect(log.append(stream, 2, fact, [{ stream, revision: 9 }])).rejects.toEqual(code('APPEND_INVALID'))
      await log.append(stream, 2, fact, [target])
      await log.append(stream, 2, fact, [target])
      const events = await collect(log.read(stream))
      expect(events.map(({ body, erased }) => [body === null, erased === true])).toEqual([
        [false, false],
        [true, true],
        [false, false],
        [false, false],
      ])
      const verifier = new StreamVerifier(stream)
      verifier.page(events)
      expect(verifier.result()).toMatchObject({ ok: true, erased: [{ revision: 1, reason: 'asked for' }] })
    })
  })
}
