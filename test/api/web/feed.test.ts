import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FeedHub, type FromHub } from '../../../api/web/client/feed-hub.ts'

// The one connection of a browser, on a server that is played: what its tabs are told.

interface Asked {
  readonly path: string
  readonly key: string | null
  readonly after: string | null
  /** Writes into the stream. */
  say(text: string): void
  end(): void
  readonly over: () => boolean
}

let asked: Asked[] = []
/** How the server answers to the next requests; the last one stays. */
let statuses: number[] = [200]
let heartbeatMs = 1_000

function played(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!
  let over = false
  let to: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      to = controller
      init.signal?.addEventListener('abort', () => {
        if (!over) controller.error(init.signal!.reason)
        over = true
      })
    },
  })
  asked.push({
    path,
    key: headers.get('keepup-session'),
    after: headers.get('last-event-id'),
    say: (text) => to.enqueue(new TextEncoder().encode(text)),
    end() {
      if (!over) to.close()
      over = true
    },
    over: () => over,
  })
  return Promise.resolve(new Response(body, { status, headers: { 'keepup-heartbeat-ms': String(heartbeatMs) } }))
}

beforeEach(() => {
  asked = []
  statuses = [200]
  heartbeatMs = 1_000
  vi.useFakeTimers()
  vi.stubGlobal('fetch', played)
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const settle = () => vi.advanceTimersByTimeAsync(0)

function tabOf(hub: FeedHub) {
  const heard: FromHub[] = []
  const say = hub.join((message) => heard.push(message))
  const states = () => heard.flatMap((one) => (one.kind === 'connection' ? [one.state] : []))
  return { heard, say, states }
}

describe('a connection', () => {
  it('counts as one when something has come through it', async () => {
    const tab = tabOf(new FeedHub())
    tab.say({ kind: 'hello', key: 'k' })
    await settle()
    expect(tab.states()).toEqual([])
    asked[0]!.say('id: 7\n\n')
    await settle()
    expect(tab.states()).toEqual(['connected'])
    asked[0]!.end()
    await vi.advanceTimersByTimeAsync(250)
    expect(tab.states()).toEqual(['connected', 'lost'])
    expect(asked[1]).toMatchObject({ after: '7', key: 'k' })
    tab.say({ kind: 'bye' })
  })

  it('that falls silent is broken off after three heartbeats, and its tabs look by themselves', async () => {
    const tab = tabOf(new FeedHub())
    tab.say({ kind: 'hello', key: 'k' })
    await settle()
    asked[0]!.say(': events\n\n')
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(2_000)
      asked[0]!.say(': still here\n\n')
      await settle()
    }
    expect(asked.length).toBe(1)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(asked[0]!.over()).toBe(true)
    expect(tab.states()).toEqual(['connected', 'silent'])
    await vi.advanceTimersByTimeAsync(250)
    expect(asked.length).toBe(2)
    tab.say({ kind: 'bye' })
  })

  it('behind which another log stands is told to be anew, once', async () => {
    const tab = tabOf(new FeedHub())
    tab.say({ kind: 'hello', key: 'k' })
    await settle()
    asked[0]!.say('id: 7\n\n')
    await settle()
    statuses = [409, 200]
    asked[0]!.end()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(asked.map(({ after }) => after)).toEqual([null, '7', null])
    asked[2]!.say('id: 3\n\n')
    await settle()
    expect(tab.heard.at(-1)).toEqual({ kind: 'connection', state: 'connected', anew: true })
    asked[2]!.end()
    await vi.advanceTimersByTimeAsync(1_000)
    asked[3]!.say('id: 3\n\n')
    await settle()
    expect(tab.heard.at(-1)).toEqual({ kind: 'connection', state: 'connected' })
    tab.say({ kind: 'bye' })
  })
})

describe('tabs', () => {
  it('that have slept are told to look up what they were not told', async () => {
    heartbeatMs = 60_000
    const hub = new FeedHub()
    const [awake, asleep] = [tabOf(hub), tabOf(hub)]
    awake.say({ kind: 'hello', key: 'k' })
    asleep.say({ kind: 'hello', key: 'k' })
    await settle()
    asked[0]!.say(': events\n\n')
    for (let i = 0; i < 20; i++) {
      await vi.advanceTimersByTimeAsync(20_000)
      asked[0]!.say(': still here\n\n')
      awake.say({ kind: 'alive' })
      await settle()
    }
    const before = asleep.states().length
    asleep.say({ kind: 'alive' })
    expect(asleep.states().slice(before)).toEqual(['connected'])
  })

  it('of which the last one wakes have a connection again', async () => {
    const hub = new FeedHub()
    const [first, second] = [tabOf(hub), tabOf(hub)]
    first.say({ kind: 'hello', key: 'k' })
    second.say({ kind: 'hello', key: 'k' })
    await settle()
    await vi.advanceTimersByTimeAsync(200_000)
    first.say({ kind: 'bye' })
    const before = asked.length
    second.say({ kind: 'alive' })
    await settle()
    expect(asked.length).toBe(before + 1)
    expect(asked.at(-1)!.over()).toBe(false)
    second.say({ kind: 'bye' })
  })

  it('hear whose session ended, and a new one takes its place at once', async () => {
    statuses = [401, 200]
    const hub = new FeedHub()
    const tab = tabOf(hub)
    tab.say({ kind: 'hello', key: 'old' })
    await settle()
    expect(tab.heard).toEqual([{ kind: 'expired', key: 'old' }])
    tab.say({ kind: 'hello', key: 'new' })
    await settle()
    expect(asked.at(-1)!.key).toBe('new')
    tab.say({ kind: 'bye' })
  })
})
