import { expect, onTestFinished, test } from 'vitest'
import { type AgentTold, agent, Peer, type Scene, type View } from '../support/documents/crowd.ts'
import { askAny, Host } from '../support/documents/hosts.ts'
import { Person } from '../support/documents/person.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'
import { openPair } from '../support/servers/pair.ts'

// Agents and people on one document, over processes that are killed. `DOCUMENTS_CAMPAIGN=whole` makes it 20 agents and 5
// people with 2,000 edits each, `DOCUMENTS_CAMPAIGN=400` with 400 each; without it a small sample runs.

const { DOCUMENTS_CAMPAIGN: ASKED } = process.env
const [AGENTS, PEOPLE, EDITS] = ASKED === undefined ? [5, 2, 12] : [20, 5, ASKED === 'whole' ? 2_000 : Number(ASKED)]
/** A process is killed after so many edits. */
const EVERY = ASKED === undefined ? 20 : Math.ceil(((AGENTS + PEOPLE) * EDITS) / 100)

interface Entry {
  readonly revision: number
  readonly kind: string
  readonly by: { readonly id: string }
  readonly clientRequestId?: string
  readonly status?: number
}

async function campaign(hosts: readonly Host[]): Promise<void> {
  for (const host of hosts) onTestFinished(() => host.stop())
  const json = async <T>(path: string, init?: RequestInit) => (await (await askAny(hosts, 0, path, init)).json()) as T
  const content = Array.from({ length: 10 }, (_, n) => `paragraph ${n}`).join('\n\n')
  const body = JSON.stringify({ title: 'Plan', format: 'markdown', content })
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'plan' }
  const { documentId } = await json<{ documentId: string }>('/v1/documents', { method: 'POST', body, headers })
  const route = `/v1/documents/${documentId}`

  const draw = draws(FAULT_SEED)
  let [edits, killing] = [0, Promise.resolve()]
  const done = () => {
    edits += 1
    if (edits % EVERY > 0) return
    const victim = hosts[draw(hosts.length)]!
    killing = killing.then(() => victim.kill())
  }
  const scene: Scene = { hosts, documentId, seed: FAULT_SEED, done }
  const peers = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => Peer.open(scene, n)))
  for (const peer of peers) onTestFinished(() => peer.close())
  const [agents] = await Promise.all([
    Promise.all(Array.from({ length: AGENTS }, (_, n) => agent(scene, n, EDITS))),
    Promise.all(peers.map((peer) => peer.edits(EDITS))),
  ])
  await killing
  expect(edits).toBe((AGENTS + PEOPLE) * EDITS)
  expect(hosts.reduce((sum, { kills }) => sum + kills, 0)).toBe(Math.floor(edits / EVERY))
  expect([...agents, ...peers].flatMap(({ wrong }) => wrong)).toEqual([])

  // Every process shows the same, and proves it.
  const views = await Promise.all(hosts.map(async (host) => (await (await host.ask(route)).json()) as View))
  for (const other of views) expect(other).toEqual(views[0])
  const { frontier, root } = views[0]!
  expect(await json(`${route}/verify`)).toMatchObject({ ok: true, problems: [], frontier, root })

  await nothingLost(agents, await entries(json, route))
  // All replicas are the document.
  const last = await lastUpdate(json, route)
  const snapshot = new Uint8Array(await (await askAny(hosts, 0, `${route}?format=loro`)).arrayBuffer())
  const whole = new Person('9', snapshot)
  for (const { person, upTo } of peers.map((peer) => ({ person: peer.person, upTo: peer.upTo(last) }))) {
    await upTo
    expect(person.doc.toJSON()).toEqual(whole.doc.toJSON())
    // Each has all operations of the other.
    expect(person.doc.version().compare(whole.doc.version())).toBe(0)
  }
}

/** Every acknowledged request is in the stream once, and no request is in it twice. */
async function nothingLost(agents: readonly AgentTold[], all: readonly Entry[]): Promise<void> {
  const nameOf = ({ by, clientRequestId }: Entry) => `${by.id} ${clientRequestId}`
  const applied = all.filter(({ kind }) => kind === 'applied').map(nameOf)
  expect(new Set(applied).size).toBe(applied.length)
  const told = agents.flatMap((one) => one.applied.map(({ by, id }) => `${by} ${id}`))
  expect(applied.toSorted()).toEqual(told.toSorted())
  const refused = all.filter(({ kind, status }) => kind === 'refused' && status === 409).map(nameOf)
  const conflicts = agents.flatMap((one, n) => one.conflicts.map((id) => `agent${n} ${id}`))
  expect(refused.toSorted()).toEqual(conflicts.toSorted())
  expect(told.length).toBeGreaterThan(0)
  expect(conflicts.length).toBeGreaterThan(0)
}

type Json = <T>(path: string) => Promise<T>

async function entries(json: Json, route: string): Promise<Entry[]> {
  const all: Entry[] = []
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? 'limit=100' : `limit=100&after=${after}`
    const page: { entries: Entry[]; next: string | null } = await json(`${route}/history?${query}`)
    all.push(...page.entries)
    after = page.next
  }
  return all
}

const lastUpdate = async (json: Json, route: string) =>
  (await entries(json, route)).findLast(({ kind }) => kind !== 'refused')!.revision

const what = `${AGENTS} agents and ${PEOPLE} people with ${EDITS} edits each, killed processes (FAULT_SEED=${FAULT_SEED})`

test(`embedded: ${what}`, async () => {
  const place = newPlace()
  onTestFinished(() => place.remove())
  await campaign([new Host(place, 'data', {})])
})

test(`three processes on servers: ${what}`, { tags: ['postgresql'] }, async () => {
  const pair = await openPair()
  onTestFinished(() => pair.stop())
  const place = newPlace()
  onTestFinished(() => place.remove())
  const env = pair.fresh()
  await campaign(['one', 'two', 'three'].map((name) => new Host(place, name, env)))
})
