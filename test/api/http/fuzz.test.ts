import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { ROLE_TABLE, ROLES, type Role } from '../../../domain/access/rights.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { type FuzzedRequest, fuzzedRequests, type OpenApi } from '../../support/fuzz-requests.ts'
import { bodyOf, openWorld, TOKEN } from '../support/http.ts'

// Requests generated from the OpenAPI document, with and without rights. `npm run test:fuzz` sends 50,000.

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 600)

const world = await openWorld()
afterAll(() => world.close())

const keys = new Map<Role, string>()
let requests: fc.Arbitrary<FuzzedRequest>

beforeAll(async () => {
  const runs = [await world.driven('finish'), await world.started('write a poem')]
  const stream = `agent-${runs[0]}`
  const { key } = await bodyOf<{ key: string }>(
    await world.ask('POST', '/v1/access', { body: { principal: 'the-admin' } }),
  )
  keys.set('admin', key)
  for (const role of ROLES) {
    if (role === 'admin') continue
    await world.ask('POST', '/v1/access/principals', { body: { principal: `the-${role}`, roles: [role] } })
    const made = await bodyOf<{ key: string }>(
      await world.ask('POST', `/v1/access/principals/the-${role}/keys`, { body: {} }),
    )
    keys.set(role, made.key)
  }
  const { documentId } = await bodyOf<{ documentId: string }>(
    await world.ask('POST', '/v1/documents', { body: { title: 'Plan', format: 'empty' } }),
  )
  const api = await bodyOf<OpenApi>(await world.ask('GET', '/v1/openapi.json'))
  const folders = [world.workspace(), `${world.root}/new`]
  requests = fuzzedRequests(api, {
    ...{ id: [...runs, documentId], run: runs, runId: runs, agent: runs, agentId: runs, other: runs, with: runs },
    ...{ stream: [stream, `document-${documentId}`, 'access-rights'], toolCallId: [`${runs[0]}.t1.c0`] },
    ...{ principal: ['someone', 'another'], key: ['00000000'], by: ['the-admin', 'ann'] },
    ...{ folder: folders, workspace: folders, target: folders, to: folders, path: ['a.txt'], workingDir: folders },
    ...{ model: [world.model], kind: ['keepup', 'none', 'folder', 'person'], sandboxed: [true] },
  })
})

type Sender = Role | 'nobody' | 'the token' | 'a stranger'
const senders = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Sender>('admin') },
  { weight: 4, arbitrary: fc.constantFrom<Sender>(...ROLES) },
  { weight: 2, arbitrary: fc.constantFrom<Sender>('nobody', 'the token', 'a stranger') },
)

const credential = (sender: Sender): string | undefined => {
  if (sender === 'nobody') return undefined
  if (sender === 'the token') return TOKEN
  return sender === 'a stranger' ? 'ku_key_00000000_nobody' : keys.get(sender)
}

/** Codes of answers with a status of 5xx that say what the person can do. */
const TOLD: ReadonlySet<string> = new Set(['BACKUP_FAILED', 'NOT_SIGNED', 'NO_SANDBOX', 'SANDBOX_UNAVAILABLE'])

let last: Cursor
/** The events since the last call. */
async function news(): Promise<RecordedEvent[]> {
  const { log } = world.services
  const now = await log.headCursor()
  const found: RecordedEvent[] = []
  if (now.position > last.position) {
    const over = new AbortController()
    for await (const page of log.subscribe(last, over.signal)) {
      found.push(...page)
      if ((page.at(-1)?.position ?? 0) >= now.position) break
    }
    over.abort()
    last = found.length === 0 ? now : log.cursor(found.at(-1)!)
  }
  return found
}

test('no request fails with an internal error, and none without its right changes the log', {
  timeout: 600_000,
}, async () => {
  last = await world.services.log.headCursor()
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(requests, senders, async ({ operation, right, method, path, headers, body }, sender) => {
      const bearer = credential(sender)
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { ...headers, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
        ...(body !== undefined && { body }),
      })
      const response = await world.http.fetch(request, OVER_NETWORK)
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      const type = response.headers.get('content-type') ?? ''
      const isProblem = response.status >= 400 && type.includes('json')
      const problem = isProblem ? ((await response.json()) as { code?: string }) : null
      if (!isProblem) await response.body?.cancel()
      const { code = null } = problem ?? {}
      if (response.status >= 500) expect([operation, code, TOLD.has(code ?? '')]).toEqual([operation, code, true])
      if (bearer !== undefined) expect(JSON.stringify(problem)).not.toContain(bearer)
      const rights: readonly string[] = ROLES.includes(sender as Role) ? ROLE_TABLE[sender as Role] : []
      const allowed = right === null || rights.includes(right)
      if (!allowed) expect([operation, [401, 403, 404].includes(response.status)]).toEqual([operation, true])
      const facts = (await news()).filter(({ header: { actor } }) => actor.kind === 'user' || actor.kind === 'approver')
      for (const { header } of facts)
        expect([operation, allowed, header.actor.id]).toEqual([operation, true, `the-${sender}`])
    }),
    { numRuns: REQUESTS, endOnFailure: true, verbose: 1 },
  )
  console.log(
    `${REQUESTS} requests: ${[...seen]
      .sort()
      .map(([status, n]) => `${n} × ${status}`)
      .join(', ')}`,
  )
  expect(world.faults).toEqual([])
})
