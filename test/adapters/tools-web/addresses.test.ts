import { describe, expect, test } from 'vitest'
import { AddressRange, addressRule } from '../../../adapters/web/addresses.ts'
import type { Resolve } from '../../../adapters/web/connection.ts'
import { readUrlTool } from '../../../adapters/web/read-url.ts'
import { ReadUrlSettings } from '../../../adapters/web/settings.ts'
import { toolContext, type WebServer, webServer } from '../../support/network/web-server.ts'

describe('the rule of addresses', () => {
  const rule = addressRule([])

  test.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.1.2.3'],
    ...['168.63.129.16', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192', '192.0.2.1', '192.88.99.1'],
    ...['192.168.0.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.1.1.1', '240.0.0.1'],
    ...['255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::a9fe:a9fe'],
    ...['64:ff9b:1::1', '100::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
    ...['2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'],
    ...['', 'localhost', '127.1', '0x7f000001', '2130706433', '010.0.0.1', '8.8.8.8 ', '2606:4700::1111%1'],
  ])('refuses %s', (address) => expect(rule(address)).toBe(false))

  test.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '172.15.255.255', '172.32.0.1', '2606:4700:4700::1111', '2a00::1'])(
    'lets %s through',
    (address) => expect(rule(address)).toBe(true),
  )

  test('the settings open exactly the addresses that they name', () => {
    const open = addressRule(['10.1.0.0/16', '127.0.0.1', 'fd00:1::/32'])
    expect(['10.1.2.3', '127.0.0.1', 'fd00:1::5', '8.8.8.8'].map(open)).toEqual([true, true, true, true])
    expect(['10.2.0.1', '127.0.0.2', 'fd00:2::5', '::ffff:10.1.2.3', '::ffff:7f00:1'].map(open)).toEqual(
      Array(5).fill(false),
    )
  })

  test.each(['10.0.0.0/33', '10.0.0', 'example.org', '10.0.0.0/8/8', '::/129', '10.0.0.0/', 'fe80::1%eth0'])(
    'the settings refuse the range %s',
    (text) => expect(AddressRange.safeParse(text).success).toBe(false),
  )
})

/** Ways to write the loopback address, private networks and metadata services of clouds; `P` is the port of a trap. */
const FORMS = [
  ...['http://127.0.0.1:P/', 'http://127.1:P/', 'http://127.0.1:P/', 'http://2130706433:P/', 'http://0x7f000001:P/'],
  ...['http://0x7f.0.0.1:P/', 'http://0x7f.1:P/', 'http://017700000001:P/', 'http://0177.0.0.1:P/', 'http://0177.1:P/'],
  ...['http://127.0.0.01:P/', 'http://127.000.000.001:P/', 'http://127.0.0.1.:P/', 'http://127.1.:P/'],
  ...['http://0:P/', 'http://0.0.0.0:P/', 'http://0x0:P/', 'http://00:P/', 'http://0.0:P/', 'http://0.0.0.0.:P/'],
  ...['http://127.0.0.2:P/', 'http://127.255.255.254:P/', 'http://127.127.127.127:P/', 'http://0x7f.0x0.0x0.0x1:P/'],
  ...['http://[::1]:P/', 'http://[0:0:0:0:0:0:0:1]:P/', 'http://[0000::0001]:P/', 'http://[::]:P/', 'http://[::0]:P/'],
  ...['http://[::ffff:127.0.0.1]:P/', 'http://[::ffff:7f00:1]:P/', 'http://[0:0:0:0:0:ffff:127.0.0.1]:P/'],
  ...['http://[::ffff:0:7f00:1]:P/', 'http://[::127.0.0.1]:P/', 'http://[::7f00:1]:P/', 'http://[::FFFF:127.0.0.1]:P/'],
  ...['http://[64:ff9b::127.0.0.1]:P/', 'http://[64:ff9b::7f00:1]:P/', 'http://[2002:7f00:1::]:P/'],
  ...['http://[2001:0:7f00:1::]:P/', 'http://[fe80::1]:P/', 'http://[fc00::1]:P/', 'http://[fd00:ec2::254]:P/'],
  ...['http://[ff02::1]:P/', 'http://[fec0::1]:P/', 'http://[100::1]:P/', 'http://[2001:db8::1]:P/'],
  ...['http://localhost:P/', 'http://LOCALHOST:P/', 'http://localhost.:P/', 'http://a.localhost:P/'],
  ...[
    'http://ⓛocalhost:P/',
    'http://ｌｏｃａｌｈｏｓｔ:P/',
    'http://①②⑦.⓪.⓪.①:P/',
    'http://１２７.０.０.１:P/',
    'http://127。0。0。1:P/',
  ],
  ...['http://127%2e0%2e0%2e1:P/', 'http://%31%32%37.0.0.1:P/', 'http://loc%61lhost:P/', 'http://%6c%6f%63alhost:P/'],
  ...[
    'http:127.0.0.1:P/',
    'http:/127.0.0.1:P/',
    'http:///127.0.0.1:P/',
    'http:\\\\127.0.0.1:P\\',
    'HTTP://127.0.0.1:P/',
  ],
  ...[' http://127.0.0.1:P/ ', 'ht\ntp://127.0.0.1:P/', 'http://127.0.0.1\t:P/', 'http://127.0\n.0.1:P/'],
  ...['http://user@127.0.0.1:P/', 'http://user:password@127.0.0.1:P/', 'http://example.org@127.0.0.1:P/'],
  ...['http://example.org:80@127.0.0.1:P/', 'http://127.0.0.1:P\\@example.org/', 'http://example.org%40@127.0.0.1:P/'],
  ...['http://127.0.0.1:P#@example.org/', 'http://127.0.0.1:P?@example.org/', 'http://127.0.0.1:P/..//example.org/'],
  ...['https://127.0.0.1:P/', 'https://[::1]:P/', 'https://localhost:P/', 'https://0x7f.1:P/', 'https://2130706433:P/'],
  ...['ftp://127.0.0.1:P/', 'file:///etc/passwd', 'file://127.0.0.1/etc/passwd', 'gopher://127.0.0.1:P/_x'],
  ...['data:text/html,x', 'javascript:alert(1)', 'blob:http://127.0.0.1:P/x', 'ws://127.0.0.1:P/', 'about:blank'],
  ...[
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
  ],
  ...[
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
  ],
  ...['http://168.63.129.16/', 'http://10.0.0.1/', 'http://192.168.1.1/', 'http://172.16.0.1/', 'http://224.0.0.1/'],
  ...['http://255.255.255.255/', 'http://127.0.0.1:22/', 'http://127.0.0.1:25/', 'http://1.1.1.1:25/'],
]

test('no form of an address that is not public is connected to', async () => {
  expect(new Set(FORMS).size).toBeGreaterThanOrEqual(100)
  const trap: WebServer = await webServer((res) => res.end('inside'))
  // Resolvers differ in the names that they take for this machine; here all of them lead to it.
  const resolve: Resolve = async (host) => {
    expect(host).toMatch(/^(a\.)?localhost\.?$/)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const tool = readUrlTool({ settings: ReadUrlSettings.parse({ timeMs: 5_000 }), resolve })
  for (const form of FORMS) {
    const url = form.replace('P', String(trap.port))
    const failure = await tool.run({ url }, toolContext()).catch((error) => error)
    expect([form, failure.code]).toEqual([form, expect.stringMatching(/^(SANDBOX_VIOLATION|INVALID_ARGUMENTS)$/)])
    expect(failure).toMatchObject({ name: 'ToolError', transient: false, beforeEffect: true })
  }
  expect(trap.connections()).toBe(0)
})

test('a name that the system itself resolves to this machine is refused', async () => {
  const trap = await webServer((res) => res.end('inside'))
  const reading = readUrlTool().run({ url: `http://localhost:${trap.port}/` }, toolContext())
  await expect(reading).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION', beforeEffect: true })
  expect(trap.connections()).toBe(0)
})
