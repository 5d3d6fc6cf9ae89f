import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventView } from '../../../api/operations/events/schemas.ts'
import { inProcess } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const MiB = 1024 * 1024
const LARGE = `${'a "quoted" é line\n'.repeat(450_000)}end`
const world = await openWorld()
const { ask, services } = world
let runId = ''
let texts: string[] = []

beforeAll(async () => {
  runId = await world.started('finish', { drive: false })
  texts = [LARGE, 'b'.repeat(3 * MiB), 'c'.repeat(3 * MiB), 'd']
  for (const text of texts)
    await services.runtime.execute(runId, { kind: 'input', text }, { by: { kind: 'user', id: 'ada' } })
})
afterAll(() => world.close())

const inputs = (events: readonly EventView[]) =>
  events.flatMap(({ type, payload }) => (type === 'user_input' ? [(payload as { text: string }).text] : []))

/** The pieces in which a body arrives. */
async function piecesOf(response: Response): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of response.body as ReadableStream<Uint8Array>) pieces.push(piece)
  return pieces
}

describe('events with large bodies', () => {
  it.each(['application/x-ndjson', 'text/event-stream'])('come whole in small pieces as %s', async (accept) => {
    const response = await ask('GET', `/v1/events?run=${runId}&follow=false`, { headers: { accept } })
    const pieces = await piecesOf(response)
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(256 * 1024)
    const lines = Buffer.concat(pieces).toString().split('\n')
    const events = lines
      .map((line) => line.replace(/^data: /, ''))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as EventView)
    expect(inputs(events).slice(1)).toEqual(texts)
    const ids = lines.flatMap((line) => (line.startsWith('id: ') ? [line.slice(4)] : []))
    if (accept === 'text/event-stream') expect(ids).toEqual(events.map(({ cursor }) => cursor))
  })

  it('end the page that they bring over 4 MiB', async () => {
    const pages: EventView[][] = []
    let after = ''
    for (;;) {
      const response = await ask('GET', `/v1/runs/${runId}/events?limit=500${after}`)
      expect(response.headers.get('content-type')).toContain('application/json')
      const { events, next } = await bodyOf<{ events: EventView[]; next: string | null }>(response)
      pages.push(events)
      if (next === null) break
      after = `&after=${next}`
    }
    expect(pages.map((page) => inputs(page).length)).toEqual([2, 2, 1])
    expect(inputs(pages.flat()).slice(1)).toEqual(texts)
  })

  it('are shown by the command line, also as one array', async () => {
    const shown = async (...args: string[]) => (await inProcess(['--data', world.data, ...args])).out
    await services.close()
    const all = JSON.parse(await shown('-o', 'json', 'events', runId)) as EventView[]
    expect(inputs(all).slice(1)).toEqual(texts)
    const lines = (await shown('-o', 'jsonl', 'events', runId)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as EventView)).toEqual(all)
    const tail = (await shown('-o', 'jsonl', 'tail', '--run', runId, '--no-follow')).trim().split('\n')
    expect(tail.map((line) => JSON.parse(line) as EventView)).toEqual(all)
  })
})
