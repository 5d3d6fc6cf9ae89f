import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { dueBefore } from '../../../projections/engine/queries/due.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { folded, projected, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'
import { spec } from '../../support/projections/spec.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

const code = (expected: string) => expect.objectContaining({ name: 'ProjectionError', code: expected })
const clock = () => {
  let at = Date.UTC(2026, 0, 1)
  return () => ++at
}

export function projectorContract(kit: TablesKit): void {
  const open = async (log: MemoryLog, reader?: number) => {
    const tables = await kit.fresh()
    return { tables, dump: tables.dump, ...(await projected(log, tables, reader)) }
  }

  describe('a gap in a stream', () => {
    it('is none where a body was erased', async () => {
      const log = new MemoryLog()
      const actor = new Actor(log, clock(), 'a', 'a')
      actor.start()
      actor.user('user_input', { text: 'secret' })
      actor.finish('completion')
      actor.erase([1])
      const { dump } = await open(log)
      expect((await dump()).inputs).toMatchObject([{ preview: '[erased]', erased: 1 }])
      expect((await dump()).erasures).toMatchObject([{ revision: 1, seen: 1, by: 'user:ann', reason: 'asked to' }])
    })
  })

  describe('a poison event', () => {
    const poison = () => {
      const log = new MemoryLog()
      const now = clock()
      const [bad, good] = [new Actor(log, now, 'bad', 'bad'), new Actor(log, now, 'good', 'good')]
      bad.start()
      good.start()
      return { log, bad, good }
    }

    it.each([
      ['an unknown type', (a: Actor) => a.write('dreamt', {}), 'UNKNOWN_TYPE'],
      ['a newer version', (a: Actor) => a.write('user_input', { text: 'x' }, { version: 2 }), 'NEWER_VERSION'],
      ['another shape', (a: Actor) => a.write('user_input', { txt: 'x' }), 'SHAPE'],
      ['a call event without its call', (a: Actor) => a.write('tool_call_intent', { attempt: 1 }), 'SHAPE'],
      [
        'a negative minReader',
        (a: Actor) => a.write('driver_claimed', { driverId: 'd', epoch: 1, minReader: -1, keepup: 'b' }),
        'SHAPE',
      ],
    ])('%s parks its stream and no other', async (_, write, expected) => {
      const { log, bad, good } = poison()
      const event = write(bad)
      bad.user('user_input', { text: 'not read' })
      good.user('user_input', { text: 'read' })
      const { tables, dump, projector } = await open(log)
      const found = await dump()
      const reference = {
        stream: 'agent-bad',
        revision: 1,
        position: event.position,
        event_id: event.id,
      }
      expect(found.parked).toMatchObject([{ ...reference, code: expected }])
      expect(found.agents).toMatchObject([
        { id: 'bad', incomplete_from: 1, revision: 0 },
        { id: 'good', incomplete_from: null, revision: 1 },
      ])
      expect(found.inputs).toMatchObject([{ agent_id: 'good' }])
      expect(found.streams).toContainEqual(expect.objectContaining({ stream: 'agent-bad', revision: 2 }))
      expect(await dueBefore(tables.db, null)).toContainEqual(
        expect.objectContaining({ agentId: 'bad', reason: 'parked' }),
      )
      expect(await projector.release('agent-bad')).toBe(false)
      expect(await dump()).toEqual(found)
    })

    it('is read again on release, after which the tables are as if it had never been', async () => {
      const { log, bad } = poison()
      bad.write('user_input', { text: 'long' }, { blob: true })
      bad.user('user_input', { text: 'after' })
      const held = new Map(log.blobs.held)
      log.blobs.held.clear()
      const { dump, projector } = await open(log)
      expect((await dump()).parked).toMatchObject([{ code: 'BLOB_MISSING' }])
      for (const [key, bytes] of held) log.blobs.held.set(key, bytes)
      expect(await projector.release('agent-bad')).toBe(true)
      expect(await dump()).toEqual(await folded(log, kit))
      await expect(projector.release('agent-bad')).rejects.toEqual(code('NOT_PARKED'))
    })

    it('is none whose body was erased after it was read, though its blob is gone', async () => {
      const { log, bad } = poison()
      bad.write('user_input', { text: 'long' }, { blob: true })
      bad.finish('completion')
      const { get } = log.blobs
      log.blobs.get = async (...asked) => {
        log.blobs.get = get
        bad.erase([1])
        log.blobs.held.clear()
        return get.apply(log.blobs, asked)
      }
      const { dump, projector } = await open(log)
      expect(log.blobs.get).toBe(get)
      expect((await dump()).parked).toEqual([])
      await projector.catchUp()
      expect((await dump()).inputs).toMatchObject([{ agent_id: 'bad', erased: 1 }])
      expect(await dump()).toEqual(await folded(log, kit))
    })

    it.each([true, false])('refuses a body that is not what was sealed (in the blob store: %s)', async (blob) => {
      const { log, bad } = poison()
      const event = bad.write('user_input', { text: 'long' }, { blob })
      const forged = new TextEncoder().encode('{"text":"forged"}')
      for (const key of log.blobs.held.keys()) log.blobs.held.set(key, forged)
      if (!blob) log.events[log.events.indexOf(event)] = { ...event, body: forged }
      const { dump } = await open(log)
      expect((await dump()).parked).toMatchObject([{ code: 'BODY_MISMATCH' }])
      expect((await dump()).inputs).toEqual([])
    })

    it('gives the same tables under any batching (law)', async () => {
      await fc.assert(
        fc.asyncProperty(tape, fc.nat(200), fc.integer({ min: 1, max: 9 }), async (numbers, at, size) => {
          const { log } = tell(numbers)
          const event = log.events[1 + (at % Math.max(1, log.events.length - 1))]
          if (event) log.events[log.events.indexOf(event)] = { ...event, header: { ...event.header, type: 'dreamt' } }
          const whole = await folded(log, kit)
          log.pages = () => size
          expect(await folded(log, kit)).toEqual(whole)
          expect(whole.parked!.length).toBe(event ? 1 : 0)
        }),
        runs(kit.cases(10)),
      )
    })
  })

  describe('a second writer', () => {
    it('stops where the first has moved the position, and changes nothing', async () => {
      const log = new MemoryLog()
      const actor = new Actor(log, clock(), 'a', 'a')
      actor.start()
      const { tables, dump, projector } = await open(log)
      const store = await tables.open()
      onTestFinished(() => store.close())
      const second = new Projector({ log, blobs: log.blobs, store })
      await second.catchUp()
      actor.user('user_input', { text: 'x' })
      await projector.catchUp()
      const after = await dump()
      log.visible = 3
      actor.user('user_input', { text: 'y' })
      await expect(second.catchUp()).rejects.toEqual(code('POSITION_TAKEN'))
      expect(await dump()).toEqual(after)
    })

    it('that follows the log beside the first: one goes on, the other stops, and the tables are as one alone makes them', async () => {
      const log = new MemoryLog()
      const actor = new Actor(log, clock(), 'a', 'a')
      actor.start()
      const tables = await kit.fresh()
      const end = new AbortController()
      const running = [await projected(log, tables), await projected(log, tables)].map(({ projector }) => ({
        projector,
        done: projector.run(end.signal).then(
          () => 'went on',
          (error: unknown) => error,
        ),
      }))
      for (let i = 0; i < 30; i++) {
        actor.user('user_input', { text: `${i}` })
        const head = await log.headCursor()
        await Promise.any(running.map(({ projector }) => projector.caughtUpTo(head)))
      }
      // Who comes too late may find it out later than the other one has done it all.
      await Promise.race(running.map(({ done }) => done))
      end.abort()
      const ends = await Promise.all(running.map(({ done }) => done))
      expect(ends).toContain('went on')
      expect(ends).toContainEqual(code('POSITION_TAKEN'))
      expect(await tables.dump()).toEqual(await folded(log, kit))
    })

    it('stops also where both begin', async () => {
      const log = new MemoryLog()
      const tables = await kit.fresh()
      const [one, two] = [await tables.open(), await tables.open()]
      onTestFinished(async () => {
        await one.close()
        await two.close()
      })
      const second = new Projector({ log, blobs: log.blobs, store: two })
      await second.catchUp()
      new Actor(log, clock(), 'a', 'a').start()
      await new Projector({ log, blobs: log.blobs, store: one }).catchUp()
      await expect(second.catchUp()).rejects.toEqual(code('POSITION_TAKEN'))
    })
  })

  describe('an agent driven by a newer program', () => {
    it('makes the projector wait before it, not park; a newer one goes on', async () => {
      const log = new MemoryLog()
      const actor = new Actor(log, clock(), 'a', 'a')
      actor.start()
      actor.write(
        'driver_claimed',
        { driverId: 'd', epoch: 1, minReader: 2, keepup: 'b', newMember: true },
        { version: 2 },
      )
      const { tables, dump, projector } = await open(log)
      expect(projector.status()).toMatchObject({ state: 'waiting', progress: { events: 1 } })
      expect((await dump()).parked).toEqual([])
      await expect(projector.caughtUpTo(await log.headCursor())).rejects.toEqual(code('NEWER_WRITER'))
      const newer = await tables.open()
      onTestFinished(() => newer.close())
      const after = await new Projector({ log, blobs: log.blobs, store: newer, reader: 2 }).catchUp()
      expect(after.events).toBe(2)
    })
  })

  describe('reading your own writes', () => {
    it('resolves once the tables show the event, while the projector follows the log', async () => {
      const log = new MemoryLog()
      const actor = new Actor(log, clock(), 'a', 'a')
      const { dump, projector } = await open(log)
      const end = new AbortController()
      const running = projector.run(end.signal)
      for (let i = 0; i < 20; i++) {
        if (i === 0) actor.start()
        else actor.user('user_input', { text: `${i}` })
        await projector.caughtUpTo(await log.headCursor())
        expect((await dump()).agents).toMatchObject([{ revision: i }])
      }
      actor.user('user_input', { text: 'last' })
      const never = projector.caughtUpTo({ ...(await log.headCursor()), position: 1e9 })
      end.abort()
      await running
      await expect(never).rejects.toEqual(code('STOPPED'))
      expect(projector.status().state).toBe('idle')
    })

    it('gives up when asked to, and refuses a cursor of another log', async () => {
      const log = new MemoryLog()
      new Actor(log, clock(), 'a', 'a').start()
      const { projector } = await open(log)
      const head = await log.headCursor()
      const wait = projector.caughtUpTo({ ...head, position: 1e9 }, AbortSignal.abort('enough'))
      await expect(wait).rejects.toEqual(code('ABORTED'))
      await expect(projector.caughtUpTo({ ...head, logId: 'other' })).rejects.toEqual(code('LOG_MISMATCH'))
    })
  })

  describe('tables of another log', () => {
    it('are refused by name, also where only the hash differs', async () => {
      const log = new MemoryLog()
      const now = clock()
      new Actor(log, now, 'a', 'a').start()
      const { tables } = await open(log)
      for (const [id, refusal] of [
        ['log0', 'LOG_OLDER'],
        ['log1', 'LOG_MISMATCH'],
      ] as const) {
        const other = new MemoryLog(id)
        other.add({ stream: 'agent-a', type: 'agent_started', body: { spec: spec(), depth: 0 }, runId: 'a', at: now() })
        const store = await tables.open()
        const refused = new Projector({ log: other, blobs: other.blobs, store })
        await expect(refused.catchUp()).rejects.toEqual(code(refusal))
        await store.close()
      }
    })
  })
}
