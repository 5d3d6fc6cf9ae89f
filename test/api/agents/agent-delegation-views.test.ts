// @module-tag git
import { expect, it } from 'vitest'
import { eraseRun } from '../../../api/operations/runs/erase-run.ts'
import { opened, otherAgent } from '../support/agent-delegation.ts'
import { inProcess } from '../support/cli.ts'

// A run that has delegated to another agent, in all that looks at runs: tree, bill, artifacts, proof, replay, forks, erasure.

async function delegated() {
  const { backend, starts } = otherAgent()
  const { lead, ...rest } = await opened([backend])
  const { runId } = await lead()
  expect(await rest.keepup.drive(runId)).toEqual({ end: 'done' })
  return { ...rest, starts, runId }
}

it('the tree, the bill and the artifacts show it, and what it has used is counted once', async () => {
  const { keepup, runId, data, sql } = await delegated()
  const [root, child] = (await keepup.getRunTree({ id: runId })).agents
  expect(root).toMatchObject({ agentId: runId, depth: 0 })
  expect(child).toMatchObject({ depth: 1, role: 'coder', status: 'completed', backend: 'other', ungoverned: true })
  expect(await sql('select id, total_nano_dollars as n, total_output_tokens as o from agent_lineage_totals')).toEqual(
    expect.arrayContaining([
      { id: runId, n: 5_000, o: expect.any(Number) },
      { id: child!.agentId, n: 5_000, o: 20 },
    ]),
  )
  expect(await sql('select agent_id, artifact_id, registered_with, content from artifacts')).toEqual([
    { agent_id: child!.agentId, artifact_id: 'final_text', registered_with: runId, content: 'It is written.' },
  ])
  const shown = await inProcess(['--data', data, 'tree', runId])
  expect(shown.out).toMatch(/other.*ungoverned|ungoverned.*other/s)
  const bill = await inProcess(['--data', data, 'cost'])
  // The line of its model, and the sum.
  expect(bill.out).toMatch(/^m .*0\.000005/m)
  expect([bill.code, bill.out.match(/\$0\.00000\d/g)]).toEqual([0, ['$0.000005', '$0.000005']])
})

it('verify proves both streams, and replay starts nothing', async () => {
  const { keepup, runId, data, starts } = await delegated()
  const { ok, agents } = await keepup.verifyRun({ id: runId })
  expect([ok, agents.length]).toEqual([true, 2])
  const { code, out } = await inProcess(['--data', data, 'replay', runId])
  expect([code, out]).toEqual([0, expect.stringContaining('DONE')])
  expect(starts).toHaveLength(1)
})

it('a fork goes on from the recorded end of the other agent, and one that reuses takes it', async () => {
  const { keepup, runId, starts, events } = await delegated()
  const after = (await events()).find(({ type }) => type === 'child_ended')!.revision
  for (const more of [{}, { reuse: true }]) {
    const { runId: fork } = await keepup.fork(runId, { at: { revision: more.reuse ? 2 : after + 1 }, ...more } as never)
    expect(await keepup.drive(fork)).toEqual({ end: 'done' })
    expect((await keepup.verifyRun({ id: fork })).ok).toBe(true)
  }
  expect(starts).toHaveLength(1)
  expect((await events()).filter(({ type }) => type === 'external_started')).toHaveLength(1)
})

it('erasing the run empties what was said to the other agent and by it, and the proof stays', async () => {
  const { keepup, runId, sql, events } = await delegated()
  const what = { all: true as const, reason: 'private' }
  await eraseRun(keepup.services, runId, { what, by: 'ada', options: {} })
  const left = JSON.stringify(await events())
  for (const word of ['code it', 'It is written.', 'I look.']) expect(left).not.toContain(word)
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
  await keepup.services.read.current()
  expect(await sql('select * from artifacts')).toEqual([])
})
