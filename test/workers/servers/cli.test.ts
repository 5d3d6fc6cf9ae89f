import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { cliOf, deployment } from '../../api/servers/deployment.ts'
import { idIn, inProcess } from '../../api/support/cli.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

describeWithPostgres('the command line on servers', (server) => {
  const { folder, eventstore } = deployment()
  const { env, look, doctor } = cliOf({ folder, eventstore }, server)
  let run = ''
  beforeAll(async () => {
    const { code, err } = await look(['run', 'finish', '--no-workspace'])
    expect(code, err).toBe(0)
    run = idIn(err)
  })

  it('runs, lists, proves and rebuilds', async () => {
    const list = await look(['runs', 'list', '-o', 'jsonl'])
    expect(JSON.parse(list.out)).toMatchObject({ runId: run, status: 'completed' })
    expect((await look(['runs', 'list'])).out).not.toMatch(/DISK|\?/)
    expect((await look(['runs', 'show', run])).out).not.toContain('disk')
    expect(await look(['verify', run.slice(0, 12)])).toMatchObject({ code: 0 })
    expect(await look(['rebuild'])).toMatchObject({ code: 0 })
    expect(await look(['sql', 'select 1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`PGOPTIONS='-c search_path=ns' psql "$KEEPUP_POSTGRES"`),
    })
    for (const to of ['copy', '.'])
      expect(await look(['backup', join(folder.root, to)])).toMatchObject({
        code: 1,
        err: expect.stringContaining('BACKUP_ON_SERVERS'),
      })
  })

  it('lets auditors read the tables, and nothing else', async () => {
    const made = await look(['auditors', '-o', 'json'])
    expect([made.code, JSON.parse(made.out)]).toEqual([0, { role: 'ns_auditor', schema: 'ns' }])
    expect(await look(['auditors', 'the_auditors'])).toMatchObject({ code: 0 })
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      for (const role of ['ns_auditor', 'the_auditors']) {
        await client.query(`set role ${role}`)
        expect((await client.query('select id from ns.runs')).rows).toEqual([{ id: run }])
        await expect(client.query('delete from ns.runs')).rejects.toMatchObject({ code: '42501' })
        await expect(client.query('select * from ns_blobs.blobs')).rejects.toMatchObject({ code: '42501' })
      }
    } finally {
      await client.end()
    }
    for (const bad of ['Ann', 'pg_ann', 'a;b', '1a', 'a'.repeat(64)])
      expect([bad, (await look(['auditors', bad])).code]).toEqual([bad, 2])
    const embedded = await inProcess(['--data', join(folder.root, 'embedded'), 'auditors'])
    expect([embedded.code, embedded.err]).toEqual([2, expect.stringContaining('roles are for servers')])
  })

  it('tells of tables of a newer program before anything is recorded, and so does doctor', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    const before = (await doctor()).of('eventstore')
    try {
      for (const column of ['version', 'meaning']) {
        await client.query(`update ns_control.generations set ${column} = ${column} + 1000`)
        const { code, err } = await look(['run', 'finish', '--no-workspace'])
        expect([code, err]).toEqual([1, expect.stringContaining('written by a newer program')])
        const { of } = await doctor()
        expect(of('postgres')).toMatchObject({ state: 'broken', found: expect.stringContaining('newer program') })
        expect(of('eventstore')).toEqual(before)
        await client.query(`update ns_control.generations set ${column} = ${column} - 1000`)
      }
    } finally {
      await client.end()
    }
  })

  it('makes no auditor of a role that may do more', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      await client.query(`create role plain login; create role grouped in role plain; create role maker createrole`)
      await client.query(`create role helper login in role keepup`)
      await client.query(`create role holder; create schema held authorization holder`)
    } finally {
      await client.end()
    }
    for (const [role, why] of [
      ['keepup', 'is a superuser'],
      ['grouped', 'is in plain'],
      ['maker', 'makes roles'],
      ['holder', 'owns tables'],
    ] as const) {
      const { code, err } = await look(['auditors', role])
      expect([role, code, err]).toEqual([role, 1, expect.stringContaining(why)])
    }
    const helper = { KEEPUP_POSTGRES: server().url.replace('keepup@', 'helper@') }
    expect(await look(['auditors', 'fresh'], helper)).toMatchObject({
      code: 1,
      err: expect.stringContaining('let a superuser do it (create role "fresh" nologin)'),
    })
    expect(await look(['auditors', 'fresh'])).toMatchObject({ out: expect.stringContaining('and nothing else') })
    expect(await look(['auditors', 'plain'])).toMatchObject({ out: expect.not.stringContaining('nothing else') })
  })

  it('counts in doctor what the tables could not read, and releases it when it can be read again', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      const { code, err } = await look(['run', `finish ${'at length '.repeat(10_000)}`, '--no-workspace'])
      expect(code, err.slice(-300)).toBe(0)
      await client.query('create table lost as select * from ns_blobs.blobs; delete from ns_blobs.blobs')
      const accepted = await look(['rebuild', '--accept'])
      expect(accepted.code, accepted.err).toBe(0)
      expect((await doctor()).of('parked')).toMatchObject({
        state: 'warning',
        found: expect.stringMatching(/^1 stream is /),
      })
      await client.query('insert into ns_blobs.blobs select * from lost; drop table lost')
    } finally {
      await client.end()
    }
    expect(await look(['rebuild'])).toMatchObject({ code: 5, out: expect.stringContaining('NOT switched') })
    expect(await look(['release', '--all'])).toMatchObject({ code: 0, out: '1 released, 0 still parked\n' })
    expect((await doctor()).of('parked')).toBeUndefined()
    expect(await look(['rebuild'])).toMatchObject({ code: 0, out: expect.stringContaining('switched to the new') })
  })

  it('a worker and serve say with the time who they are, as the log and the leases know them', async () => {
    const STAMPED = /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:working on|serving) ns.*, as driver (\w+), process \d+ on /m
    for (const args of [['worker'], ['serve', '--port', '0']]) {
      const running = folder.start(args, { env: env() })
      await running.said('as driver')
      expect(running.err()).toMatch(STAMPED)
      running.process.kill('SIGTERM')
      const { code, err } = await running.ended
      expect([code, err.split('\n').filter((line) => line !== '' && !/^\d{4}-.*Z /.test(line))]).toEqual([0, []])
      expect(err).toMatch(/^\S+Z ending\n\S+Z ended\n$/m)
    }
    const { out } = await look(['events', run, '-o', 'jsonl'])
    const claimed = out.split('\n').find((line) => line.includes('driver_claimed')) ?? ''
    expect(JSON.parse(claimed)).toMatchObject({ payload: { driverId: expect.stringMatching(/^\w+-\w+$/) } })
  })

  it('tells a person who answers a run that workers drive that it goes on by itself, and other runs with what to type', async () => {
    const config = loadConfig({ flags: { data: folder.data }, env: env() })
    const services = await openServices(config, 'owner', { autoDrive: false })
    let asked = ''
    try {
      const by = { kind: 'user', id: 'ada' } as const
      const { spec } = (await services.runtime.at(run, null)).state
      asked = services.runtime.newRunId()
      await services.runtime.execute(asked, { kind: 'start', spec, task: 'finish', drive: true }, { by })
    } finally {
      await services.close()
    }
    const own = (await look(['run', 'finish', '--no-workspace', '--no-drive'])).out.trim()
    for (const [id, says, not] of [
      [asked, 'it goes on by itself where a worker runs', 'keepup resume'],
      [own, `keepup resume ${own}`, 'by itself'],
    ] as const) {
      for (const command of [
        ['input', id, 'and be quick'],
        ['runs', 'show', id],
      ]) {
        const { code, err } = await look(command)
        expect([code, err]).toEqual([0, expect.stringContaining(says)])
        expect(err).not.toContain(not)
      }
    }
    expect((await look(['pause', asked])).err).toContain(`keepup resume ${asked}`)
  })

  it('workers need servers', async () => {
    const { code, err } = await inProcess(['--data', join(folder.root, 'embedded'), 'worker'])
    expect([code, err]).toEqual([2, expect.stringContaining('set KEEPUP_EVENTSTORE and KEEPUP_POSTGRES')])
  })

  it('looks after both servers with doctor, each by itself', async () => {
    const well = await doctor()
    expect(well.code).toBe(0)
    expect(well.of('eventstore')).toMatchObject({ state: 'ok', found: expect.stringContaining('namespace ns') })
    expect(well.of('postgres')).toMatchObject({ state: 'ok', found: expect.stringContaining('up to the log') })
    expect(well.of('log')).toMatchObject({ state: 'ok', found: expect.stringMatching(/^[0-9a-z]{16}$/) })

    const alone = await doctor({ KEEPUP_POSTGRES: 'postgres://keepup:quiet@/postgres?host=/nowhere' })
    expect(alone.code).toBe(1)
    expect(alone.of('eventstore')).toMatchObject({ state: 'ok' })
    expect(alone.of('postgres')).toMatchObject({
      state: 'broken',
      found: expect.stringMatching(/^PostgreSQL at \/nowhere:5432, database postgres \(KEEPUP_POSTGRES\): /),
      todo: expect.stringContaining('see that PostgreSQL runs'),
    })
    expect(JSON.stringify(alone.of('postgres'))).not.toContain('quiet')
  })

  it('makes nothing when it only looks', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    const there = async () =>
      (await client.query(`select nspname from pg_namespace where nspname !~ '^pg_' order by 1`)).rows
    try {
      const [schemas, streams] = [await there(), eventstore.store.all.length]
      const typo = { KEEPUP_NAMESPACE: 'typo' }
      const { code, of } = await doctor(typo)
      expect(code).toBe(0)
      expect(of('eventstore')).toMatchObject({
        state: 'ok',
        found: expect.stringContaining('no log yet, no worker yet'),
      })
      expect(of('postgres')).toMatchObject({ state: 'ok', found: expect.stringContaining('no tables yet') })
      expect(of('log')).toMatchObject({ state: 'ok', found: 'none yet; the first start makes it' })
      // A group that was made would show at the second look.
      expect((await doctor(typo)).of('eventstore')).toEqual(of('eventstore'))
      const unused = join(folder.root, 'unused')
      // A list of nothing is a list.
      for (const args of [['runs', 'list'], ['runs', 'show', run], ['verify'], ['approvals'], ['tail', '--no-follow']])
        expect(await look(['--data', unused, ...args], typo)).toMatchObject({
          code: args[1] === 'list' ? 0 : 1,
          err: expect.stringContaining('no log of the namespace "typo" yet; start a run, or see KEEPUP_NAMESPACE'),
        })
      expect(existsSync(unused)).toBe(false)
      expect([await there(), eventstore.store.all.length]).toEqual([schemas, streams])
    } finally {
      await client.end()
    }
  })

  it('tells in doctor how far tables lag behind the log, and what a user may not do', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      await look(['runs', 'list'])
      const tables = `ns_${(await client.query('select n from ns_control.live')).rows[0].n}`
      await client.query(`create role low login; create table before as select * from ${tables}.position`)
      await look(['run', 'finish', '--no-workspace'])
      await look(['runs', 'list'])
      // As after a restore of older tables.
      await client.query(`delete from ${tables}.position; insert into ${tables}.position select * from before`)
    } finally {
      await client.end()
    }
    const { of } = await doctor()
    expect(of('postgres')).toMatchObject({ found: expect.stringMatching(/tables at \d+, \d+ events behind/) })
    const low = await doctor({ KEEPUP_POSTGRES: server().url.replace('keepup@', 'low@') })
    expect(low.of('postgres')).toMatchObject({ state: 'broken', found: expect.stringContaining('permission denied') })
    const fresh = await doctor({ KEEPUP_POSTGRES: server().url.replace('keepup@', 'low@'), KEEPUP_NAMESPACE: 'new' })
    expect(fresh.of('postgres')).toMatchObject({ state: 'warning', todo: expect.stringContaining('grant create') })
  })
})
