import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { AGENT_FOLD } from '../../domain/agent/state/digest.ts'
import type { Header, SealedEvent } from '../../domain/log/envelope.ts'
import { GENESIS, seal } from '../../domain/log/seal.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { given, longTool } from '../support/story.ts'

type Digest = NonNullable<Header['digest']>

/** A finished run in a log of its own, with the digests that another program would have recorded. */
async function recordedBy(other: (digest: Digest) => Digest) {
  const run = await given({ says: [completes()] })
  await run.drive()
  const stream = `agent-${run.runId}`
  const batch: SealedEvent[] = []
  for (const { header, body } of (await Array.fromAsync(run.log.read(stream))).flat()) {
    const digest = header.digest && { digest: other(header.digest) }
    batch.push(seal(batch.at(-1)?.hash ?? GENESIS, { ...header, ...digest }, body))
  }
  const log = new MemoryLog()
  await log.append(stream, -1, batch)
  const recorded = batch.flatMap(({ header }) => (header.digest === undefined ? [] : [header]))
  return { runId: run.runId, recorded, runtime: run.elsewhere({ log }) }
}

test('every digest of this fold is held against its state', async () => {
  const { runId, recorded, runtime } = await recordedBy((digest) => digest)
  expect(recorded.length).toBeGreaterThan(2)
  const counts = { digests: recorded.length, unchecked: 0 }
  expect(await runtime.verify(runId)).toMatchObject({ ok: true, problems: [], ...counts })
})

test('those after a body that is lost are told as not checked', async () => {
  const long = longTool('long', { effect: 'irreversible' })
  const run = await given({ says: [calls(call('long')), completes()], tools: [long] })
  await run.drive()
  const whole = await run.runtime.verify(run.runId)
  const [ended] = await run.of('tool_call_end')
  await run.ports.blobs.delete(run.runId, ended!.bodyHash)
  const proof = await run.runtime.verify(run.runId)
  expect(proof.problems).toMatchObject([{ revision: ended!.revision, code: 'BLOB' }])
  expect(proof.digests).toBeGreaterThan(0)
  expect(proof.unchecked).toBeGreaterThan(1)
  expect(proof.digests + proof.unchecked).toBe(whole.digests)
})

test('those of a newer fold are a problem, told once, and nothing is decided on such a state', async () => {
  const { runId, recorded, runtime } = await recordedBy(() => ({ fold: AGENT_FOLD + 6, value: 'ab'.repeat(32) }))
  const told = { revision: recorded[0]!.revision, code: 'DIGEST', message: expect.stringContaining('newer fold') }
  const counts = { digests: 0, unchecked: recorded.length }
  expect(await runtime.verify(runId)).toMatchObject({ ok: false, problems: [told], ...counts })
  const said = runtime.execute(runId, { kind: 'input', text: 'go on' }, { by: USER })
  await expect(said).rejects.toMatchObject({ code: 'LOG_NEWER', message: expect.stringContaining(`agent-${runId}@`) })
})
