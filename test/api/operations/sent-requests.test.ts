// @module-tag git
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, idIn } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

interface Sent {
  requests: { attempt: number; provider: string; model: string; body: { messages: unknown[]; system: string } }[]
}

describe('what a model was sent', { timeout: 60_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('is told over HTTP, turn by turn, with the hash that the log recorded', async () => {
    const world = await openWorld()
    try {
      const id = await world.driven('write', { workspace: world.workspace(), approve: ['write_file'] })
      const of = async (turn: number) => bodyOf<Sent>(await world.ask('GET', `/v1/runs/${id}/turns/${turn}/request`))
      const [first, second] = [await of(1), await of(2)]
      expect(first.requests).toMatchObject([{ attempt: 1, provider: 'scripted', model: world.model }])
      expect(first.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'write' }])
      expect(second.requests[0]?.body.messages).toHaveLength(3)
      const recorded = await bodyOf<{ events: { type: string; turn: number; payload: { request: object } }[] }>(
        await world.ask('GET', `/v1/runs/${id}/events?limit=500`),
      )
      const start = recorded.events.find(({ type, turn }) => type === 'model_call_start' && turn === 2)?.payload.request
      expect(start).toMatchObject({
        inputs: (second.requests[0] as unknown as { checked: { inputs: string } }).checked.inputs,
      })
      const none = await world.ask('GET', `/v1/runs/${id}/turns/9/request`)
      expect([none.status, (await bodyOf<{ code: string }>(none)).code]).toEqual([404, 'POINT_UNKNOWN'])
    } finally {
      await world.close()
    }
  })

  it('is printed whole, says that it was checked, and is refused where it was erased', async () => {
    const id = idIn((await folder.look('run', 'finish\u202e now', '--no-workspace')).err)
    const { code, out, err } = await folder.look('request', id, '--turn', '1')
    expect(code).toBe(0)
    expect(err).toMatch(/^checked: messages, prompt, tools and parameters have the hash that the event @\d+ recorded$/m)
    expect(err).toMatch(/^not checked: the JSON below, made from them with the settings for scripted of the process/m)
    expect(out).not.toContain('\u202e')
    expect(JSON.parse(out)).toMatchObject({ messages: [{ role: 'user', content: 'finish\u202e now' }] })
    const json = JSON.parse((await folder.look('-o', 'json', 'request', id, '--turn', '1')).out)
    expect(json.requests[0].body).toEqual(JSON.parse(out))
    const missing = await folder.look('request', id, '--turn', '1', '--attempt', '7')
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('turn 1 has no attempt 7; there are 1')])
    await folder.look('erase', id, '--revision', '1', '--reason', 'private', '--yes')
    const erased = await folder.look('request', id, '--turn', '1')
    expect(erased.code).toBe(1)
    expect(erased.err).toContain('something that came before it was erased (REQUEST_NOT_REBUILDABLE)')
  })
})
