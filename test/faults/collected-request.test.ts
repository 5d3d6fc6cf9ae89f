import { createServer } from 'node:http'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { abortable } from '../../api/process/owner/abortable.ts'
import { remoteBackend } from '../../api/process/owner/remote.ts'
import { tempFolder } from '../support/folders.ts'

// A Request that was collected takes its signal's abort with it. A follower that waits for minutes must not hang on it.

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function collected(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await turn()
    collect()
  }
}

/** Sends a request to which only the callee keeps a reference. The answer is read to its end. */
async function readOn(answer: (asked: Request) => Promise<ReadableStream<Uint8Array>>, signal: AbortSignal) {
  const body = await answer(new Request('http://localhost/', { signal }))
  const reading = (async () => {
    for await (const _ of body);
  })()
  reading.catch(() => undefined)
  await collected()
  return reading
}

test('the body of a local answer breaks off also when its request was collected', async () => {
  const over = new AbortController()
  const source = Promise.withResolvers<Uint8Array>()
  const endless = new ReadableStream<Uint8Array>({ pull: async (c) => c.enqueue(await source.promise) })
  const reading = readOn(async (asked) => abortable(endless, asked), over.signal)
  await collected()
  over.abort(new Error('enough'))
  await expect(reading).rejects.toThrow('enough')
  expect(source.promise).toBeInstanceOf(Promise)
})

test("the body of an owner's answer breaks off also when its request was collected", async () => {
  const socketPath = join(tempFolder(), 's')
  const server = createServer((_, res) => void res.writeHead(200).flushHeaders())
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const backend = remoteBackend({ dataFolder: '/nowhere', socketPath, token: () => 't', timeoutMs: 60_000 })
  onTestFinished(() => backend.close())
  const over = new AbortController()
  const reading = readOn(async (asked) => (await backend.fetch(asked)).body!, over.signal)
  await collected()
  over.abort(new Error('enough'))
  await expect(reading).rejects.toThrow()
})
