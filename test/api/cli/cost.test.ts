import { afterAll, describe, expect, it } from 'vitest'
import { momentOf } from '../../../api/operations/moment.ts'
import { cliFolder, idIn } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

describe('what runs made, and what they cost', { timeout: 60_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('artifacts lists and shows them, and marks those that were only named', { tags: ['git'] }, async () => {
    const how = ['--tools', 'write_file', '--approve', 'write_file']
    const id = idIn((await folder.look('run', 'write it', '-w', folder.workspace(), ...how)).err)
    const claims = idIn((await folder.look('run', 'claim it', '-w', folder.workspace(), ...how)).err)
    const list = await folder.look('artifacts', id)
    expect(list.out).toMatch(/^ARTIFACT +TYPE +SIZE +REGISTERED +PATH OR TITLE\n\S+ +file +6 B +\S+Z +hello\.txt\n$/)
    expect((await folder.look('artifacts')).out.trim().split('\n')).toHaveLength(3)
    const [row] = JSON.parse((await folder.look('-o', 'json', 'artifacts', claims)).out)
    const name = `${row.agentId}/${row.artifact.id}`
    expect((await folder.look('artifacts', claims)).out).toMatch(/ claimed, not there .* nowhere\.txt$/m)
    const shown = await folder.look('artifacts', 'show', name)
    expect(shown.out).toMatch(/^path +nowhere\.txt$/m)
    expect(shown.err).toContain('there was no such file')
    const unknown = await folder.look('artifacts', 'show', `${id}/nothing`)
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('there is no artifact')])
  })

  it('cost sums by model, role, day and tool, and says what that means', async () => {
    const id = idIn((await folder.look('run', 'finish', '--no-workspace', '--role', 'coder')).err)
    for (const [by, name] of [
      ['model', folder.env.KEEPUP_MODEL.slice(0, 20)],
      ['role', 'Coder'],
      ['day', new Date().toISOString().slice(0, 4)],
      ['tool', 'complete_task'],
    ] as const) {
      const { code, out } = await folder.look('cost', '--by', by, '--run', id)
      expect([code, out]).toEqual([0, expect.stringContaining(name)])
      expect(out).toMatch(/^total +\$0\.0000 +\d+ +\d+ +\d+$/m)
    }
    const none = JSON.parse((await folder.look('-o', 'json', 'cost', '--since', '9999-01-01')).out)
    expect([none.rows, none.total.modelCalls]).toEqual([[], 0])
    expect((await folder.look('cost', '--help')).out.replace(/\s+/g, ' ')).toContain(
      'counts in full for each tool that it called',
    )
    expect((await folder.look('cost', '--since', 'yesterday')).code).toBe(2)
  })

  it('and over HTTP', async () => {
    const world = await openWorld()
    try {
      const id = await world.driven('finish')
      const cost = await bodyOf<{ by: string; rows: object[] }>(await world.ask('GET', `/v1/cost?by=tool&run=${id}`))
      expect(cost).toMatchObject({ by: 'tool', rows: [{ name: 'complete_task', modelCalls: 1 }] })
      const causes = await bodyOf<{ rows: object[] }>(
        await world.ask('GET', `/v1/cost/causes?run=${id}&since=2026-01-01`),
      )
      expect(causes.rows).toMatchObject([{ cause: 'answer', tool: '', calls: 1, usd: 0, unpricedCalls: 0 }])
      expect(
        (await bodyOf<{ rows: object[] }>(await world.ask('GET', '/v1/cost/causes?since=2099-01-01'))).rows,
      ).toEqual([])
      expect((await world.ask('GET', '/v1/cost?since=yesterday')).status).toBe(400)
      expect((await bodyOf<{ rows: object[] }>(await world.ask('GET', '/v1/cost?since=2026-01-01'))).rows).toHaveLength(
        1,
      )
    } finally {
      await world.close()
    }
  })
})

it('an instant may be said as a day, or as how long ago', () => {
  const now = Date.UTC(2026, 10, 10)
  expect(['7d', '12h', '2026-11-01', '2026-11-01T12:00:00+02:00'].map((text) => momentOf(text, now))).toEqual([
    '2026-11-03T00:00:00.000Z',
    '2026-11-09T12:00:00.000Z',
    '2026-11-01T00:00:00.000Z',
    '2026-11-01T10:00:00.000Z',
  ])
  expect(momentOf('soon', now)).toBeNull()
})
