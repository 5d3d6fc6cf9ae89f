import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliFolder, inProcess } from '../../api/support/cli.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

// What an operator sees whose settings lead to the wrong servers, or who has dropped or restored a part of them.

describeWithPostgres('the command line on servers whose tables are not the log’s', (server) => {
  const folder = cliFolder()
  const [right, wrong] = [new StandIn(), new StandIn()]
  const look = (args: readonly string[], eventstore = right) =>
    inProcess(['--data', folder.data, ...args], {
      KEEPUP_MODEL: folder.env.KEEPUP_MODEL,
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: server().url,
      KEEPUP_NAMESPACE: 'ns',
    })
  const doctor = async (check: string, eventstore = right) => {
    const { code, out } = await look(['doctor', '-o', 'json'], eventstore)
    const findings = JSON.parse(out) as { check: string; state: string; found: string; todo: string | null }[]
    return { code, ...findings.find((finding) => finding.check === check) }
  }
  const listed = async (eventstore = right) =>
    (await look(['runs', 'list', '-o', 'jsonl'], eventstore)).out.split('\n').length - 1
  async function sql<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      return (await client.query<T>(text)).rows
    } finally {
      await client.end()
    }
  }
  const there = async () =>
    (
      await sql<{ name: string }>(`select nspname as name from pg_namespace where nspname ~ '^ns(_\\d|_control|$)'`)
    ).map(({ name }) => name)

  beforeAll(async () => {
    await Promise.all([right.start(), wrong.start()])
    for (let i = 0; i < 2; i++) expect(await look(['run', 'finish', '--no-workspace'])).toMatchObject({ code: 0 })
    // What a command that ends at once leaves behind, the next one folds.
    expect(await listed()).toBe(2)
  })
  afterAll(async () => {
    folder.clean()
    await Promise.all([right.stop(), wrong.stop()])
  })

  it('the wrong event store: doctor and every command say so, the tables stay as they are, until they are taken over', async () => {
    const before = await sql('select * from ns.position')
    const why = /the tables are of the log \w+, and the event store holds (none yet|the log \w+)/
    const told = { code: 1, state: 'broken', found: expect.stringMatching(why) }
    expect(await doctor('postgres', wrong)).toMatchObject(told)
    for (const args of [['runs', 'list'], ['run', 'finish', '--no-workspace'], ['serve'], ['worker'], ['rebuild']]) {
      const { code, err } = await look(args, wrong)
      expect([args, code, err]).toEqual([args, 6, expect.stringMatching(why)])
      expect(err).toMatch(/KEEPUP_EVENTSTORE.*keepup rebuild --take-over/)
    }
    expect(wrong.store.all.filter(({ stream }) => stream.startsWith('ns.'))).toEqual([])
    expect(await doctor('postgres', wrong)).toMatchObject({ ...told, todo: expect.stringContaining('--take-over') })
    expect([await sql('select * from ns.position'), await listed()]).toEqual([before, 2])
    expect(await look(['rebuild', '--take-over'], wrong)).toMatchObject({ code: 0 })
    expect(await listed(wrong)).toBe(0)
    expect(await look(['rebuild', '--take-over'])).toMatchObject({ code: 0 })
    expect([await listed(), await doctor('postgres')]).toEqual([2, expect.objectContaining({ state: 'ok' })])
  })

  it.each([
    ['the views', () => 'drop schema ns cascade', /schema ns has lost/],
    ['tables and views', (n: number) => `drop schema ns cascade; drop schema ns_${n} cascade`, /position is gone, and/],
    ['the tables', (n: number) => `drop schema ns_${n} cascade`, /position is gone, and/],
    ['all but blobs', (n: number) => `drop schema ns_control cascade; drop schema ns_${n} cascade`, null],
    [
      'a column',
      (n: number) => `alter table ns_${n}.runs drop column created_by cascade`,
      /lost its column created_by/,
    ],
  ])('%s dropped by hand: doctor says it, a list or a rebuild brings them back', async (_, drop, told) => {
    for (const mend of [() => listed(), () => look(['rebuild']).then(({ code }) => code + 2)]) {
      const { n } = (await sql<{ n: string }>('select n from ns_control.live'))[0]!
      await sql(drop(Number(n)))
      if (told)
        expect(await doctor('tables')).toMatchObject({ code: 0, state: 'warning', found: expect.stringMatching(told) })
      else expect(await doctor('postgres')).toMatchObject({ found: expect.stringContaining('no tables yet') })
      expect(await mend()).toBe(2)
      expect([await listed(), (await sql<{ n: number }>('select cast(count(*) as int) as n from ns.runs'))[0]]).toEqual(
        [2, { n: 2 }],
      )
      const live = (await sql<{ n: string }>('select n from ns_control.live'))[0]!.n
      expect((await there()).toSorted()).toEqual(['ns', 'ns_control', `ns_${live}`].toSorted())
    }
  })

  it('a restored log under newer tables is told as what it is', async () => {
    const { n } = (await sql<{ n: string }>('select n from ns_control.live'))[0]!
    await sql(`update ns_${n}.position set hash = repeat('a', 64)`)
    expect(await doctor('tables')).toMatchObject({
      code: 1,
      state: 'warning',
      found: expect.stringMatching(/newer than the log.*restored from a backup/),
      todo: expect.stringContaining('look with "keepup repair"'),
    })
    // Reading leaves the witness where it is.
    expect([await listed(), (await doctor('tables')).state]).toEqual([2, 'warning'])
  })
})
