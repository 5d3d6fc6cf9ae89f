import { expect, test } from 'vitest'
import { externalBodies } from '../../domain/external/events.ts'
import { erasureEvents } from '../../domain/stream/erasure.ts'
import { newestOf, recorded } from '../support/golden/files.ts'

// Law 7 for the runs of other agents: their recorded histories are replayed with all others (7-golden-runs).

test('every type that is stored stands in a recorded history, which is folded and proved', () => {
  const all = recorded()
  const { told } = newestOf(all, 'external')!
  const texts = ['external', 'delegations', 'outside', 'seconded', 'reported', 'hosted'].map(
    (name) => newestOf(all, name)!.text,
  )
  const lines = texts.flatMap((text) => text.trim().split('\n')).filter((line) => line.includes('"stream":"external-'))
  const stored = new Set(lines.map((line) => (JSON.parse(line) as { header: { type: string } }).header.type))
  const erasures = Object.keys(erasureEvents)
  expect(Object.keys(externalBodies).filter((type) => !stored.has(type) && !erasures.includes(type))).toEqual([])
  for (const agent of ['works', 'cancelled', 'killed'])
    expect(told.agents[`external-${agent}`]).toMatchObject({ proof: { ok: true, problems: [] } })
})

test('a run that continues another one is recorded with the link, and its cost is its own', () => {
  const lines = newestOf(recorded(), 'continued')!.text.trim().split('\n')
  const bodies = (type: string) =>
    lines.flatMap((line) => {
      const { header, body } = JSON.parse(line) as { header: { type: string }; body: string }
      return header.type === type ? [JSON.parse(body)] : []
    })
  expect(bodies('external_started').map(({ continues }) => continues?.agentId)).toEqual([undefined, 'first'])
  expect(bodies('usage_reported').map(({ cost }) => cost)).toEqual([
    { nanoDollars: 6_000, scope: 'run' },
    { nanoDollars: 3_000, scope: 'run' },
  ])
})
