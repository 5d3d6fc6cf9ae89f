import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

const world = await openWorld({ maxBodyBytes: 200_000 })
afterAll(() => world.close())
const { ask, driven, started, services } = world

const get = async <T = Record<string, never>>(path: string): Promise<T> => {
  const answer = await ask('GET', path)
  expect([path, answer.status]).toEqual([path, 200])
  return bodyOf<T>(answer)
}

interface Outline {
  length: number
  inherited: object | null
  names: string[]
  types: number[]
  turns: number[]
  calls: number[]
  sizes: number[]
  times: number[]
  failed: number[]
}
interface Page {
  events: { revision: number; cut?: true; payload: Record<string, string> }[]
  next: number | null
}

describe('the outline of an agent', () => {
  it('has a row for each event of its stream, and grows with it', async () => {
    const id = await started('ask', { drive: false })
    await get(`/v1/agents/${id}/outline`)
    await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
    await services.drivers.ended(id)
    const stored = await eventsIn(services, id)
    const outline = await get<Outline>(`/v1/agents/${id}/outline`)
    expect(outline.length).toBe(stored.length)
    expect(outline.inherited).toBeNull()
    expect(outline.types.map((type) => outline.names[type])).toEqual(stored.map((e) => e.header.type))
    expect(outline.turns).toEqual(stored.map((e) => e.header.turn))
    expect(outline.times).toEqual(stored.map((e) => Date.parse(e.header.timestamp)))
    expect(outline.sizes).toEqual(stored.map((e) => e.header.body.size))
    expect(outline.calls).toEqual(stored.map((e) => (e.header.toolCallId?.endsWith('.c0') ? 0 : -1)))
    const part = await get<Outline>(`/v1/agents/${id}/outline?from=3&limit=2`)
    expect(part.turns).toEqual(outline.turns.slice(3, 5))
    expect(part.types.map((type) => part.names[type])).toEqual(stored.slice(3, 5).map((e) => e.header.type))
  })

  it('names the ends of failed calls, also of a command with an exit code other than 0', {
    tags: ['git'],
  }, async () => {
    const tools = ['run_command']
    const more = { workspace: world.workspace(), tools, approve: tools, policy: { mode: 'batch', sandboxed: false } }
    const broken = await driven('broken', more)
    const ends = async (id: string) =>
      (await eventsIn(services, id)).flatMap(({ header }, at) => (header.type === 'tool_call_end' ? [at] : []))
    const { failed } = await get<Outline>(`/v1/agents/${broken}/outline`)
    // The command fails; the call that completes the task does not.
    expect(failed).toEqual((await ends(broken)).slice(0, 1))
    expect((await get<Outline>(`/v1/agents/${broken}/outline?from=${failed[0]! + 1}`)).failed).toEqual([])
    expect((await get<Outline>(`/v1/agents/${await driven('finish')}/outline`)).failed).toEqual([])
  })

  it('of a fork names the point of its source', async () => {
    const id = await driven('finish')
    const answer = await ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, drive: false } })
    const { runId } = await bodyOf<{ runId: string }>(answer)
    const { inherited } = await get<Outline>(`/v1/agents/${runId}/outline`)
    const made = (await eventsIn(services, id)).findIndex((e) => e.header.type === 'tool_call_end')
    expect(inherited).toEqual({ agentId: id, revision: made, step: 1 })
  })

  it('of an agent that is not there is 404', async () => {
    for (const what of ['outline', 'events', 'brief'])
      expect([what, (await ask('GET', `/v1/agents/unknown-agent/${what}`)).status]).toEqual([what, 404])
  })
})

describe('the events of an agent', () => {
  it('come from any revision on, page by page, as the stream of events shows them', async () => {
    const id = await driven('finish')
    const whole = await get<{ events: unknown[] }>(`/v1/runs/${id}/events?limit=500`)
    const seen: unknown[] = []
    for (let from: number | null = 0; from !== null; ) {
      const page: Page = await get<Page>(`/v1/agents/${id}/events?from=${from}&limit=3`)
      seen.push(...page.events)
      from = page.next
    }
    expect(seen).toEqual(whole.events)
    expect(await get<Page>(`/v1/agents/${id}/events?from=9999`)).toEqual({ events: [], next: null })
  })

  it('are written in one piece, however many there are', async () => {
    const id = await driven('finish')
    for (const brief of [true, false]) {
      const answer = await ask('GET', `/v1/agents/${id}/events?limit=500&brief=${brief}`)
      const pieces = await Array.fromAsync(answer.body!)
      expect(pieces.length).toBe(1)
      expect(JSON.parse(Buffer.concat(pieces).toString()).events.length).toBeGreaterThan(5)
    }
  })

  it('are cut where they are long and that is asked for', async () => {
    const id = await started(`x`, { drive: false })
    const said = await ask('POST', `/v1/runs/${id}/input`, {
      body: { text: `${'a'.repeat(1_999)}😀${'b'.repeat(9_000)}` },
    })
    const { revision } = await bodyOf<{ revision: number }>(said)
    const [cut] = (await get<Page>(`/v1/agents/${id}/events?from=${revision}&brief=true`)).events
    expect(cut).toMatchObject({ cut: true, payload: { text: `${'a'.repeat(1_999)}…` } })
    const [all] = (await get<Page>(`/v1/agents/${id}/events?from=${revision}`)).events
    expect(all!.payload.text).toHaveLength(1_999 + 2 + 9_000)
    expect(all!.cut).toBeUndefined()
  })
})

describe('the brief state', () => {
  it('names the last writer of each variable, of a fork also in its source', async () => {
    const path = join(world.root, 'variables.json')
    const set = (key: string, value: unknown) => ({ calls: [{ tool: 'set_context', arguments: { key, value } }] })
    const end = { calls: [{ tool: 'complete_task', arguments: { summary: 'set' } }] }
    const turns = [set('a', 1), set('b', { deep: [2] }), set('a', 3), end]
    writeFileSync(path, JSON.stringify({ script: 1, model: 'variables', turns }))
    const id = await driven('set them', { model: `scripted:${path}` })
    const written = (await eventsIn(services, id)).flatMap(({ header }) =>
      header.type === 'context_set' ? [header.revision] : [],
    )
    const [first, second, third] = written as [number, number, number]
    type Brief = { state: { contextVariables: object }; writers: object }
    const at = async (agent: string, event: number) => {
      const { state, writers } = await get<Brief>(`/v1/agents/${agent}/brief?event=${event}`)
      return [state.contextVariables, writers]
    }
    const by = (revision: number) => ({ agentId: id, revision })
    expect(await at(id, first - 1)).toEqual([{}, {}])
    expect(await at(id, first)).toEqual([{ a: 1 }, { a: by(first) }])
    expect(await at(id, third - 1)).toEqual([
      { a: 1, b: { deep: [2] } },
      { a: by(first), b: by(second) },
    ])
    expect(await at(id, third + 3)).toEqual([
      { a: 3, b: { deep: [2] } },
      { a: by(third), b: by(second) },
    ])
    const fork = await ask('POST', `/v1/runs/${id}/fork`, { body: { event: second, drive: false } })
    const { runId } = await bodyOf<{ runId: string }>(fork)
    expect(await at(runId, 0)).toEqual([
      { a: 1, b: { deep: [2] } },
      { a: by(first), b: by(second) },
    ])
  })

  it('is the state without its messages, at every event, and names the writers of variables', {
    tags: ['git'],
  }, async () => {
    const id = await driven('write', { contextVariables: { ticket: 42 }, workspace: world.workspace() })
    const fork = await ask('POST', `/v1/runs/${id}/fork`, { body: { event: 6, drive: false } })
    const { runId } = await bodyOf<{ runId: string }>(fork)
    for (const agent of [id, runId]) {
      const { length } = await eventsIn(services, agent)
      for (let event = 0; event < length; event++) {
        type State = { state: { messages?: unknown } }
        const { writers, ...brief } = await get<State & { writers: object }>(`/v1/agents/${agent}/brief?event=${event}`)
        const whole = await get<State>(`/v1/runs/${agent}/state?event=${event}`)
        const { messages: _, ...state } = whole.state
        expect(brief).toEqual({ ...whole, state })
        expect(writers).toEqual({ ticket: { agentId: id, revision: 0 } })
      }
    }
  })
})

it('runs are listed by what they wait for', { tags: ['git'] }, async () => {
  const waits = await driven('write', { workspace: world.workspace() })
  const asks = await driven('ask')
  const done = await driven('finish')
  const ids = async (waiting: string) =>
    (await get<{ runs: { runId: string }[] }>(`/v1/runs?limit=500&waiting=${waiting}`)).runs.map((r) => r.runId)
  expect(await ids('approval')).toContain(waits)
  expect(await ids('approval')).not.toContain(asks)
  expect(await ids('input')).toContain(asks)
  expect(await ids('people')).toEqual(expect.arrayContaining([waits, asks]))
  expect(await ids('people')).not.toContain(done)
})
