import { afterAll, describe, expect, it } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, started, services } = world

describe('a run whose models have all failed', () => {
  it('is shown as one that waits for its model, alone and in lists, and is cancelled at once', async () => {
    const retry = { maxRetries: 0, backoffMs: 60_000 }
    const id = await started('an outage', { retry })
    const shown = async () => (await bodyOf<{ run: { waiting: unknown } }>(await ask('GET', `/v1/runs/${id}`))).run
    await expect.poll(async () => (await shown()).waiting).toEqual([{ for: 'model', agentId: id, toolCallId: null }])
    const { runs } = await bodyOf<{ runs: { runId: string; waiting: unknown }[] }>(await ask('GET', '/v1/runs'))
    expect(runs.find(({ runId }) => runId === id)?.waiting).toEqual([{ for: 'model', agentId: id, toolCallId: null }])
    const spec = (await services.runtime.at(id, null)).state.spec
    expect(spec.retry.modelOutageMs).toBe(3_600_000)
    await ask('POST', `/v1/runs/${id}/cancel`, { body: {} })
    await services.drivers.ended(id)
    expect(await shown()).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' }, waiting: [] })
  })
})
