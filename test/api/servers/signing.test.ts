import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { encode } from '../../../adapters/eventstore/codec.ts'
import { currentHead, proveConsistency, proveEvent, verifyProof } from '../../../api/operations/proof/heads.ts'
import { proofStatus } from '../../../api/operations/proof/status.ts'
import type { Services } from '../../../api/operations/services.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { openCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { parseVkey } from '../../../domain/log/proof/note.ts'
import { verifyConsistency } from '../../../domain/log/proof/tree-proof.ts'
import { seal } from '../../../domain/log/seal.ts'
import { PROOF_ID, proof } from '../../../domain/proof/kind.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { NEW, Sealer } from '../../support/log/sealing.ts'
import { describeWithPostgres, describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { cliOf, deployment } from './deployment.ts'

const BY = { kind: 'user', id: 'ann' } as const

describeWithSharedPostgres('the signatures of a deployment on servers', (server) => {
  const { folder, eventstore } = deployment()
  const { env, look: lookAt, doctor } = cliOf({ folder, eventstore }, server)
  let operator: pg.Client
  beforeAll(async () => {
    operator = new pg.Client({ connectionString: server().url })
    await operator.connect()
  })
  afterAll(() => operator.end())

  /** A process of the deployment `namespace`. `data`: the data folder of its machine. `url`: of another event store. */
  async function open(namespace: string, { data = folder.data, tell = (_: string) => {}, url = eventstore.url } = {}) {
    mkdirSync(data, { recursive: true })
    const at = { KEEPUP_NAMESPACE: namespace, KEEPUP_EVENTSTORE: url, KEEPUP_LEASE_MS: '2000' }
    const config = loadConfig({ flags: { data }, env: env(at) })
    const services = await openServices(config, 'owner', { autoDrive: false }, { tell })
    onTestFinished(() => services.close())
    return services
  }
  const write = async (s: Services, store: string, count = 3) => {
    for (let n = 0; n < count; n += 1) await s.contexts.open(store, BY).set(`k${n}`, Math.random())
  }
  const eventsIn = async ({ log }: Services) => (await Array.fromAsync(log.readAll(null, { bodies: false }))).flat()
  const signed = async (s: Services) => (await s.proof.store!.lastHead())?.size
  const signer = async (namespace: string) =>
    (await operator.query(`select driver_id from ${namespace}_leases.leases where agent_id = '.signer'`)).rows[0]
      ?.driver_id
  const originsOf = async ({ streams }: Services) => (await streams.state(proof, PROOF_ID))!.origins

  /** Seals the last event of a stream anew in the event store, by somebody else. */
  function forge(stream: string, { store } = eventstore) {
    const [before, last] = store.events(stream)!.slice(-2)
    const { hash } = JSON.parse(Buffer.from(before!.metadata).toString()) as { hash: string }
    const { header } = JSON.parse(Buffer.from(last!.metadata).toString()) as { header: Header }
    const forged = encode(seal(hash, { ...header, actor: { kind: 'user', id: 'bob' } }, last!.data))
    Object.assign(last!, { id: forged.id, data: forged.data, metadata: forged.metadata })
  }

  /** Every head of the log is signed, consistent with the last one, and no two cover the same events differently. */
  async function expectConsistent(s: Services) {
    const found = await verifyProof(s, { outside: false })
    expect(found).toMatchObject({ ok: true, problems: [] })
    const keys = (await originsOf(s)).flatMap(({ vkeys }) => vkeys.map(parseVkey))
    const heads = (await s.proof.store!.heads(0, 500)).map(({ note }) => openCheckpoint(note, keys))
    const last = heads.at(-1)!
    for (const { size, root } of heads) {
      const hashes = (await proveConsistency(s, size, last.size)).map((text) => Buffer.from(text, 'base64'))
      expect(verifyConsistency(size, last.size, root, last.root, hashes)).toBe(true)
    }
    return { heads, found }
  }

  it('go on in another process when the process that signs is killed', async () => {
    const worker = folder.start(['worker'], { env: env({ KEEPUP_NAMESPACE: 'killed', KEEPUP_LEASE_MS: '2000' }) })
    await worker.said('as driver')
    await expect.poll(() => signer('killed').catch(() => undefined)).toBeDefined()
    const s = await open('killed')
    await write(s, 'before')
    await expect.poll(() => signed(s)).toBeGreaterThanOrEqual(4)
    expect(await signer('killed')).not.toBe(s.holder)
    worker.process.kill('SIGKILL')
    await worker.ended
    await write(s, 'after')
    const { length } = await eventsIn(s)
    await expect.poll(() => signed(s)).toBeGreaterThanOrEqual(length)
    expect(await signer('killed')).toBe(s.holder)
    const { heads } = await expectConsistent(s)
    expect(heads.length).toBeGreaterThan(1)
    expect((await originsOf(s)).length).toBe(1)
  })

  it('stay consistent while two processes write, sign and replace the key at once', async () => {
    const both = [await open('crowd'), await open('crowd')] as const
    const step = fc.record({
      by: fc.constantFrom(0, 1),
      do: fc.constantFrom('write', 'sign', 'sign', 'rotate'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        await Promise.all(
          steps.map(async (one, n) => {
            const s = both[one.by]!
            if (one.do === 'write') return write(s, `s${n}`, 2)
            if (one.do === 'sign') return currentHead(s)
            return s.proof
              .signing()!
              .signer.rotate(BY)
              .catch((error: unknown) => expect(error).toMatchObject({ code: 'KEY_CHANGED' }))
          }),
        )
        for (const s of both) await currentHead(s)
      }),
      { numRuns: 4 },
    )
    const { found } = await expectConsistent(both[0])
    expect(found.signed).toBe(found.events)
    expect((await originsOf(both[1])).length).toBe(1)
  })

  it('are left to others by a machine without the key, which begins a new origin only when a person says so', async () => {
    const first = await open('keyless')
    await currentHead(first)
    const told: string[] = []
    const second = await open('keyless', { data: join(folder.root, 'second'), tell: (text) => told.push(text) })
    await expect.poll(() => told.join()).toContain('does not have the key')
    await write(second, 'here')
    const event = (await eventsIn(second)).at(-1)!
    // The first machine signs it; the second one proves it.
    expect((await proveEvent(second, event.header.stream, event.header.revision)).hash).toBe(event.hash)
    expect([(await proofStatus(first)).keyMissing, (await proofStatus(second)).keyMissing]).toEqual([false, true])
    const { signer } = second.proof.signing()!
    await expect(signer.rotate(BY)).rejects.toMatchObject({ code: 'KEY_ELSEWHERE' })
    await first.close()
    await write(second, 'alone')
    await expect(signer.sign()).rejects.toMatchObject({ code: 'KEY_ELSEWHERE' })
    // The machine without the key leaves the lease to a later process of the first machine.
    const third = await open('keyless')
    const { length } = await eventsIn(third)
    await expect.poll(() => signed(third)).toBeGreaterThanOrEqual(length)
    await third.close()
    expect((await originsOf(second)).length).toBe(1)
    await signer.beginAnew(BY)
    expect((await originsOf(second)).map(({ origin }) => origin.endsWith('/2'))).toEqual([false, true])
    expect(await verifyProof(second, { outside: false })).toMatchObject({ ok: true })
    expect(readFileSync(join(folder.root, 'second', 'vault', 'log.key'), 'utf8')).toContain('/2')
  })

  it('go over to the machine that has replaced the key, and a copy of the former key signs nothing more', async () => {
    const told: string[] = []
    const first = await open('handed', { tell: (text) => told.push(text) })
    await currentHead(first)
    await expect.poll(() => signer('handed')).toBe(first.holder)
    const data = join(folder.root, 'copied')
    for (const name of ['vault', 'vault.check'])
      cpSync(join(folder.data, name), join(data, name), { recursive: true, preserveTimestamps: true })
    const second = await open('handed', { data })
    const vkey = await second.proof.signing()!.signer.rotate(BY)
    const { length } = await eventsIn(second)
    await write(second, 'later')
    await expect.poll(() => signer('handed')).toBe(second.holder)
    expect(told.join()).toContain('does not have the key')
    await currentHead(second)
    const { origin } = openCheckpoint((await second.proof.store!.lastHead())!.note, [parseVkey(vkey)])
    expect((await originsOf(first)).map((one) => one.origin)).toEqual([origin])
    const heads = await second.proof.store!.heads(0, 500)
    for (const { size, note } of heads)
      if (size >= length) expect(openCheckpoint(note, [parseVkey(vkey)]).size).toBe(size)
    await expectConsistent(second)
  })

  it('show an event that was sealed anew in the event store', async () => {
    const s = await open('forged')
    await write(s, 'one')
    await write(s, 'two')
    await currentHead(s)
    forge('forged.context-one')
    expect(await s.streams.verify('context-one')).toMatchObject({ ok: true })
    expect(await verifyProof(s, { outside: false })).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ code: 'HEAD' })]),
    })
  })

  it('go on after a start that finds a damaged tree', async () => {
    const first = await open('damaged')
    await write(first, 'one')
    await currentHead(first)
    await first.close()
    await operator.query(`update damaged_proof.tree set edge = '\\x00'`)
    const s = await open('damaged')
    await write(s, 'one')
    const { size } = await currentHead(s)
    expect((await expectConsistent(s)).found).toMatchObject({ events: size, signed: size })
  })

  it('end at a start that finds another log than their last head and tree have, and the start says so', async () => {
    const first = await open('contradicted')
    for (const store of ['one', 'two']) await write(first, store)
    await currentHead(first)
    await first.close()
    forge('contradicted.context-one')
    // Somebody also gave the tree another root.
    await operator.query('update contradicted_proof.tree set edge = set_byte(edge, 20, get_byte(edge, 20) # 1)')
    const told: string[] = []
    const s = await open('contradicted', { tell: (text) => told.push(text) })
    await expect.poll(() => told.join()).toContain('the log does not continue the head of')
    await expect(currentHead(s)).rejects.toMatchObject({ code: 'LOG_CUT' })
    expect(await proofStatus(s)).toMatchObject({ why: expect.stringContaining('does not continue the head') })
    expect((await originsOf(s)).length).toBe(1)
  })

  it('cover events of kinds that this program does not know, and stop at an event of a newer version', async () => {
    const s = await open('mixed')
    await write(s, 'known')
    const sealer = new Sealer()
    const [one, other] = [sealer.batch('future-f1', NEW, [{}, {}]), sealer.batch('future-f2', NEW, [{}])]
    expect(eventstore.store.append('mixed.future-f1', -1, one.map(encode)).is).toBe('written')
    const { size } = await currentHead(s)
    expect(size).toBe(eventstore.store.all.filter(({ stream }) => stream.startsWith('mixed.')).length)
    expect(await verifyProof(s, { outside: false })).toMatchObject({ ok: true, events: size })
    const { metadata, ...newer } = encode(other[0]!)
    const text = Buffer.from(metadata).toString().replace('"format":1', '"format":99')
    expect(eventstore.store.append('mixed.future-f2', -1, [{ ...newer, metadata: Buffer.from(text) }]).is).toBe(
      'written',
    )
    await write(s, 'later')
    await expect(currentHead(s)).rejects.toMatchObject({ code: 'LOG_NEWER' })
    await expect(verifyProof(s, { outside: false })).rejects.toMatchObject({ code: 'LOG_NEWER' })
  })

  it('begin a new origin when a person has accepted that the event store lost its end', async () => {
    const look = (args: readonly string[]) => lookAt(args, { KEEPUP_NAMESPACE: 'cut', KEEPUP_EVENTSTORE: older.url })
    const older = await new StandIn().start()
    onTestFinished(() => older.stop())
    expect(await look(['run', 'finish', '--no-workspace'])).toMatchObject({ code: 0 })
    const kept = older.store.copy()
    expect(await look(['run', 'finish', '--no-workspace'])).toMatchObject({ code: 0 })
    const verified = async () => JSON.parse((await look(['call', 'verifyProof', '-o', 'json'])).out)
    const whole = await verified()
    expect(whole).toMatchObject({ ok: true, signed: whole.events })
    await older.kill()
    older.restore(kept)
    await older.start()
    expect((await verified()).problems).toContainEqual(expect.objectContaining({ code: 'CUT', size: whole.events }))
    expect(await look(['repair', '--accept-loss', '--yes'])).toMatchObject({ code: 0 })
    expect((await look(['call', 'getProofHead', '-o', 'json'])).out).toMatch(/"origin": "keepup.local\/\w+\/2"/)
    expect(await verified()).toMatchObject({ ok: true, superseded: expect.any(Number), origins: [{}, {}] })
    expect((await verified()).superseded).toBeGreaterThan(0)
  })

  it('tell of an event that was changed before the lost end, after the acceptance of the loss too', async () => {
    const older = await new StandIn().start()
    onTestFinished(() => older.stop())
    const first = await open('twice', { url: older.url })
    for (const store of ['one', 'two']) await write(first, store)
    const { size } = await currentHead(first)
    await write(first, 'two')
    const kept = older.store.copy()
    await write(first, 'two')
    await currentHead(first)
    await first.close()
    await older.kill()
    older.restore(kept)
    await older.start()
    forge('twice.context-one', older)
    const s = await open('twice', { url: older.url })
    expect(s.losses.open).not.toBeNull()
    await s.losses.accept((await s.losses.look())!.id, BY)
    expect(await currentHead(s)).toMatchObject({ origin: expect.stringMatching(/\/2$/) })
    const { problems } = await verifyProof(s, { outside: false })
    expect(problems).toContainEqual(expect.objectContaining({ code: 'HEAD', size }))
  })

  it('are verified, anchored and proved on the command line', async () => {
    const look = (args: readonly string[]) => lookAt(args, { KEEPUP_NAMESPACE: 'typed' })
    expect(await look(['run', 'finish', '--no-workspace'])).toMatchObject({ code: 0 })
    const anchor = join(folder.root, 'anchor')
    mkdirSync(anchor)
    expect(await look(['anchor', 'add', 'disk', 'folder', anchor])).toMatchObject({ code: 0 })
    expect(await look(['anchor', 'now'])).toMatchObject({ code: 0, out: expect.stringContaining('keeps the head') })
    const { code, out } = await look(['verify', '--anchors'])
    expect([code, out]).toEqual([0, expect.stringMatching(/heads: hold, \d+ events \([1-9]\d* anchored/)])
    const proved = await look(['prove', 'proof-log@0'])
    expect([proved.code, proved.out]).toEqual([0, expect.stringMatching(/^c2sp\.org\/tlog-proof@v1\n/)])
    const { of } = await doctor({ KEEPUP_NAMESPACE: 'typed' })
    expect(of('signed heads')).toMatchObject({ state: 'ok', found: expect.stringMatching(/^\d+ events, signed 20/) })
    expect(of('anchor')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^disk \(folder\): \d+ events, 20/),
    })
    expect(of('log key')).toBeUndefined()
    const elsewhere = await look(['--data', join(folder.root, 'third'), 'doctor', '-o', 'json'])
    const findings = JSON.parse(elsewhere.out) as { check: string; state: string }[]
    expect(findings).toContainEqual(expect.objectContaining({ check: 'log key', state: 'warning' }))
    const rotated = await look(['call', 'rotateLogKey', '-o', 'json'])
    expect([rotated.code, rotated.out]).toEqual([0, expect.stringContaining('vkey')])
    const lost = await look(['call', 'rotateLogKey', 'lost=true'])
    expect([lost.code, lost.err]).toEqual([1, expect.stringContaining('KEY_HERE')])
  })
})

describeWithPostgres('the signatures of a deployment whose PostgreSQL goes away', (server) => {
  const { folder, eventstore } = deployment()
  const { env } = cliOf({ folder, eventstore }, server)

  it('go on when it is back, and cover what was recorded meanwhile', async () => {
    const config = loadConfig({ flags: { data: folder.data }, env: env({ KEEPUP_LEASE_MS: '2000' }) })
    const s = await openServices(config, 'owner', { autoDrive: false }, { tell: () => {} })
    onTestFinished(() => s.close())
    await s.contexts.open('one', BY).set('a', 1)
    await currentHead(s)
    server().stop('immediate')
    for (const n of [2, 3]) await s.contexts.open('one', BY).set('a', n)
    server().start()
    const { length } = (await Array.fromAsync(s.log.readAll(null, { bodies: false }))).flat()
    const size = async () => (await s.proof.store!.lastHead())!.size
    await expect.poll(size).toBeGreaterThanOrEqual(length)
    expect(await verifyProof(s, { outside: false })).toMatchObject({ ok: true })
  })
})
