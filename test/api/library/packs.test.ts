import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, by: 'ada', scripts: { done } })
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

const done = {
  script: 1 as const,
  turns: [{ text: 'It is simple.', calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }],
}

/** A run whose events stand between those of a store. */
async function run(): Promise<string> {
  const { runId } = await keepup.start({ task: 'go', model: 'scripted:done' })
  const store = keepup.contextStore('review')
  const setting = (async () => {
    for (let n = 0; n < 20; n++) await store.set('goal', n)
  })()
  await keepup.drive(runId)
  await setting
  return runId
}

describe('packs of the library', () => {
  it('are written and checked as streams: runs, periods and the whole log', async () => {
    const [first, second] = [await run(), await run()]
    // The time of an event: of two adjoining periods exactly one has it.
    const [{ timestamp: half } = { timestamp: '' }] = await Array.fromAsync(keepup.follow(second!))
    await run()
    const file = join(folders.data, '../run.pack')
    const sizes: number[] = []
    for (const choice of [{ runs: [first] }, { runs: [second, first] }, { since: half }, { until: half }, {}]) {
      await pipeline(keepup.pack(choice), createWriteStream(file))
      const { ok, events, problems, size } = await keepup.checkPack(createReadStream(file))
      expect([choice, ok, problems]).toEqual([choice, true, []])
      sizes.push(events, size!)
    }
    const [one, , two, , later, , earlier, , whole, size] = sizes
    expect([two! > one!, later! + earlier!, whole]).toEqual([true, size, size])
  })

  it('are checked against the keys of a policy, and refused when they are cut or altered', async () => {
    await run()
    const bytes = Buffer.concat(await Array.fromAsync(keepup.pack()))
    const policy = 'log other.example+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\nquorum none\n'
    const problemsOf = async (pack: Uint8Array, options = {}) =>
      (await keepup.checkPack(Readable.from([pack]), options)).problems.map(({ place }) => place)
    expect(await problemsOf(bytes)).toEqual([])
    expect(await problemsOf(bytes, { policy })).toEqual(['checkpoint'])
    const altered = Buffer.from(bytes)
    altered[altered.indexOf('"kind":"driver"') + 9]! ^= 1
    expect(await problemsOf(altered)).not.toEqual([])
    await expect(problemsOf(bytes.subarray(0, bytes.length / 2))).rejects.toThrow('it ends within a file')
  })

  it('are refused for an unknown run and for an unknown member', async () => {
    await expect(
      keepup
        .pack({ runs: ['nobody'] })
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(() => keepup.pack({ run: 'a' } as object)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }))
  })
})
