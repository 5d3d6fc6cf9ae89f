// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { pendingApprovals } from '../../../api/cli/ask/ask-person.ts'
import { clientOf } from '../../../api/cli/client.ts'
import { questionHash } from '../../../domain/calls/question-hash.ts'
import { bodyOf, eventsIn, openWorld, TOKEN } from '../support/http.ts'
import { giveSign } from '../support/script.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, started, driven, services } = world

describe('approvals', () => {
  it('show the diff, bind to the arguments, and are decided once', async () => {
    const id = await driven('write it', { workspace: world.workspace() })
    const waiting = await bodyOf(await ask('GET', `/v1/approvals?run=${id}`))
    expect(waiting.approvals).toHaveLength(1)
    const { toolCallId } = (waiting.approvals as { toolCallId: string }[])[0]!
    const shown = await bodyOf(await ask('GET', `/v1/approvals/${toolCallId}`))
    expect(shown.preview).toMatchObject({ kind: 'diff', text: expect.stringContaining('+hello') })
    const decide = async (hash: string) => {
      const body = { decision: 'approved', questionHash: hash, by: 'ada' }
      const response = await ask('POST', `/v1/approvals/${toolCallId}`, { body })
      const { code, detail } = await bodyOf(response)
      return [response.status, code, detail]
    }
    expect((await decide('0'.repeat(64))).slice(0, 2)).toEqual([409, 'QUESTION_CHANGED'])
    expect((await decide(shown.questionHash as string))[0]).toBe(200)
    const repeated = [409, 'APPROVAL_NOT_PENDING', `${toolCallId} was already approved by ada`]
    expect(await decide(shown.questionHash as string)).toEqual(repeated)
    expect(services.drivers.state(id).driving).toBe(false)
    const decided = (await eventsIn(services, id)).at(-1)!
    expect(decided.header.actor).toEqual({ kind: 'approver', id: 'ada', claimed: true })
    expect((await bodyOf(await ask('GET', `/v1/approvals?run=${id}`))).approvals).toEqual([])
    const { events } = await bodyOf<{ events: object[] }>(await ask('GET', `/v1/runs/${id}/events`))
    expect(events.at(-1)).toMatchObject({ type: 'approval_decided', agentId: 'user:ada', turn: 0, toolCallId })
    await ask('POST', `/v1/runs/${id}/cancel`, { body: {} })
    expect(await decide(shown.questionHash as string)).toEqual(repeated)
  })

  it('show which secret goes where, and the answer is for this place', async () => {
    const value = 'deploy-key-0815'
    expect((await ask('PUT', '/v1/secrets/DEPLOY', { body: { value } })).status).toBe(200)
    const writes = { calls: [{ tool: 'write_file', arguments: { path: 'key.txt', content: `key: ${value}` } }] }
    const script = join(world.root, 'secret.json')
    writeFileSync(script, JSON.stringify({ script: 1, model: 'secret', turns: [writes] }))
    const workspace = world.workspace()
    const id = await driven('go', {
      workspace,
      model: `scripted:${script}`,
      secrets: ['DEPLOY', 'DEPLOY=@host:a.example'],
    })
    const path = `/v1/approvals/${id}.t1.c0`
    const shown = await bodyOf<{ approval: object; preview: { notes: string[] }; questionHash: string }>(
      await ask('GET', path),
    )
    expect(shown.approval).toMatchObject({ secrets: [{ name: 'DEPLOY', to: 'file key.txt' }] })
    expect(shown.preview.notes).toContain('The value of the secret "DEPLOY" goes to: file key.txt.')
    const { argumentsHash, expiresAt } = shown.approval as { argumentsHash: string; expiresAt: string }
    const asked = { for: 'approval', toolCallId: `${id}.t1.c0`, argumentsHash, asked: expiresAt } as const
    const files = [{ path: 'key.txt', content: 'absent' as const }]
    const decide = async (hash: string) =>
      (await ask('POST', path, { body: { decision: 'approved', questionHash: hash } })).status
    expect(await decide(questionHash(asked, files))).toBe(409)
    expect(await decide(questionHash(asked, files, [{ name: 'DEPLOY', to: 'file other.txt' }]))).toBe(409)
    expect(await decide(shown.questionHash)).toBe(200)
  })

  it.each([
    ['DEPLOY=@host:https://a.example', 'name one host exactly'],
    ['DEPLOY=@agent:claude', 'NAME=@command:PROGRAM'],
  ])('are not asked for a run with the grant %s, whose right form is told', async (grant, told) => {
    const response = await ask('POST', '/v1/runs', { body: { task: 'go', secrets: [grant] } })
    expect(response.status).toBe(400)
    expect(JSON.stringify(await bodyOf(response))).toContain(told)
  })

  it('are listed page by page, and nothing is read for those of other pages', async () => {
    const many = await openWorld()
    const fetch = async (request: Request) => {
      request.headers.set('authorization', `Bearer ${TOKEN}`)
      return many.http.fetch(request)
    }
    const client = clientOf({ fetch }, () => {})
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push(await many.driven('write it', { workspace: many.workspace() }))
    const calls = ids.map((id) => `${id}.t1.c0`)
    expect((await pendingApprovals(client, 2)).map((one) => one.toolCallId)).toEqual(calls)
    for (const call of calls) await many.answer(call, { decision: 'approved' })
    expect(await pendingApprovals(client, 2)).toEqual([])
    interface Page {
      approvals: { toolCallId: string; state: string; arguments: object }[]
      next: string | null
    }
    const list = async (query: string) => bodyOf<Page>(await many.ask('GET', `/v1/approvals?${query}`))
    const reads = vi.spyOn(many.services.log, 'read')
    const first = await list('state=approved&limit=1')
    expect(first.approvals).toMatchObject([
      { toolCallId: calls[0], state: 'approved', arguments: { path: 'hello.txt' } },
    ])
    expect(new Set(reads.mock.calls.map(([stream]) => stream))).toEqual(new Set([`agent-${ids[0]}`]))
    const rest = await list(`state=approved&after=${first.next}`)
    expect(rest).toMatchObject({ approvals: [{ toolCallId: calls[1] }, { toolCallId: calls[2] }], next: null })
    expect((await many.ask('GET', '/v1/approvals?after=x')).status).toBe(400)
    await many.close()
  })

  it('wake their run where the process drives by itself', async () => {
    const serving = await openWorld({ autoDrive: true })
    const id = await serving.driven('write it', { workspace: serving.workspace() })
    await serving.answer(`${id}.t1.c0`, { decision: 'rejected' })
    await serving.services.drivers.ended(id)
    expect(serving.services.drivers.state(id).end).toEqual({ end: 'done' })
    const { run } = await bodyOf<{ run: object }>(await serving.ask('GET', `/v1/runs/${id}`))
    expect(run).toMatchObject({ summary: 'write rejected' })
    await serving.close()
  })
})

it('what two runs want of one folder is refused to the second, until the first has ended', async () => {
  const workspace = world.workspace()
  const first = await started('wait', { workspace })
  const second = await driven('wait too', { workspace })
  expect(services.drivers.state(second).end).toMatchObject({ end: 'fault', code: 'WORKSPACE_BUSY' })
  const restore = await ask('POST', `/v1/runs/${first}/restore`, { body: { step: 0 } })
  expect([restore.status, (await bodyOf(restore)).code]).toEqual([409, 'WORKSPACE_BUSY'])
  giveSign(workspace)
  await services.drivers.ended(first)
  await ask('POST', `/v1/runs/${second}/resume`, { body: {} })
  await services.drivers.ended(second)
  expect(services.drivers.state(second).end).toEqual({ end: 'done' })
})
