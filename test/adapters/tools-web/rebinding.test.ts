import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readUrlTool } from '../../../adapters/web/read-url.ts'
import { ReadUrlSettings } from '../../../adapters/web/settings.ts'
import { toolContext, webServer } from '../../support/network/web-server.ts'

const OUTSIDE = '127.0.0.1'
const INSIDE = '127.0.0.2'

/** The answers of a name server at one time, the address that counts first. */
const answers = fc.constantFrom([OUTSIDE], [INSIDE], [OUTSIDE, INSIDE], [INSIDE, OUTSIDE], ['::ffff:127.0.0.2'], [])

test('1,000 names that change their address between answers never lead to a refused one', {
  timeout: 60_000,
}, async () => {
  // The same port on both, so that a second answer would be enough to get inside.
  const outside = await webServer((res, req) => {
    const left = Number(req.url?.slice(1))
    if (left === 0) res.writeHead(200, { 'content-type': 'text/plain' }).end('outside')
    else res.writeHead(302, { location: `http://n${left}.test:${outside.port}/${left - 1}` }).end()
  })
  const inside = await webServer((res) => res.end('inside'), { host: INSIDE, port: outside.port })
  let read = 0
  let refused = 0
  const plan = fc.record({ redirects: fc.nat(2), times: fc.array(answers, { minLength: 4, maxLength: 8 }) })
  await fc.assert(
    fc.asyncProperty(plan, async ({ redirects, times }) => {
      let asked = 0
      const resolve = async (): Promise<LookupAddress[]> =>
        (times[asked++ % times.length] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      const tool = readUrlTool({ settings: ReadUrlSettings.parse({ allow: [OUTSIDE] }), resolve })
      const before = outside.connections()
      const url = `http://start.test:${outside.port}/${redirects}`
      const ended = await tool.run({ url }, toolContext()).catch((error) => error)
      // One answer for one connection: there is no second one that could differ.
      expect(asked - (outside.connections() - before)).toBe('code' in ended ? 1 : 0)
      if ('code' in ended) {
        refused++
        expect(ended.code).toMatch(/^(SANDBOX_VIOLATION|RESOURCE_NOT_FOUND)$/)
      } else {
        read++
        expect(ended.content).toMatchObject({ text: 'outside' })
      }
    }),
    { numRuns: 1_000 },
  )
  expect(inside.connections()).toBe(0)
  expect(read).toBeGreaterThan(50)
  expect(refused).toBeGreaterThan(500)
})
