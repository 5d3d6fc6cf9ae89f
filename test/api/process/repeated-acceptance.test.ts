import { expect, test } from 'vitest'
import { LossGate } from '../../../api/process/host/losses/loss-gate.ts'
import { type LossServices, lossesOf } from '../../../api/process/host/losses/losses-of-log.ts'
import { readAcceptedLosses } from '../../../domain/agent/runtime/losses.ts'
import { History } from '../../support/attacks/history.ts'
import { memoryTree } from '../../support/attacks/memory-tree.ts'
import { harness, USER } from '../../support/harness.ts'

test('an acceptance that is repeated after a crash records how many events the log kept', async () => {
  const history = new History()
  const { signer } = history.process()
  for (const store of ['a', 'b', 'c']) await history.set(store)
  await signer.sign()
  await signer.close()
  const events = await history.events()
  await history.restoreLog({ events: events.slice(0, -1) })
  const { log } = history
  const { ports } = harness(() => new Error('no run is driven here'), { log })
  /** Accepts as a new process does, which knows the loss by other evidence. */
  const accept = async (mark: LossServices['mark'], followed: () => Promise<void>) => {
    const services: LossServices = {
      ...{ log, mark, followed, read: null, tree: memoryTree(history.tree), gate: new LossGate(log, null) },
      accepting: (record) => record(),
    }
    const losses = lossesOf(services, ports)
    await losses.accept((await losses.look())!.id, USER)
  }
  const { position, hash } = events.at(-1)!
  const killed = accept({ position, hash }, () => Promise.reject(new Error('killed')))
  await expect(killed).rejects.toThrow('killed')
  await accept({ position: position + 1, hash }, async () => undefined)
  const kept = events.length - 1
  expect(await readAcceptedLosses(log)).toMatchObject([{ kept }, { kept }])
})
