import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { firstMessage } from '../../../adapters/threads/first-message.ts'
import { tempFolder } from '../../support/folders.ts'

const never = new AbortController().signal
const thread = (text: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'; ${text}`)}`,
  )

test('gives the first message, and ends the thread, which would go on', async () => {
  const file = thread(
    'parentPort.on("message", () => {}); parentPort.postMessage(workerData + 1); parentPort.postMessage(0)',
  )
  expect(await firstMessage(file, 41, never)).toBe(42)
})

test('a thread uses the cache of compiled code, and gets no other variable', async () => {
  process.env.NAME_OF_A_SECRET = 'a secret'
  onTestFinished(() => {
    delete process.env.NAME_OF_A_SECRET
  })
  enableCompileCache(tempFolder())
  const file = thread(
    'const { getCompileCacheDir } = process.getBuiltinModule("node:module"); parentPort.postMessage([getCompileCacheDir(), Object.keys(process.env)])',
  )
  const [cache, names] = await firstMessage<[string, string[]]>(file, null, never)
  // The last part of the path also depends on the flags of V8, which another test may have set.
  expect([dirname(cache), names]).toEqual([dirname(getCompileCacheDir()!), ['NODE_COMPILE_CACHE']])
})

test('is given up also where the thread waits within a call of the system, which does not end with it', async () => {
  // First the pipe gets another end, then it goes, then the end: the thread waits for nothing, whenever it comes to it.
  let end = -1
  onTestFinished(() => closeSync(end))
  const pipe = join(tempFolder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  onTestFinished(() => {
    end = openSync(pipe, 'r+')
  })
  const reading = new SharedArrayBuffer(4)
  const file = thread(
    'const { openSync } = process.getBuiltinModule("node:fs"); new Int32Array(workerData.reading)[0] = 1; openSync(workerData.pipe)',
  )
  const stop = new AbortController()
  const answer = firstMessage(file, { pipe, reading }, stop.signal)
  while (Atomics.load(new Int32Array(reading), 0) === 0) await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
})

test('tells what has ended a thread that gave no answer', async () => {
  await expect(firstMessage(thread('throw new Error("broken")'), null, never)).rejects.toThrow('broken')
  await expect(firstMessage(thread('process.exit(3)'), null, never)).rejects.toThrow('ended with 3')
  await expect(firstMessage(thread(''), null, never)).rejects.toThrow('ended with 0')
})
