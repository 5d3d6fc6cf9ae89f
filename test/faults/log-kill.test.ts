import { expect, test } from 'vitest'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { startLogChild } from '../support/child.ts'
import { tempFolder } from '../support/folders.ts'

test('killed amid many appends, nothing acknowledged is lost and every chain holds', async () => {
  const folder = tempFolder()
  const acked = new Map<string, { revision: number; hash: string }>()
  for (const [round, kills] of [40, 150, 333].entries()) {
    const child = startLogChild('many', folder, `r${round}`, '100000')
    let count = 0
    for await (const line of child.lines) {
      // Acknowledgements sent before the kill count, also those read after it.
      const [, stream, revision, hash] = /^ack (\S+) (\d+) (\w{64})$/.exec(line) ?? []
      if (stream && revision && hash) acked.set(`${stream}@${revision}`, { revision: Number(revision), hash })
      if (++count === kills) child.process.kill('SIGKILL')
    }
    expect((await child.ended).end).toBe('SIGKILL')
    expect(count).toBeGreaterThanOrEqual(kills)

    const log = await openSqliteLog({ folder, mode: round === 1 ? 'reader' : 'owner' })
    const found = new Map<string, string>()
    for await (const names of log.streams('agent-'))
      for (const name of names) {
        const verifier = new StreamVerifier(name)
        for await (const page of log.read(name)) {
          verifier.page(page)
          for (const { header, hash } of page) found.set(`${name}@${header.revision}`, hash)
        }
        expect(verifier.result().problems).toEqual([])
        // Batches hold two events: all or nothing.
        expect(verifier.result().events % 2).toBe(0)
      }
    for (const [place, { hash }] of acked) expect(found.get(place), place).toBe(hash)
    await log.close()
  }
  expect(acked.size).toBeGreaterThan(500)
})

test('an owner that is killed gives the log free; one that lives keeps it', async () => {
  const folder = tempFolder()
  const child = startLogChild('hold', folder)
  for await (const line of child.lines) {
    expect(line).toBe('ready')
    break
  }
  await expect(openSqliteLog({ folder, mode: 'owner' })).rejects.toMatchObject({ code: 'LOG_LOCKED' })
  child.process.kill('SIGKILL')
  await child.ended
  await (await openSqliteLog({ folder, mode: 'owner' })).close()
})
