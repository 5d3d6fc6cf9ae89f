import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { streamResponse } from '../../../api/http/stream-response.ts'

/** A clock whose time passes when the test says so. */
function played() {
  let time = 0
  let sleepers: { readonly at: number; wake(): void }[] = []
  return {
    clock: {
      now: () => time,
      sleep: (ms: number) => new Promise<void>((wake) => void sleepers.push({ at: time + ms, wake })),
    },
    async pass(ms: number) {
      time += ms
      const due = sleepers.filter(({ at }) => at <= time)
      sleepers = sleepers.filter(({ at }) => at > time)
      for (const { wake } of due) wake()
      await turn()
    },
  }
}

it('speaks while its source is silent, and parts no pieces that the consumer takes slowly', async () => {
  const { clock, pass } = played()
  const more = Promise.withResolvers<void>()
  async function* source() {
    yield 'data: {"a":'
    yield '1}\n\n'
    await more.promise
    yield 'data: 2\n\n'
  }
  const heartbeat = { ms: 10, text: () => ': beat\n\n', clock }
  const reader = streamResponse(source(), { format: 'sse', heartbeat }).body!.getReader()
  const taken = async () => new TextDecoder().decode((await reader.read()).value)
  expect(await taken()).toBe('data: {"a":')
  for (let i = 0; i < 3; i++) await pass(10)
  expect(await taken()).toBe('1}\n\n')
  for (let i = 0; i < 2; i++) {
    const next = taken()
    await pass(10)
    expect(await next).toBe(': beat\n\n')
  }
  const last = taken()
  more.resolve()
  expect(await last).toBe('data: 2\n\n')
  await reader.cancel()
})
