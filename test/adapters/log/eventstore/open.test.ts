import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { connectionString, parseAddress } from '../../../../adapters/eventstore/connection-string.ts'
import { openEventStoreLog } from '../../../../adapters/eventstore/open.ts'
import { code } from '../../../contracts/event-log-factory.ts'
import { CERTIFICATE, KEY, OTHER_CERTIFICATE } from '../../../support/eventstore/certificates.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import { StandIn } from '../../../support/eventstore/stand-in.ts'
import { bytesOf, collect, NEW, Sealer } from '../../../support/log/sealing.ts'

test.each([
  ['http://localhost:2113', 'is not esdb://'],
  ['esdb://', 'is not esdb://'],
  ['esdb://admin@localhost', 'user without password'],
  ['esdb://admin:hunter2@localhost?tls=false', 'user and tls=false'],
  ['esdb://admin:hunter2@localhost?tls=no', 'neither true nor false'],
  ['esdb://admin:hunter2@localhost?throwOnAppendFailure=false', 'throwOnAppendFailure'],
  ['esdb://admin:hunter2@localhost?nodePreference=follower', 'nodePreference'],
  ['esdb://admin:hunter2@localhost?tlsVerifyCert=false', 'tlsVerifyCert'],
  ['esdb://admin:hunter2@localhost?hunter=', 'hunter'],
  ['esdb://localhost?keepAliveInterval=5', 'keepAliveInterval'],
  ['esdb://localhost:port', 'localhost:port'],
  ['esdb://admin:hunter2@localhost?tlsCAFile=/nowhere/ca.crt', 'tlsCAFile'],
  ['esdb://localhost?tls=false&gossipTimeout=soon', 'a gossipTimeout that is no number'],
  ['esdb://a,b?tls=false&gossipTimeout=0', 'a gossipTimeout that is no number'],
  ['esdb://localhost:99999?tls=false', 'localhost:99999'],
  ['esdb://localhost?tls=false&connectionName=%0aX', 'connectionName'],
])('the connection string %s is refused, without telling a password', async (text, why) => {
  const refused = openEventStoreLog({ connectionString: text, namespace: 'ns' })
  await expect(refused).rejects.toMatchObject({ code: 'LOG_REFUSED', message: expect.stringContaining(why) })
  await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining('hunter2') })
})

test('options of a connection string are kept, and each client of the process has its own connection', () => {
  const one = parseAddress('esdb://us%40er:p%3Aw@a:2113,b/?tlsCAFile=%2FCa.pem&keep_alive-interval=20000')
  expect(one).toMatchObject({ servers: 'a:2113,b', tls: true, keepAliveMs: 20_000 })
  expect(one.endpoints).toEqual([
    { host: 'a', port: 2113 },
    { host: 'b', port: 2113 },
  ])
  expect(connectionString(one, 3)).toBe(
    'esdb://us%40er:p%3Aw@a:2113,b?tlscafile=%2FCa.pem&gossiptimeout=2&keepaliveinterval=20003',
  )
  expect(connectionString(parseAddress('esdb+discover://c'), 0)).toBe(
    'esdb+discover://c?gossiptimeout=2&keepaliveinterval=10000',
  )
  expect(connectionString(parseAddress('esdb://c'), 1)).toBe('esdb://c?keepaliveinterval=10001')
})

test.each(['', 'Ns', '1a', 'a-b', '$a', 'a.b'])('the namespace "%s" is refused', async (namespace) => {
  const refused = openEventStoreLog({ connectionString: 'esdb://localhost', namespace })
  await expect(refused).rejects.toEqual(code('LOG_REFUSED'))
})

const limits = { callMs: 300, patienceMs: 400, silenceMs: 100 }

test('a server that knows no such user', async () => {
  const server = await standIn()
  server.switches.denied = true
  await expect(openLog(server.url)).rejects.toEqual(code('LOG_REFUSED'))
  server.switches.denied = false
  const log = await openLog(server.url)
  server.switches.denied = true
  await expect(log.head('agent-a')).rejects.toEqual(code('LOG_REFUSED'))
  await expect(collect(log.readAll(null))).rejects.toEqual(code('LOG_REFUSED'))
  await expect(collect(log.subscribe(null, AbortSignal.timeout(100_000)))).rejects.toEqual(code('LOG_REFUSED'))
  server.drop()
  const batch = new Sealer().batch('agent-a', NEW, [{}])
  await expect(log.append('agent-a', -1, batch)).rejects.toEqual(code('LOG_REFUSED'))
})

test('a user that may not read $all is refused at the start, with the remedy', async () => {
  const server = await standIn()
  server.switches.allDenied = true
  for (const looks of [true, false])
    await expect(openLog(server.url, { looks })).rejects.toMatchObject({
      code: 'LOG_REFUSED',
      message: expect.stringMatching(/may not read \$all .* the ACL of \$all/),
    })
})

test('a server that is too old', async () => {
  const server = await standIn()
  server.switches.old = true
  await expect(openLog(server.url)).rejects.toMatchObject({ code: 'LOG_REFUSED', message: /too old/ })
})

test.each([
  ['22.10.5.0', false],
  ['23.6.1', false],
  ['23.10.0', true],
  ['24.2.0', true],
  ['25.1.0.1234 nightly', true],
  ['0.0.0.0', true],
  ['20.6.1', false],
  ['main', true],
])('a server that says it is %s (%s)', async (version, isTaken) => {
  const server = await standIn()
  server.switches.version = version
  const opened = openLog(server.url)
  if (isTaken) await opened
  else
    await expect(opened).rejects.toMatchObject({
      code: 'LOG_REFUSED',
      message: new RegExp(`too old: version ${version}`),
    })
})

test('a server without TLS where it is expected, and the other way round', async () => {
  const server = await standIn()
  const tls = server.url.replace('127.0.0.1', 'localhost').replace('?tls=false', '')
  await expect(openLog(tls)).rejects.toMatchObject({ code: 'LOG_REFUSED', message: /add tls=false/ })
  const secure = createTlsServer({}).listen(0, '127.0.0.1')
  onTestFinished(() => void secure.close())
  secure.on('tlsClientError', () => undefined)
  await once(secure, 'listening')
  const { port } = secure.address() as AddressInfo
  await expect(openLog(`esdb://127.0.0.1:${port}?tls=false`)).rejects.toMatchObject({
    code: 'LOG_REFUSED',
    message: /remove tls=false/,
  })
  // The fault shows without a connection, so the test waits for no port.
  await expect(openLog('esdb://127.0.0.1:9')).rejects.toMatchObject({
    code: 'LOG_REFUSED',
    message: /put its host name/,
  })
})

test('a server whose certificate the tlsCAFile does not vouch for is refused at once, with the file named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-ca-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [own, other] = ['own', 'other'].map((name) => join(folder, `${name}.crt`)) as [string, string]
  writeFileSync(own, CERTIFICATE)
  writeFileSync(other, OTHER_CERTIFICATE)
  const secure = createTlsServer({ cert: CERTIFICATE, key: KEY }).listen(0, 'localhost')
  onTestFinished(() => void secure.close())
  secure.on('tlsClientError', () => undefined)
  await once(secure, 'listening')
  const url = `esdb://localhost:${(secure.address() as AddressInfo).port}`
  const patient = { callMs: 2_000, patienceMs: 600_000, silenceMs: 1_000 }
  const opened = (query: string) => openLog(`${url}${query}`, { limits: patient })
  await expect(opened('')).rejects.toMatchObject({ code: 'LOG_REFUSED', message: /name its authority with tlsCAFile/ })
  await expect(opened(`?tlsCAFile=${encodeURIComponent(other)}`)).rejects.toMatchObject({
    code: 'LOG_REFUSED',
    message: expect.stringContaining(`the tlsCAFile ${other} does not vouch for`),
  })
  // The right file: the server is trusted, and is no event store.
  const trusted = openLog(`${url}?tlsCAFile=${encodeURIComponent(own)}`, { limits })
  await expect(trusted).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})

test('no server at all, or one that hangs', async () => {
  const server = await standIn()
  server.freeze()
  await expect(openLog(server.url, { limits })).rejects.toEqual(code('LOG_UNAVAILABLE'))
  await server.kill()
  const refused = openLog(server.url, { limits })
  await expect(refused).rejects.toEqual(code('LOG_UNAVAILABLE'))
  // The message is for people who do not know gRPC's codes.
  await expect(refused).rejects.toThrow(
    /did not answer \(connecting\): connect ECONNREFUSED [\d.:]+; see that the server runs/,
  )
})

test('a warning reports a slow server during the wait', async () => {
  const server = await standIn()
  server.freeze()
  const told = Promise.withResolvers<string>()
  const opened = openLog(server.url, { warn: told.resolve })
  expect(await told.promise).toMatch(
    /^the event store at 127\.0\.0\.1:\d+ does not answer yet; it is waited for, 61 s at most$/,
  )
  server.thaw()
  await opened
})

test('of two that make the log at once one makes it, and both have that one', async () => {
  const server = await standIn()
  const random = (name: string) => ({ random: { bytes: (length: number) => bytesOf(name, length) } })
  const logs = await Promise.all(['a', 'b', 'c'].map((name) => openLog(server.url, random(name))))
  expect(new Set(logs.map(({ logId }) => logId)).size).toBe(1)
  expect(server.store.events('ns.log-meta')).toHaveLength(1)
})

test('two namespaces on one server do not see each other, also where one name begins with the other', async () => {
  const server = await standIn()
  const [a, b] = await Promise.all([openLog(server.url), openLog(server.url, { namespace: 'ns2' })])
  expect(a.logId).not.toBe(b.logId)
  const sealer = new Sealer()
  const [mine, theirs] = [sealer.batch('agent-a', NEW, [{}]), sealer.batch('agent-a', NEW, [{}, {}])]
  await a.append('agent-a', -1, mine)
  await b.append('agent-a', -1, theirs)
  expect((await collect(a.readAll(null))).slice(1).map(({ id }) => id)).toEqual(mine.map(({ id }) => id))
  expect((await collect(b.readAll(null))).slice(1).map(({ id }) => id)).toEqual(theirs.map(({ id }) => id))
  expect((await a.headCursor()).hash).toBe(mine[0]!.hash)
  await expect(collect(b.readAll(await a.headCursor()))).rejects.toEqual(code('CURSOR_MISMATCH'))
  for (const [log, batch] of [
    [a, mine],
    [b, theirs],
  ] as const) {
    const heard: string[] = []
    for await (const page of log.subscribe(null, AbortSignal.timeout(100_000)))
      if (heard.push(...page.map(({ id }) => id)) > batch.length) break
    expect(heard.slice(1)).toEqual(batch.map(({ id }) => id))
  }
  await a.close()
  expect(await b.head('agent-a')).toMatchObject({ revision: 1 })
})

test('one process writes to two event stores, and closes one while the other goes on', async () => {
  const [one, two] = await Promise.all([standIn(), standIn()])
  const [a, b] = [await openLog(one.url), await openLog(two.url)]
  two.switches.holdAnswers()
  const before = two.asked.appends
  const sealer = new Sealer()
  const batch = sealer.batch('agent-a', NEW, [{}])
  const appended = b.append('agent-a', -1, batch)
  await expect.poll(() => two.asked.appends).toBe(before + 1)
  await a.append('agent-a', -1, batch)
  await a.close()
  two.switches.release()
  await appended
  expect(two.asked.appends).toBe(before + 1)
})

test('a first event of another kind is not taken for the identity of a log', async () => {
  const server = await new StandIn().start()
  onTestFinished(() => server.stop())
  const log = await openLog(server.url)
  await log.append('agent-a', -1, new Sealer().batch('agent-a', NEW, [{}]))
  await log.close()
  const [event] = server.store.events('ns.agent-a')!
  server.store.append('other.log-meta', -1, [event!])
  await expect(openLog(server.url, { namespace: 'other' })).rejects.toEqual(code('LOG_FOREIGN'))
  server.store.delete('ns.log-meta', 'any', false)
  await expect(openLog(server.url)).rejects.toEqual(code('LOG_CORRUPT'))
})

test.each([
  ['deleted', false, /take \$tb/i],
  ['tombstoned', true, /tombstoned/],
])('a namespace that was removed (%s) says that its name is gone, and how it comes back', async (_, forEver, back) => {
  const server = await standIn()
  const log = await openLog(server.url)
  await log.close()
  server.store.delete('ns.log-meta', 'any', forEver)
  for (const looks of [false, true]) {
    const error = await openLog(server.url, { looks }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'LOG_CORRUPT',
      message: /^the log of the namespace ns was removed .* set another/,
    })
    expect((error as Error).message).toMatch(back)
  }
  await openLog(server.url, { namespace: 'next' })
})
