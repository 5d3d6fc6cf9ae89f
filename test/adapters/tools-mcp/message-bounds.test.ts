import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { mcpOverHttp } from '../../support/mcp/http-server.ts'
import { opened } from '../../support/mcp/servers.ts'
import { webServer } from '../../support/network/web-server.ts'
import { longestTurn } from '../../support/time/turns.ts'

// A message of a server over HTTP is bounded before it is parsed, so that it holds up nothing else.

const MB = 2 ** 20
/**
 * The longest that one message may hold the event loop, in ms of CPU. Unbounded messages held it for 2,500 to 15,700 ms; a
 * garbage collection of the bodies that a test makes takes up to 60 ms.
 */
const HOLD_MS = 500

const JSON_BODY = 'application/json'
const EVENTS = 'text/event-stream'
const wrapped = (result: string) => `{"jsonrpc":"2.0","result":${result},"id":ID}`
const ofText = (text: string) => wrapped(`{"content":[{"type":"text","text":"${text}"}]}`)
const ofValues = (count: number) => wrapped(`{"content":[],"structuredContent":{"a":[${'1,'.repeat(count)}1]}}`)
const event = (data: string) => `event: message\ndata: ${data}\n\n`
const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'

/** Sends a text in pieces that are made before; `ID` in its last piece becomes the id of the call. */
function sent(type: string, whole: string) {
  const at = whole.lastIndexOf('ID}')
  const [before, after] = [Buffer.from(whole.slice(0, at)), whole.slice(at + 2)]
  return (res: ServerResponse, id: number) => {
    res.writeHead(200, { 'content-type': type })
    let from = 0
    const more = (): void => {
      while (from < before.length) {
        if (res.destroyed) return
        from += 65_536
        if (!res.write(before.subarray(from - 65_536, from))) return void res.once('drain', more)
      }
      res.end(`${id}${after}`)
    }
    more()
  }
}

const asked = async (onCall: (res: ServerResponse, id: number) => void) => {
  const server = await webServer(mcpOverHttp(onCall))
  const { call } = await opened({ h: { type: 'http', url: server.url } })
  const { ms: held, value: answer } = await longestTurn(() => call('h:echo'))
  return { answer, held }
}

const failure = (words: string) => ({ code: 'EXECUTION_FAILED', message: expect.stringContaining(words) })

test.each<[string, string, () => string, object]>([
  ['a line of 25 MB', EVENTS, () => event(ofText('x'.repeat(25 * MB))), failure('more than 8388608 characters')],
  [
    '1,000,000 lines of one event',
    EVENTS,
    () => event(' 12345678\ndata:'.repeat(MB) + ofText('x')),
    failure('more than 8388608'),
  ],
  ['20,000,000 values', JSON_BODY, () => ofValues(20_000_000), failure('more than 8388608 bytes')],
  ['2,000,000 values', JSON_BODY, () => ofValues(2_000_000), failure('more than 100000 JSON values')],
  ['2,000,000 values in an event', EVENTS, () => event(ofValues(2_000_000)), failure('more than 100000 JSON values')],
  ['200 levels', EVENTS, () => event(`${'['.repeat(200)}${ofText('x')}`), failure('deeper than 128 levels')],
  ['57 MB', JSON_BODY, () => ofText('lorem ipsum '.repeat((57 * MB) / 12)), failure('more than 8388608 bytes')],
])('an answer of %s is refused and holds the event loop briefly', async (_, type, body, expected) => {
  const { answer, held } = await asked(sent(type, body()))
  expect(answer).toMatchObject(expected)
  expect(held).toBeLessThan(HOLD_MS)
})

test.each<[string, string, () => string]>([
  ['7 MB in one document', JSON_BODY, () => ofText('lorem ipsum '.repeat((7 * MB) / 12))],
  ['7 MB in one event', EVENTS, () => event(ofText('lörem ipsüm '.repeat((7 * MB) / 14)))],
  ['20,000 events', EVENTS, () => event(progress).repeat(20_000) + event(ofText('x'))],
])('an answer of %s is taken and holds the event loop briefly', async (_, type, body) => {
  const { answer, held } = await asked(sent(type, body()))
  expect(answer).not.toHaveProperty('code')
  expect(held).toBeLessThan(HOLD_MS)
})
