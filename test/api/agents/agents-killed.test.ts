import { expect, onTestFinished, test } from 'vitest'
import { systemRandom } from '../../../api/process/host/random.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { bodyOf, openWorld } from '../support/http.ts'

test.each([
  ['works', false],
  ['asks a person', true],
])('a run of another agent whose process was killed while it %s is interrupted', async (_, asks) => {
  const world = await openWorld()
  onTestFinished(() => world.close())
  const { log, blobs, clock } = world.services
  const runs = new StreamExternalLog({ log, blobs, clock, random: systemRandom, build: 'test' })
  const request = { prompt: 'go' }
  const begun = await runs.begin({ kind: 'start', backend: 'fake', request, capabilities: ['agent_api.run'] })
  const { agentId } = begun
  const asked = { toolCallId: `${agentId}.t0.c0`, toolName: 'edit', input: {}, reason: 'to mend it' }
  if (asks) await begun.append([{ kind: 'permission', ...asked }])
  const { run } = await bodyOf<{ run: { waiting: object[] } }>(await world.ask('GET', `/v1/runs/${agentId}`))
  expect(run.waiting).toHaveLength(asks ? 1 : 0)
  expect(run).toMatchObject({ status: 'active', driving: false, interrupted: true })
})
