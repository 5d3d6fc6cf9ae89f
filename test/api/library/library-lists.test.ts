import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentState, type KeepUp, openKeepUp } from '../../../api/index.ts'
import { OPERATIONS } from '../../../api/operations/table.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, scripts, by: 'ada' })
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }
const scripts = {
  done: { script: 1 as const, turns: [{ text: 'It is simple.', ...done }] },
  writes: {
    script: 1 as const,
    turns: [{ calls: [{ tool: 'write_file', arguments: { path: 'a', content: 'b' } }] }, done],
  },
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}

const start = (more: object = {}) => keepup.start({ task: 'go', model: 'scripted:done', ...more })

describe('the library', () => {
  it('lists runs page after page, by the names of HTTP, and reads no further page than is asked for', async () => {
    const ids: string[] = []
    for (let i = 0; i < 103; i++) ids.push((await start({ by: i % 2 ? 'bob' : 'ada' })).runId)
    expect((await all(keepup.runs())).map((run) => run.runId)).toEqual(ids.toReversed())
    expect(await all(keepup.runs({ person: 'bob', since: '1h' }))).toHaveLength(51)
    expect(await all(keepup.runs({ over: 0.5 }))).toEqual([])
    for await (const run of keepup.runs()) {
      expect(run).toMatchObject({ runId: ids.at(-1), machineState: 'IDLE', waiting: [], total: { usd: 0 } })
      break
    }
    expect((await all(keepup.runs({ limit: 2 }))).map(({ runId }) => runId)).toEqual(ids.slice(-2).reverse())
    expect(await all(keepup.runs({ limit: 500 }))).toHaveLength(ids.length)
    await expect(all(keepup.runs({ limit: 0.5 }))).rejects.toThrow(/^limit: expected a whole number/)
    await expect(all(keepup.runs({ since: 'soon' }))).rejects.toThrow(/^since: expected a time/)
  })

  it('has every operation as a method, which takes numbers in paths and queries and names an unknown member', async () => {
    for (const { name } of OPERATIONS) expect(keepup).toHaveProperty(name, expect.any(Function))
    const { runId } = await start()
    await keepup.drive(runId)
    expect((await keepup.getCheckpoint({ id: runId, step: 1 })).checkpoint.step).toBe(1)
    expect((await keepup.listRunEvents({ id: runId, limit: 2 })).events).toHaveLength(2)
    await expect(keepup.getRun({ id: runId, colour: 'red' } as never)).rejects.toThrow(
      'getRun takes no "colour"; give id',
    )
    const { runId: asked } = await keepup.startRun({ task: 'go', model: 'scripted:done', drive: false }, { key: 'k' })
    expect((await keepup.startRun({ task: 'go', model: 'scripted:done', drive: false }, { key: 'k' })).runId).toBe(
      asked,
    )
    expect((await all(keepup.runs({ person: 'ada' }))).map((run) => run.runId)).toEqual([asked, runId])
  })

  it('lists approvals, answers with what a start answers, and forks', { tags: ['git'] }, async () => {
    const { runId, ...started } = await start({ model: 'scripted:writes', workspace: folders.ws })
    expect(started).toMatchObject({ agentId: runId, created: true, driving: false, workspace: folders.ws })
    expect(await keepup.drive(runId)).toMatchObject({ end: 'waiting', for: 'approval' })
    const [approval] = await all(keepup.approvals({ run: runId }))
    expect(approval).toMatchObject({ toolCallId: `${runId}.t1.c0`, state: 'pending', toolName: 'write_file' })
    expect(await all(keepup.approvals({ state: 'approved' }))).toEqual([])
    await expect(all(keepup.approvals({ run: 'no-such' }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const decide = { kind: 'decide_approval', toolCallId: `${runId}.t1.c0`, decision: 'approved' } as const
    await expect(keepup.say(runId, decide)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('questionHash'),
    })
    const { questionHash, preview } = await keepup.getApproval({ toolCallId: decide.toolCallId })
    expect(preview.files).toEqual([{ path: expect.any(String), content: 'absent' }])
    await keepup.say(runId, { ...decide, questionHash })
    expect(await keepup.drive(runId)).toEqual({ end: 'done' })
    const fork = await keepup.fork(runId, { at: { step: 1 }, key: 'k' })
    expect(fork).toMatchObject({ created: true, driving: false, workspace: expect.stringMatching(/^\//) })
    expect(await keepup.fork(runId, { at: { step: 1 }, key: 'k' })).toEqual({ ...fork, created: false })
    await expect(keepup.say(runId, { kind: 'pause' }, { by: 'x'.repeat(201) })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })

  it("proves a run, rebuilds what its model was asked, and shows seed 003's state of an agent", async () => {
    const { runId } = await start({ contextVariables: { ticket: 7 } })
    await keepup.drive(runId)
    expect(await keepup.verifyRun({ id: runId })).toMatchObject({ runId, ok: true, agents: [{ agentId: runId }] })
    await expect(keepup.verifyRun({ id: 'no-such' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const [request] = await keepup.requests(runId, 1)
    expect(request).toMatchObject({ attempt: 1, request: { messages: [{ role: 'user', content: 'go' }] } })
    const state: AgentState = await keepup.agent(runId)
    expect(state).toMatchObject({
      id: runId,
      role: '',
      status: 'completed',
      sopPhase: '',
      history: [{ role: 'user', content: 'go' }, {}, {}],
      contextVariables: { ticket: 7 },
      usage: { cost: 0 },
    })
    expect((await keepup.agent(runId, { step: 0 })).status).toBe('active')
  })
})
