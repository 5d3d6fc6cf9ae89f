import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { LiveHub } from '../../../api/process/live/hub.ts'
import { type Listening, listenSocket, listenTcp } from '../../../api/process/owner/listen.ts'
import { socketFetch } from '../../../api/process/owner/socket-fetch.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { appOver, bodyOf, cursorOf, eventsIn, openWorld, TOKEN } from '../support/http.ts'
import { giveSign } from '../support/script.ts'

const world = await openWorld({ heartbeatMs: 10 })
afterAll(() => world.close())
const { ask, started, driven, services } = world

const open: Listening[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((l) => l.close(0)))
})

interface Message {
  id?: string
  event?: string
  data?: { type: string; cursor: string; text?: string; driving?: boolean }
  comment?: string
}

/** Reads SSE messages until `until` says so, then leaves. */
async function read(response: Response, until: (m: Message, all: Message[]) => boolean): Promise<Message[]> {
  const all: Message[] = []
  const text = new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>
  let held = ''
  for await (const chunk of response.body!.pipeThrough(text)) {
    held += chunk
    for (let end = held.indexOf('\n\n'); end >= 0; end = held.indexOf('\n\n')) {
      const message: Message = {}
      for (const line of held.slice(0, end).split('\n')) {
        const [, field, value] = /^([a-z]*): (.*)$/.exec(line)!
        if (field === 'data') message.data = JSON.parse(value!)
        else if (field === 'id' || field === 'event') message[field] = value!
        else message.comment = value!
      }
      held = held.slice(end + 2)
      all.push(message)
      if (until(message, all)) return all
    }
  }
  return all
}

const cursors = (messages: Message[]) => messages.flatMap((m) => (m.data ? [m.data.cursor] : []))

describe('the event stream', () => {
  it('gives exactly the missing events over reconnects, while more arrive', async () => {
    const listening = await listenTcp((request) => world.http.fetch(request), '127.0.0.1', 0)
    open.push(listening)
    const { port } = listening.server.address() as AddressInfo
    const headers = { authorization: `Bearer ${TOKEN}` }
    await started('finish one')
    const seen: string[] = []
    let last: string | undefined
    for (let round = 0; round < 6; round++) {
      const resumed = last === undefined ? headers : { ...headers, 'last-event-id': last }
      const response = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers: resumed })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const got = read(response, (_, all) => cursors(all).length === 3)
      await started(`finish ${round}`, { drive: round % 2 === 0 })
      const messages = await got
      for (const m of messages) if (m.data) expect([m.id, m.event]).toEqual([m.data.cursor, m.data.type])
      seen.push(...cursors(messages))
      last = seen.at(-1)
    }
    expect(seen).toEqual((await eventsIn(services)).slice(0, 18).map((e) => cursorOf(services, e)))
  })

  it('refuses a cursor that is none, or of another log, before it begins', async () => {
    await started('x', { drive: false })
    const status = async (id: string) => {
      const response = await ask('GET', '/v1/events', { headers: { 'last-event-id': id } })
      return [response.status, (await bodyOf(response)).code]
    }
    expect(await status('nonsense')).toEqual([400, 'CURSOR_INVALID'])
    expect(await status(`otherlog~1~${'0'.repeat(64)}`)).toEqual([409, 'CURSOR_MISMATCH'])
    expect(await status(`${services.log.logId}~1~${'0'.repeat(64)}`)).toEqual([409, 'CURSOR_MISMATCH'])
  })

  it('filters, ends at the head where asked to, and speaks NDJSON', async () => {
    await driven('finish a')
    const b = await driven('finish b')
    const accept = { accept: 'application/x-ndjson' }
    const response = await ask('GET', `/v1/events?run=${b}&type=completion,turn_start&follow=false`, {
      headers: accept,
    })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((l) => JSON.parse(l) as { type: string; runId: string })
    expect(lines.map((l) => [l.runId, l.type])).toEqual([
      [b, 'turn_start'],
      [b, 'completion'],
    ])
  })

  it('beats while nothing happens, and moves a filtering consumer on', async () => {
    await started('x', { drive: false })
    const response = await ask('GET', '/v1/events?type=late_outcome')
    const end = cursorOf(services, (await eventsIn(services)).at(-1)!)
    const messages = await read(response, (m) => m.id === end)
    expect(messages.at(-1)).toEqual({ id: end })
  })

  it('does not read ahead of a consumer that does not read', async () => {
    const id = await started('talk', { drive: false })
    const say = { kind: 'input', text: 'x'.repeat(60_000) } as const
    const said = Array.from({ length: 100 }, () => services.runtime.execute(id, say, { by: { kind: 'user', id: 'a' } }))
    await Promise.all(said)
    let taken = 0
    const { log: real } = services
    const log: EventLog = Object.assign(Object.create(real), {
      cursor: (event: never) => real.cursor(event),
      read: (...args: Parameters<EventLog['read']>) => real.read(...args),
      headCursor: () => real.headCursor(),
      async *readAll(...args: Parameters<EventLog['readAll']>) {
        for await (const page of real.readAll(...args)) {
          for (const event of page) {
            taken++
            yield [event]
          }
        }
      },
    })
    const path = join(world.root, 's.sock')
    // A socket of this host, whose buffers are small.
    const { http } = appOver({ ...services, log }, world.model)
    const listening = await listenSocket((request) => http.fetch(request), path)
    open.push(listening)
    const socket = connect(path)
    socket.pause()
    await once(socket, 'connect')
    const asked = `GET /v1/events?run=${id} HTTP/1.1`
    socket.write(`${asked}\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
    // The reading stands still when a whole health question brings no more events.
    let before = -1
    while (taken === 0 || before !== taken) {
      before = taken
      for (let i = 0; i < 20; i++) await (await socketFetch(path, new Request('http://localhost/v1/health'))).text()
    }
    // 6 MB are there to read: the kernel's buffers took their share, memory next to nothing.
    const others = (await eventsIn(services)).length - 102
    expect(taken - others).toBeLessThan(40)
    socket.destroy()
  })
})

describe('a client that leaves', () => {
  /** The services with a log whose readings are counted while they last. */
  function counted() {
    const { log: real } = services
    const open = { begun: 0, ended: 0 }
    const watched = async function* <T>(pages: AsyncIterable<T>) {
      open.begun++
      try {
        yield* pages
      } finally {
        open.ended++
      }
    }
    const log: EventLog = Object.assign(Object.create(real), {
      cursor: (event: never) => real.cursor(event),
      head: (stream: string) => real.head(stream),
      read: (...args: Parameters<EventLog['read']>) => watched(real.read(...args)),
      readAll: (...args: Parameters<EventLog['readAll']>) => watched(real.readAll(...args)),
      subscribe: (...args: Parameters<EventLog['subscribe']>) => watched(real.subscribe(...args)),
    })
    return { open, ...appOver({ ...services, log }, world.model) }
  }

  it.each([
    ['in the middle of the past', () => '/v1/events?follow=false'],
    ['while it follows', () => '/v1/events'],
    ['an export', (id: string) => `/v1/runs/${id}/export`],
  ])('%s releases what it read from', async (_, path) => {
    const id = await driven('finish it')
    const { ask, open } = counted()
    const reader = (await ask('GET', path(id), { headers: { accept: 'application/x-ndjson' } })).body!.getReader()
    await reader.read()
    await reader.read()
    await reader.cancel()
    await expect.poll(() => [open.begun > 0, open.begun - open.ended]).toEqual([true, 0])
  })
})

describe('the live stream', () => {
  it('says whether a driver is at work and passes text on', { tags: ['git'] }, async () => {
    const workspace = world.workspace()
    const id = await started('wait', { drive: false, workspace })
    const response = await ask('GET', `/v1/runs/${id}/live`)
    const news = read(response, (m, all) => all.length > 1 && m.event === 'drive' && m.data?.driving === false)
    const more = read(await ask('GET', `/v1/runs/${id}/live`), (m) => m.event === 'text')
    await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
    expect((await more).at(-1)).toMatchObject({ event: 'text', data: { text: expect.stringContaining('thinking') } })
    giveSign(workspace)
    await services.drivers.ended(id)
    const kinds = (await news).flatMap((m) => (m.event === undefined ? [] : [[m.event, m.data?.driving]]))
    expect(kinds.slice(0, 3)).toEqual([
      ['drive', false],
      ['drive', true],
      ['text', undefined],
    ])
    expect(kinds.at(-1)).toEqual(['drive', false])
  })

  it('drops text for a slow listener, never the end of the drive', async () => {
    const live = new LiveHub()
    const over = new AbortController()
    const news = live.listen('r', over.signal)
    for (let i = 0; i < 5000; i++) live.publish({ kind: 'text', runId: 'r', agentId: 'r', turn: 1, text: 'x' })
    live.publish({ kind: 'drive', runId: 'r', driving: false, end: { end: 'done' } })
    over.abort()
    const kinds = new Map<string, number>()
    for await (const item of news)
      kinds.set(item.kind, (kinds.get(item.kind) ?? 0) + (item.kind === 'dropped' ? item.pieces : 1))
    expect(Object.fromEntries(kinds)).toEqual({ text: 2000, drive: 1, dropped: 3000 })
  })

  it('gives a late listener the end of the output of the present turn, while the run is driven', async () => {
    const live = new LiveHub()
    const output = (turn: number, toolCallId: string, text: string) =>
      live.publish({ kind: 'output', runId: 'r', agentId: 'r', turn, toolCallId, text })
    const heard = async () => {
      const over = new AbortController()
      const news = live.listen('r', over.signal)
      over.abort()
      return (await Array.fromAsync(news)).map((item) =>
        item.kind === 'output' ? [item.toolCallId, item.text, item.soFar] : [],
      )
    }
    output(1, 'a', 'before the drive')
    live.publish({ kind: 'drive', runId: 'r', driving: true, end: null })
    output(1, 'a', 'of the turn before')
    output(2, 'b', 'one ')
    output(2, 'b', 'two')
    output(2, 'c', 'x'.repeat(30_000))
    expect(await heard()).toEqual([
      ['b', 'one two', true],
      ['c', 'x'.repeat(20_000), true],
    ])
    // An agent that has ended has no running call, and leaves nothing behind.
    const end = { type: 'tool_call_end', runId: 'r', agentId: 'r' } as const
    live.heard({ ...end, toolCallId: 'b' })
    expect(await heard()).toEqual([['c', 'x'.repeat(20_000), true]])
    live.heard({ ...end, toolCallId: 'c' })
    expect(await heard()).toEqual([])
    output(2, 'e', 'of another call')
    expect(await heard()).toEqual([['e', 'of another call', true]])
    live.publish({ kind: 'drive', runId: 'r', driving: false, end: { end: 'done' } })
    expect(await heard()).toEqual([])
    output(3, 'd', 'of a tool that did not stop')
    expect(await heard()).toEqual([])
  })
})
