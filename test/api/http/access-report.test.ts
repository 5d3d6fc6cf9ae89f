import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import type { LogReport, RunReport } from '../../../api/operations/access/report/schemas.ts'
import { ROLES } from '../../../domain/access/rights.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { law } from '../../support/laws.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// The report of access says the same as a model that knows only the raw events of the log.

const world = await openWorld()
afterAll(() => world.close())

const WHO = ['ben', 'cleo', 'dora'] as const
const keys = new Map<string, string>()

async function as<T>(who: string, method: string, path: string, body?: object): Promise<T & { status: number }> {
  const headers = { authorization: `Bearer ${keys.get(who)}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const answer = await world.http.fetch(new Request(`http://localhost${path}`, init), OVER_NETWORK)
  return { status: answer.status, ...(await bodyOf<T & object>(answer)) }
}

beforeAll(async () => {
  const { key } = await bodyOf<{ key: string }>(await world.ask('POST', '/v1/access', { body: { principal: 'ann' } }))
  keys.set('ann', key)
  for (const principal of WHO) {
    await as('ann', 'POST', '/v1/access/principals', { principal, roles: ['operator', 'approver'] })
    keys.set(principal, (await as<{ key: string }>('ann', 'POST', `/v1/access/principals/${principal}/keys`, {})).key)
  }
})

interface Raw {
  readonly header: Header
  readonly body: Record<string, never>
}

async function rawEvents(): Promise<Raw[]> {
  return (await eventsIn(world.services)).map(({ header, body }) => ({
    header,
    body: body === null ? {} : JSON.parse(new TextDecoder().decode(unsalted(body))),
  }))
}

/** Who could have decided about each call when it was decided, from nothing but the events in their order. */
function modelOf(events: readonly Raw[]) {
  const roles = new Map<string, Set<string>>()
  const asked = new Map<string, Set<string>>()
  const could = new Map<string, [string, boolean][]>()
  let [table, separation]: [Record<string, string[]>, boolean] = [{}, true]
  for (const { header, body } of events) {
    const { type, runId = '', actor, toolCallId } = header
    const b = body as Record<string, unknown>
    const principal = String(b.principal)
    if (type === 'access_begun' || type === 'roles_changed') table = b.roles as typeof table
    if (type === 'rules_changed') separation = b.separation as boolean
    if (type === 'principal_added') roles.set(principal, new Set())
    if (type === 'principal_removed') roles.delete(principal)
    if (type === 'role_granted') roles.get(principal)?.add(String(b.role))
    if (type === 'role_taken') roles.get(principal)?.delete(String(b.role))
    if (type === 'agent_started' || type === 'user_input')
      asked.set(runId, (asked.get(runId) ?? new Set()).add(`${actor.kind}:${actor.id}`))
    if (type !== 'approval_decided') continue
    const able = [...roles].filter(([, own]) => [...own].some((role) => table[role]!.includes('runs.decide')))
    could.set(
      toolCallId!,
      [...able.map(([id]) => id).sort(), 'recovery'].map((id) => [
        id,
        separation && asked.get(runId)!.has(`user:${id}`),
      ]),
    )
  }
  return could
}

const who = fc.constantFrom('ann', ...WHO)
const Step = fc.oneof(
  fc.record({ do: fc.constantFrom('grant', 'take'), who, role: fc.constantFrom(...ROLES) }),
  fc.record({ do: fc.constant('separation'), on: fc.boolean() }),
  fc.record({ do: fc.constant('input'), who, nth: fc.nat(2) }),
  fc.record({ do: fc.constantFrom('decide', 'read'), who, nth: fc.nat(2) }),
)
type Step = { do: string; who?: string; role?: string; on?: boolean; nth?: number }

async function perform(step: Step, runs: readonly string[]): Promise<void> {
  const run = runs[step.nth ?? 0]
  if (step.do === 'separation') await as('ann', 'PUT', '/v1/access/rules', { separation: step.on })
  if ((step.do === 'grant' || step.do === 'take') && step.role !== 'admin')
    await as('ann', 'POST', `/v1/access/principals/${step.who}/${step.do}`, { role: step.role })
  if (step.do === 'input') await as(step.who!, 'POST', `/v1/runs/${run}/input`, { text: 'be quick' })
  if (step.do === 'read') await as(step.who!, 'GET', `/v1/runs/${run}`)
  if (step.do !== 'decide') return
  const { approvals } = await as<{ approvals: { toolCallId: string }[] }>('ann', 'GET', `/v1/approvals?run=${run}`)
  const call = approvals[0]?.toolCallId
  if (call === undefined) return
  const { questionHash } = await as<{ questionHash: string }>('ann', 'GET', `/v1/approvals/${call}`)
  await as(step.who!, 'POST', `/v1/approvals/${call}`, { decision: 'approved', questionHash })
}

/** A decision, and then an input, which does not exclude its author from the decision of before. */
const LAST: readonly Step[] = [
  ...['cleo', 'dora'].map((one) => ({ do: 'grant', who: one, role: 'approver' })),
  { do: 'grant', who: 'cleo', role: 'operator' },
  { do: 'separation', on: true },
  { do: 'decide', who: 'dora', nth: 2 },
  { do: 'input', who: 'cleo', nth: 2 },
]

it('names who could decide each call then, who did, and who read the run, as the raw events do', {
  tags: ['git'],
  timeout: 120_000,
}, async () => {
  await law(fc.array(Step, { minLength: 6, maxLength: 14 }), 4, async (steps) => {
    const runs: string[] = []
    for (const starter of ['ann', 'ben', 'ann']) {
      await as('ann', 'POST', `/v1/access/principals/${starter}/grant`, { role: 'operator' })
      const body = { task: 'write it', model: world.model, tools: ['write_file'], workspace: world.workspace() }
      const { runId } = await as<{ runId: string }>(starter, 'POST', '/v1/runs', { ...body, drive: true })
      await world.services.drivers.ended(runId)
      runs.push(runId)
    }
    for (const step of [...(steps as Step[]), ...LAST]) await perform(step, runs)
    await Promise.all(runs.map((run) => world.services.drivers.ended(run).catch(() => undefined)))
    for (const run of runs) {
      const { run: report } = await as<{ run: RunReport }>('ann', 'GET', `/v1/access/report?run=${run}`)
      const events = await rawEvents()
      const could = modelOf(events)
      const decided = report.decisions.filter(({ decidedAt }) => decidedAt !== null)
      const raw = events.filter(({ header }) => header.type === 'approval_decided' && header.runId === run)
      expect(decided.map(({ toolCallId, by }) => [toolCallId, by])).toEqual(
        raw.map(({ header: { toolCallId, actor } }) => [toolCallId, `${actor.kind}:${actor.id}`]),
      )
      for (const { toolCallId, could: told } of decided)
        expect(told!.map(({ principal, excluded }) => [principal, excluded])).toEqual(could.get(toolCallId))
      expect(counts(report.reads.map((one) => [one.principal, one.operation, one.count]))).toEqual(
        counts(readsOf(events, run)),
      )
    }
  })
})

/** Sums by person and operation, without the reads of the report itself. */
function counts(reads: readonly (readonly (string | number | null)[])[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [principal, operation, count] of reads)
    sums[`${principal} ${operation}`] = (sums[`${principal} ${operation}`] ?? 0) + Number(count)
  return sums
}

const readsOf = (events: readonly Raw[], run: string) =>
  events
    .filter(({ header, body }) => header.type === 'read_audited' && (body as { run?: string }).run === run)
    .map(({ body }) => {
      const { principal, operation, count } = body as Record<string, string | number>
      return [principal!, operation!, count!]
    })

it('without a run, has principals, keys with their last use, changes in a span, failures, and how far texts go back', async () => {
  await as('ann', 'POST', '/v1/access/principals', { principal: 'eve', name: 'Eve' })
  const made = await as<{ id: string; key: string }>('ann', 'POST', '/v1/access/principals/eve/keys', {})
  keys.set('eve', made.key)
  const before = async () => (await as<{ log: LogReport }>('ann', 'GET', '/v1/access/report')).log
  const lastUse = ({ keys: all }: LogReport) => all.find(({ id }) => id === made.id)!.lastUse
  expect(lastUse(await before())).toBeNull()
  expect((await as('eve', 'GET', '/v1/runs')).status).toBe(403)
  keys.set('nobody', 'ku_key_nonsense')
  await as('nobody', 'GET', '/v1/runs')
  const since = new Date().toISOString()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await as('ann', 'POST', '/v1/access/principals/eve/remove', { reason: 'left' })
  await as('ann', 'PUT', '/v1/retention', { of: 'run', days: 3650 })
  const log = await before()
  expect(lastUse(log)).not.toBeNull()
  expect(log.keys.find(({ id }) => id === made.id)!.state).toBe('ownerless')
  expect(log.principals.find(({ id }) => id === 'eve')).toMatchObject({ name: 'Eve', roles: [], removed: true })
  expect(log.failed).toEqual([expect.objectContaining({ reason: 'unknown', count: 1 })])
  expect(log.refused).toContainEqual(expect.objectContaining({ principal: 'eve', operation: 'listRuns', count: 1 }))
  const span = await as<{ log: LogReport }>('ann', 'GET', `/v1/access/report?since=${since}`)
  expect(span.log.changes.map(({ type, by }) => [type, by])).toEqual([
    ['principal_removed', 'user:ann'],
    ['retention_set', 'user:ann'],
  ])
  expect(log.retention.find(({ of }) => of === 'run')).toMatchObject({ days: 3650, by: 'user:ann' })
})

it('has the changes and failures from `since` on and before `until`', async () => {
  const report = async (query = '') => (await as<{ log: LogReport }>('ann', 'GET', `/v1/access/report${query}`)).log
  keys.set('nobody', 'ku_key_nonsense')
  const fails = async () => {
    await as('nobody', 'GET', '/v1/runs')
    return (await report()).failed.find(({ reason }) => reason === 'unknown')!
  }
  let failed = await fails()
  // The two failures must not have one time.
  while (failed.first === failed.last) failed = await fails()
  await as('ann', 'POST', '/v1/access/principals', { principal: 'gus' })
  const { changes } = await report()
  const { at } = changes.at(-1)!
  expect((await report(`?until=${at}`)).changes).toEqual(changes.filter((one) => one.at < at))
  expect((await report(`?since=${at}`)).changes).toEqual(changes.filter((one) => one.at >= at))
  const events = (await rawEvents()).filter(({ header }) => header.type === 'login_failed')
  const counted = (isIn: (at: string) => boolean) =>
    events
      .filter(({ header }) => isIn(header.timestamp))
      .reduce((sum, { body }) => sum + Number((body as Record<string, unknown>).count), 0)
  const told = async (query: string) => (await report(query)).failed.reduce((sum, { count }) => sum + count, 0)
  const { last } = failed
  expect(await told(`?until=${last}`)).toBe(counted((one) => one < last))
  expect(await told(`?since=${last}`)).toBe(counted((one) => one >= last))
})

it('says since when texts are kept, and what was erased from a run, by whom and why', async () => {
  await world.driven('finish')
  const run = await world.driven('finish')
  const oldest = async () =>
    (await as<{ log: LogReport }>('ann', 'GET', '/v1/access/report')).log.keptSince.find(
      ({ kind }) => kind === 'agent',
    )!
  const first = await oldest()
  const all = (await as<{ runs: { runId: string }[] }>('ann', 'GET', '/v1/runs?limit=500')).runs
  const begun = all.map(({ runId }) => runId).sort()
  expect(first.stream).toBe(`agent-${begun[0]}`)
  await as('ann', 'POST', `/v1/runs/${begun[0]}/cancel`, {})
  await world.services.drivers.ended(begun[0]!).catch(() => undefined)
  await as('ann', 'POST', `/v1/runs/${begun[0]}/erase`, { all: true, code: 'legal', reason: 'ordered' })
  expect((await oldest()).stream).not.toBe(first.stream)
  const { hold } = await as<{ hold: string }>('ann', 'POST', '/v1/holds', { of: run, reason: 'a matter' })
  const erased = await as<{ run: RunReport }>('ann', 'GET', `/v1/access/report?run=${begun[0]}`)
  expect(erased.run.erasures).toMatchObject([{ by: 'user:ann', code: 'legal', reason: 'ordered' }])
  const held = await as<{ run: RunReport }>('ann', 'GET', `/v1/access/report?run=${run}`)
  expect(held.run).toMatchObject({ erasures: [], holds: [{ hold, by: 'user:ann' }], retention: { days: 3650 } })
  expect(held.run.retention.erasedFrom).toMatch(/^2036-/)
})
