// @module-tag git
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createUnconfined } from '../../adapters/sandbox/unconfined.ts'
import { openWorkspace } from '../../adapters/workspace/open.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { RoleDefinition } from '../../domain/tree/spec.ts'
import { freshFolders } from '../support/folders.ts'
import { call, calls, completes } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { given, type Said, tool } from '../support/story.ts'

// Gates that run a command of the user's (CONTRACTS 10): exit code 0 holds, the output is the evidence.

const REAL: Clock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal ? { signal } : {}) }),
}
const KEY = 'a-known-value-77'
const SECRETS = { ...NO_SECRETS, text: (text: string) => text.replaceAll(KEY, 'secret:hidden') }

async function gated(gates: RoleDefinition['qualityGates'], says: readonly Said[]) {
  const { ws, data, remove } = freshFolders()
  onTestFinished(remove)
  const workspace = await openWorkspace(ws, { dataFolder: data })
  const close = async () => undefined
  const sandbox = await createUnconfined({ workspace: workspace.path, dataFolder: data, driverId: 'd' })
  const phases = [
    { name: 'one', allowedTools: ['look'] },
    { name: 'two', allowedTools: [] },
  ]
  const role = { name: 'R', profile: 'p', goal: 'g', phases, qualityGates: gates, maxReactLoop: 10 }
  const run = await given({
    says,
    tools: [tool('look')],
    spec: { role, workspace: { path: workspace.path, tree: await workspace.versions.snapshot() } },
    ports: { clock: REAL, environment: async () => ({ workspace, sandbox, secrets: SECRETS, reap: close, close }) },
  })
  return { ...run, ws, checks: async () => (await run.of('gate_checked')).map(({ body }) => body) }
}

const sh = (script: string, more: object = {}) => ({ after: 'one', check: 'lint', argv: ['sh', '-c', script], ...more })
const advance = calls(call('advance_phase', { summary: 's' }))
const again = calls(call('advance_phase', { summary: 'once more' }))

test('exit code 0 lets the phase be left; the output, without secrets, is the evidence', async () => {
  const run = await gated([sh(`pwd; echo ${KEY}`)], [advance, completes()])
  expect(await run.drive()).toEqual({ end: 'done' })
  const [check, ...more] = await run.checks()
  expect(more).toEqual([])
  expect(check).toMatchObject({ gate: 'lint', after: 'one', passed: true })
  expect(check?.evidence).toContain(`ended with exit code 0:\n${run.ws}\nsecret:hidden`)
  expect(check?.evidence).not.toContain(KEY)
})

test('another exit code keeps the phase, and the model reads the output', async () => {
  const run = await gated(
    [sh('test -e mended || { touch mended; echo "2 problems" >&2; exit 3; }')],
    [advance, again, completes()],
  )
  expect(await run.drive()).toEqual({ end: 'done' })
  expect(await run.ends()).toEqual(['advance_phase: GATE_FAILED', 'advance_phase: ok', 'complete_task: ok'])
  expect(await run.message(0)).toMatch(/exit code 3:\n2 problems/)
  expect((await run.checks()).map(({ passed }) => passed)).toEqual([false, true])
})

test('a command that takes longer than its limit is ended, and the gate does not hold', async () => {
  const run = await gated([sh('echo begun; sleep 600', { timeoutMs: 300 })], [advance, completes()])
  await run.drive()
  expect((await run.checks())[0]?.evidence).toMatch(/was ended at its time limit of 300 ms:\nbegun/)
})

test('complete_task runs the commands of gates that have not passed, one after the other', async () => {
  const gates = [
    sh('echo a >> order; sleep 0.2; echo b >> order'),
    sh('echo c >> order', { after: 'two', check: 'late' }),
  ]
  const run = await gated(gates, [completes()])
  expect(await run.drive()).toEqual({ end: 'done' })
  expect(readFileSync(join(run.ws, 'order'), 'utf8')).toBe('a\nb\nc\n')
})

test('a role with such a gate is refused where the run has no workspace', async () => {
  const qualityGates = [{ after: 'one', check: 'lint', argv: ['true'] }]
  const phases = [{ name: 'one', allowedTools: [] }]
  const role = { name: 'R', profile: 'p', goal: 'g', phases, qualityGates, maxReactLoop: 10 }
  await expect(given({ says: [completes()], spec: { role } })).rejects.toMatchObject({
    code: 'SPEC_REFUSED',
    message: expect.stringContaining('"lint" runs a command'),
  })
})
