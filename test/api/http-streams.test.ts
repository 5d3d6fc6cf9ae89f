import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Listening, listenTcp } from '../../api/owner/listen.ts'
import { FakeLog } from '../support/fakes/log.ts'
import { bodyOf, TOKEN, testApp } from './http-support.ts'

const open: Listening[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((l) => l.close(0)))
})

/** A real server on loopback. */
async function served(options: Parameters<typeof testApp>[0] = {}, app: Parameters<typeof testApp>[1] = {}) {
  const made = testApp(options, app)
  const listening = await listenTcp((request) => made.http.fetch(request), '127.0.0.1', 0)
  open.push(listening)
  const { port } = listening.server.address() as AddressInfo
  return { ...made, port, listening, url: `http://127.0.0.1:${port}` }
}

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
    const { url, started, services } = await served()
    const headers = { authorization: `Bearer ${TOKEN}` }
    await started('finish one')
    const seen: string[] = []
    let last: string | undefined
    for (let round = 0; round < 6; round++) {
      const resumed = last === undefined ? headers : { ...headers, 'last-event-id': last }
      const response = await fetch(`${url}/v1/events`, { headers: resumed })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const got = read(response, (_, all) => cursors(all).length === 3)
      await started(`finish ${round}`, { drive: round % 2 === 0 })
      const messages = await got
      for (const m of messages) if (m.data) expect([m.id, m.event]).toEqual([m.data.cursor, m.data.type])
      seen.push(...cursors(messages))
      last = seen.at(-1)
    }
    expect(seen).toEqual(services.log.all.slice(0, 18).map((e) => `fakelog~${e.position}~${e.hash}`))
  })

  it('refuses a cursor that is none, or of another log, before it begins', async () => {
    const { ask, started } = testApp()
    await started('x', { drive: false })
    const status = async (id: string) => {
      const response = await ask('GET', '/v1/events', { headers: { 'last-event-id': id } })
      return [response.status, (await bodyOf(response)).code]
    }
    expect(await status('nonsense')).toEqual([400, 'CURSOR_INVALID'])
    expect(await status(`otherlog~1~${'0'.repeat(64)}`)).toEqual([409, 'CURSOR_MISMATCH'])
    expect(await status(`fakelog~1~${'0'.repeat(64)}`)).toEqual([409, 'CURSOR_MISMATCH'])
  })

  it('filters, ends at the head where asked to, and speaks NDJSON', async () => {
    const { ask, started, services } = testApp()
    const [a, b] = [await started('finish a'), await started('finish b')]
    await services.drivers.ended(a)
    await services.drivers.ended(b)
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
    const { ask, started, services } = testApp({}, { heartbeatMs: 10 })
    await started('x', { drive: false })
    const response = await ask('GET', '/v1/events?type=completion')
    const messages = await read(response, (m) => m.id !== undefined)
    const end = services.log.all.at(-1)!
    expect(messages.at(-1)).toEqual({ id: `fakelog~${end.position}~${end.hash}` })
  })

  it('does not read ahead of a consumer that does not read', async () => {
    const log = new FakeLog({ pageSize: 1 })
    const { port, started, listening, services } = await served({ log })
    const id = await started('talk', { drive: false })
    for (let i = 0; i < 400; i++) {
      await services.runtime.execute(
        id,
        { kind: 'input', text: 'x'.repeat(100_000) },
        { by: { kind: 'user', id: 'a' } },
      )
    }
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    await once(socket, 'connect')
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
    // The reading stands still when a whole health question brings no more pages.
    let before = -1
    while (log.pages === 0 || before !== log.pages) {
      before = log.pages
      for (let i = 0; i < 20; i++) await (await fetch(`http://127.0.0.1:${port}/v1/health`)).text()
    }
    const { connections } = await new Promise<{ connections: number }>((resolve) =>
      listening.server.getConnections((_, connections) => resolve({ connections })),
    )
    expect(connections).toBeGreaterThan(0)
    // 40 MB were there to read: the kernel's buffers took their share, memory next to nothing.
    expect(log.pages).toBeLessThan(150)
    socket.destroy()
  })
})

describe('the live stream', () => {
  it('says whether a driver is at work and passes text on', async () => {
    const { ask, started, services } = testApp()
    const id = await started('hang', { drive: false })
    const response = await ask('GET', `/v1/runs/${id}/live`)
    const news = read(response, (m, all) => all.length > 1 && m.event === 'drive' && m.data?.driving === false)
    const more = read(await ask('GET', `/v1/runs/${id}/live`), (m) => m.event === 'text')
    await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
    expect((await more).at(-1)).toMatchObject({ event: 'text', data: { text: 'thinking…' } })
    await ask('POST', `/v1/runs/${id}/pause`, { body: {} })
    await services.drivers.ended(id)
    const kinds = (await news).map((m) => [m.event, m.data?.driving])
    expect(kinds).toEqual([
      ['drive', false],
      ['drive', true],
      ['text', undefined],
      ['drive', false],
    ])
  })

  it('drops text for a slow listener, never the end of the drive', async () => {
    const { services } = testApp()
    const over = new AbortController()
    const news = services.live.listen('r', over.signal)
    for (let i = 0; i < 5000; i++) services.live.publish({ kind: 'text', runId: 'r', agentId: 'r', turn: 1, text: 'x' })
    services.live.publish({ kind: 'drive', runId: 'r', driving: false, end: { end: 'done' } })
    over.abort()
    const kinds = new Map<string, number>()
    for await (const item of news)
      kinds.set(item.kind, (kinds.get(item.kind) ?? 0) + (item.kind === 'dropped' ? item.pieces : 1))
    expect(Object.fromEntries(kinds)).toEqual({ text: 2000, drive: 1, dropped: 3000 })
  })
})
