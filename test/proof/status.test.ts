import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { metricText } from '../../api/operations/metrics/metric.ts'
import { proofMetrics } from '../../api/operations/metrics/metrics.ts'
import { proofStatus } from '../../api/operations/proof/status.ts'
import type { Services } from '../../api/operations/services.ts'
import { NO_TELEMETRY } from '../../api/operations/telemetry/services.ts'
import { NO_WEBHOOKS } from '../../api/operations/webhooks/services.ts'
import { ANCHOR_KEEPERS } from '../../api/process/host/anchor-keepers.ts'
import { headsAhead } from '../../api/process/host/losses/find-loss.ts'
import type { AnchorKeeper } from '../../domain/ports/proof.ts'
import { PROOF_ID, proof } from '../../domain/proof/kind.ts'
import { LogAnchors } from '../../domain/proof/runtime/anchors.ts'
import { standing } from '../support/time/standing-clock.ts'
import { signedLog } from './support.ts'

type World = Awaited<ReturnType<typeof signedLog>>

/** The services that the status reads, over a world. `ms`: the time, since the epoch. */
function services({ log, store }: World, ms: number, anchors: readonly object[] = []): Services {
  const read = { rows: async () => ({ position: null, value: { anchors, vkey: null } }) }
  const shown = { store, keepers: ANCHOR_KEEPERS, signing: () => null }
  return {
    log,
    read,
    proof: shown,
    clock: standing(ms),
    webhooks: NO_WEBHOOKS,
    telemetry: NO_TELEMETRY,
    consumers: { list: async () => [] },
  } as unknown as Services
}

const metricsText = async (s: Parameters<typeof proofMetrics>[0]) => (await proofMetrics(s)).map(metricText).join('')

test('a log is late when no head covers an event for a minute, and says why', async () => {
  await using world = await signedLog()
  await world.write(3)
  const { size } = await world.signer.sign()
  const now = Date.UTC(2026, 0, 1)
  expect(await proofStatus(services(world, now))).toMatchObject({
    ...{ unsigned: 0, unsignedSince: null, late: false, head: { size } },
  })
  await world.write(2)
  const since = (await world.events()).at(-2)!.header.timestamp
  const at = Date.parse(since)
  expect(await proofStatus(services(world, at + 60_000))).toMatchObject({
    ...{ unsigned: 2, unsignedSince: since, late: false },
  })
  await world.store.report('signer', { message: 'no room', at: Date.UTC(2030, 0, 1) })
  const late = services(world, at + 90_000)
  expect(await proofStatus(late)).toMatchObject({ unsignedSince: since, late: true, why: 'no room' })
  expect(await metricsText(late)).toContain('\nkeepup_log_unsigned_seconds 90\n')
  expect(await metricsText(late)).toContain('\nkeepup_log_signing_failed 1\n')
  await world.store.report('signer', { message: 'no room', at })
  await world.signer.sign()
  expect(await proofStatus(late)).not.toHaveProperty('why')
  expect(await proofStatus(late)).toMatchObject({ unsignedSince: null, late: false })
})

test('a log that does not continue its tree is not signed, and says so', async () => {
  await using world = await signedLog()
  await using other = await signedLog()
  await world.write(9)
  await world.signer.sign()
  await other.write(3)
  const found = await proofStatus(services({ ...world, log: other.log }, Date.UTC(2030, 0, 1)))
  expect(found).toMatchObject({ unsigned: null, late: true, why: expect.stringContaining('does not continue') })
})

test('the gauges tell of each anchor when it last kept a head, and whether it failed since', async () => {
  await using world = await signedLog()
  const row = (anchor: string, size: number | null, anchored_at: string | null) => ({
    ...{ anchor, kind: 'folder', target: '/a', size, anchored_at },
  })
  await world.store.report('anchor:gone', { message: 'no such folder', at: 5 })
  const rows = [row('disk', 7, '2026-01-01T00:00:01.000Z'), row('gone', null, null)]
  const text = await metricsText(services(world, Date.UTC(2026, 0, 1, 0, 1, 31), rows))
  for (const line of [
    'keepup_proof_last_anchor_seconds 90',
    'keepup_anchor_size{anchor="disk",kind="folder"} 7',
    'keepup_anchor_success_timestamp_seconds{anchor="disk",kind="folder"} 1767225601',
    'keepup_anchor_failed{anchor="disk",kind="folder"} 0',
    'keepup_anchor_failed{anchor="gone",kind="folder"} 1',
  ])
    expect(text.split('\n')).toContain(line)
  expect(text).not.toContain('size{anchor="gone"')
  const none = services(world, 0, [row('gone', null, null)])
  expect(await metricsText(none)).not.toContain('\nkeepup_proof_last_anchor_seconds ')
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) keepup_\w+ .+|keepup_\w+(\{[\w"=,]+\})? [\d.]+)$/)
})

test('an anchor that does not answer delays neither signatures nor the end', async () => {
  await using world = await signedLog()
  const { signer, streams, store } = world
  const silent: AnchorKeeper = { keep: () => new Promise(() => {}) }
  const alarm = (_: number, ring: () => void) => {
    const set = setImmediate(ring)
    return () => clearImmediate(set)
  }
  const clock = { ...standing(), alarm }
  const anchors = new LogAnchors({
    ...{ signer, store, streams, clock, everyMs: null, warn: () => {} },
    keepers: { ...ANCHOR_KEEPERS, folder: silent },
    random: { bytes: (length) => new Uint8Array(length) },
  })
  await signer.sign()
  const as = { kind: 'folder', target: '/silent' } as const
  const by = { kind: 'user', id: 'ann' } as const
  await streams.submit(proof, PROOF_ID, { kind: 'add', anchor: 'disk', as }, { by, commandId: 'add' })
  void anchors.now()
  await world.write(3)
  expect((await signer.sign()).size).toBe((await world.events()).length)
  await anchors.close()
})

test('a damaged stored tree prevents no start, and the status says what to do', async () => {
  await using world = await signedLog()
  await world.write(3)
  const { size } = await world.signer.sign()
  const db = new DatabaseSync(world.tree)
  db.exec(`UPDATE tree SET edge = x'00'`)
  db.close()
  expect(await headsAhead(world.log, world.store)).toBeUndefined()
  expect(await proofStatus(services(world, Date.UTC(2026, 0, 1)))).toMatchObject({
    ...{ unsigned: null, head: { size } },
    why: expect.stringContaining('rebuildProofTree'),
  })
})
