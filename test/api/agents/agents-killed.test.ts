import { expect, onTestFinished, test } from 'vitest'
import { systemRandom } from '../../../api/process/host/random.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { bodyOf, openWorld } from '../support/http.ts'

test('a run of another agent whose process was killed is interrupted', async () => {
  const world = await openWorld()
  onTestFinished(() => world.close())
  const { log, blobs, clock } = world.services
  const runs = new StreamExternalLog({ log, blobs, clock, random: systemRandom, build: 'test' })
  const request = { prompt: 'go' }
  const { agentId } = await runs.begin({ kind: 'start', backend: 'fake', request, capabilities: ['agent_api.run'] })
  const { run } = await bodyOf<{ run: object }>(await world.ask('GET', `/v1/runs/${agentId}`))
  expect(run).toMatchObject({ status: 'active', driving: false, interrupted: true })
})
